"""What each array operation does, over sizes: what it reads, writes and computes, and which of a
machine's constants its cost goes by. One rule per function that a loop program applies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from workbench.lowering.loops.records import Apply, Symbolic
from workbench.planning.cost.strides import Iteration, Operand, iteration, strides_of
from workbench.polyhedral.expression import expression, minimum
from workbench.program.identity import Same
from workbench.program.operations.table import OPERATIONS

Variables = frozenset[str]


@dataclass(frozen=True)
class Matrices:
    """A product of matrices (batch, rows, summed) × (batch, summed, columns)."""

    batch: Symbolic
    rows: Symbolic
    summed: Symbolic
    columns: Symbolic


@dataclass(frozen=True)
class ArrayCall:
    """One call of an array operation, in a statement ("" in front of all).

    `kind` is the row of the machine's constants that it costs by. `counted` are the factors of its
    number of arithmetic operations. Its iteration is over the elements it works through.
    """

    statement: str
    function: str
    kind: str
    reads: tuple[Operand, ...]
    writes: tuple[Operand, ...]
    counted: Symbolic
    per_point: int
    iteration: Iteration
    matrices: Matrices | None = None

    @cached_property
    def variables(self) -> Variables:
        """The loop variables that what it does depends on."""
        m = self.matrices
        dims = [*self.counted, *self.iteration.dims]
        dims += [n for s in (*self.reads, *self.writes) for n in s.dims]
        if m is not None:
            dims += [*m.batch, *m.rows, *m.summed, *m.columns]
        return Variables().union(*(n.variables for n in dims))


def call_of(record: Apply, statement: str, seen: Mapping[str, Operand]) -> ArrayCall:
    """What a record does; `seen` are the arrays by name."""
    operands = Same(*(seen[name] for name in record.inputs), seen.get(record.out))
    return _call(record.function, record.options, statement, operands)


@lru_cache(maxsize=16384)
def _call(
    function: str, options: tuple[tuple[str, Any], ...], statement: str, operands: Same
) -> ArrayCall:
    *reads, out = operands.objects
    return RULES[function](Apply(function, (), "", options), statement, tuple(reads), out)


# -- a rule per function ---------------------------------------------------------------------------

Rule = Callable[[Apply, str, tuple[Operand, ...], Operand | None], ArrayCall]

CHEAP = "elementwise"
OWN_RATE = frozenset(
    {
        "divide",
        "sqrt",
        "exp",
        "log",
        "log1p",
        "tanh",
        "sin",
        "cos",
        "power",
        "floor_divide",
        "remainder",
        "floor",
    }
)
"""Elementwise functions that cost more than moving their operands; each has its own constant."""


def _elementwise(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    kind = record.function if record.function in OWN_RATE else CHEAP
    around = iteration((*reads, out), out.dims)
    return ArrayCall(statement, record.function, kind, reads, (out,), out.dims, 1, around)


def _copy(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    kind = "masked copy" if len(reads) == 2 else "copy"
    if kind == "copy" and reads[0].buffer.dtype != out.buffer.dtype:
        kind = "cast"
    around = iteration((*reads, out), out.dims)
    return ArrayCall(statement, record.function, kind, reads, (out,), out.dims, 0, around)


def _fill(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    around = iteration((out,), out.dims)
    return ArrayCall(statement, record.function, "fill", (), (out,), out.dims, 0, around)


def _reduce(kind: str) -> Rule:
    def rule(
        record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
    ) -> ArrayCall:
        assert out is not None
        (source,) = reads
        axis = record.option["axis"]
        gone = {axis} if isinstance(axis, int) else set(axis)
        kept = iter(out.strides)
        strides = tuple(None if k in gone else next(kept) for k in range(len(source.dims)))
        target = Operand(out.buffer, source.dims, strides, out.moving)
        around = iteration((source, target), source.dims)
        return ArrayCall(statement, record.function, kind, reads, (out,), source.dims, 1, around)

    return rule


def _accumulate(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    around = iteration((*reads, out), out.dims)
    return ArrayCall(statement, record.function, "accumulate", reads, (out,), out.dims, 1, around)


def _matrix_product(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    left, right = reads
    summed = (left.dims[-1],)
    columns = (right.dims[-1],) if len(right.dims) > 1 else ()
    rows = (left.dims[-2],) if len(left.dims) > 1 else ()
    batch = out.dims[: len(out.dims) - len(rows) - len(columns)]
    m = Matrices(batch, rows, summed, columns)
    counted = (*batch, *rows, *summed, *columns)
    around = Iteration(out.dims, out.dims)
    return ArrayCall(
        statement, record.function, record.function, reads, (out,), counted, 2, around, m
    )


def _take(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    table, index = reads
    row = Operand(table.buffer, out.dims, strides_of(out.dims), table.moving)
    inner = out.dims[len(index.dims) :]
    around = Iteration(out.dims, inner)
    return ArrayCall(statement, record.function, "take", (row, index), (out,), out.dims, 0, around)


def _random(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    """Words are drawn four at a time for each instance, a permutation's one instance at a time."""
    assert out is not None
    kind = str(record.option["kind"])
    lead = max((len(s.dims) for s in reads), default=0)
    inner = out.dims[lead:]
    if kind != "permutation":
        words = expression(1)
        for n in inner:
            words = words * n
        inner = ((words + 3) // 4,)
    around = Iteration((*out.dims[:lead], *inner), inner)
    return ArrayCall(statement, record.function, kind, reads, (out,), out.dims, 1, around)


def _segment_add(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    around = Iteration(reads[0].dims, reads[0].dims)
    return ArrayCall(
        statement, record.function, "segment_add", reads, (out,), reads[0].dims, 1, around
    )


def _sum_inside(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    """What is always done: look whether all sums are finite."""
    assert out is not None
    around = iteration((out,), out.dims)
    return ArrayCall(statement, record.function, "sum", (out,), (), out.dims, 1, around)


def _checked(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    dims = reads[0].dims if reads else ()
    around = iteration(reads, dims)
    return ArrayCall(statement, record.function, record.function, reads, (), dims, 0, around)


def _checked_range(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    around = iteration(reads, reads[0].dims)
    return ArrayCall(statement, record.function, "check_index", reads, (), reads[0].dims, 0, around)


def _orthogonalize(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    smaller = minimum(out.dims[-1], out.dims[-2])
    counted = (*out.dims, smaller)
    around = Iteration(counted, counted)
    return ArrayCall(statement, record.function, "orthogonalize", reads, (out,), counted, 4, around)


def _given(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    around = Iteration(out.dims, out.dims)
    return ArrayCall(
        statement, record.function, "given", (out, *reads), (out,), out.dims, 0, around
    )


def _external(
    record: Apply, statement: str, reads: tuple[Operand, ...], out: Operand | None
) -> ArrayCall:
    assert out is not None
    around = Iteration(out.dims, out.dims)
    return ArrayCall(statement, record.function, "external", reads, (out,), out.dims, 0, around)


RULES: Mapping[str, Rule] = {
    **{row.ufunc: _elementwise for row in OPERATIONS.values() if row.ufunc},
    "copyto": _copy,
    "to_device": _copy,
    "to_host": _copy,
    "fill": _fill,
    "add.reduce": _reduce("sum"),
    "maximum.reduce": _reduce("extremum"),
    "minimum.reduce": _reduce("extremum"),
    "logical_or.reduce": _reduce("extremum"),
    "add.accumulate": _accumulate,
    "argmax": _reduce("argmax"),
    "argmin": _reduce("argmax"),
    "dot": _matrix_product,
    "matmul": _matrix_product,
    "take": _take,
    "random": _random,
    "segment_add": _segment_add,
    "sum_inside": _sum_inside,
    "check_index": _checked,
    "check_within": _checked_range,
    "check_possible": _checked_range,
    "check_length": _checked,
    "check_all": _checked,
    "orthogonalize": _orthogonalize,
    "given": _given,
    "external": _external,
}
