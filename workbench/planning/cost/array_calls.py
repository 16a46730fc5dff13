"""Calls of array functions over sizes: what each reads, writes and computes, and which of a
machine's constants give its cost. The function's row names a way of working through arrays; here is
one rule for each way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from workbench.identity import Same
from workbench.lowering.functions import FUNCTIONS, Walk
from workbench.lowering.loops.records import Apply, Symbolic
from workbench.planning.cost.strides import Iteration, Operand, iteration, strides_of
from workbench.polyhedral.expression import expression, minimum
from workbench.program.operations.matrices import OF_MATRICES

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

    `kind` is the row of the machine's constants for its cost. `counted` are the factors of its
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
        """The loop variables that its work depends on."""
        m = self.matrices
        dims = [*self.counted, *self.iteration.dims]
        dims += [n for s in (*self.reads, *self.writes) for n in s.dims]
        if m is not None:
            dims += [*m.batch, *m.rows, *m.summed, *m.columns]
        return Variables().union(*(n.variables for n in dims))


def call_of(record: Apply, statement: str, seen: Mapping[str, Operand]) -> ArrayCall:
    """Return the call that a record makes; `seen` are the arrays by name."""
    operands = Same(*(seen[name] for name in record.inputs), seen.get(record.out))
    return _call(record.function, record.options, statement, operands)


@lru_cache(maxsize=16384)
def _call(
    function: str, options: tuple[tuple[str, Any], ...], statement: str, operands: Same
) -> ArrayCall:
    *inputs, out = operands.objects
    cost, option = FUNCTIONS[function].of(len(inputs)).cost, dict(options)
    reads = {
        "operands": tuple(inputs),
        "result": (out,),
        "result and operands": (out, *inputs),
    }[cost.reads]
    kind = cost.kind.format_map(option)
    if cost.converting and inputs[0].buffer.dtype != out.buffer.dtype:
        kind = cost.converting
    work = WALKS[cost.walk](option, reads, out)
    return ArrayCall(
        statement,
        function,
        kind,
        reads if work.reads is None else work.reads,
        work.writes if work.writes is not None else (out,) if cost.writes else (),
        work.counted,
        cost.operations,
        work.iteration,
        work.matrices,
    )


# -- a rule per way of working through arrays ------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """The work of a call; `counted` are the factors of the number of places."""

    counted: Symbolic
    iteration: Iteration
    matrices: Matrices | None = None
    reads: tuple[Operand, ...] | None = None
    """The operands or parts that are read; None means all of each operand."""
    writes: tuple[Operand, ...] | None = None
    """The part of the result that is written; None means all of it."""


Options = Mapping[str, Any]
Operands = tuple[Operand, ...]


def _elements(option: Options, reads: Operands, out: Operand) -> Work:
    return Work(out.dims, iteration((*reads, out), out.dims))


def _looked(option: Options, reads: Operands, out: Operand) -> Work:
    dims = reads[0].dims if reads else ()
    return Work(dims, iteration(reads, dims))


def _reduction(option: Options, reads: Operands, out: Operand) -> Work:
    (source,) = reads
    axis = option["axis"]
    gone = {axis} if isinstance(axis, int) else set(axis)
    kept = iter(out.strides)
    strides = tuple(None if k in gone else next(kept) for k in range(len(source.dims)))
    target = Operand(out.buffer, source.dims, strides, out.moving)
    return Work(source.dims, iteration((source, target), source.dims))


def _product(option: Options, reads: Operands, out: Operand) -> Work:
    left, right = reads
    summed = (left.dims[-1],)
    columns = (right.dims[-1],) if len(right.dims) > 1 else ()
    rows = (left.dims[-2],) if len(left.dims) > 1 else ()
    batch = out.dims[: len(out.dims) - len(rows) - len(columns)]
    matrices = Matrices(batch, rows, summed, columns)
    return Work((*batch, *rows, *summed, *columns), Iteration(out.dims, out.dims), matrices)


def _rows(option: Options, reads: Operands, out: Operand) -> Work:
    table, index = reads
    row = Operand(table.buffer, out.dims, strides_of(out.dims), table.moving)
    inner = out.dims[len(index.dims) :]
    return Work(out.dims, Iteration(out.dims, inner), reads=(row, index))


def _entries(option: Options, reads: Operands, out: Operand) -> Work:
    """Return the work of changing a table's entries, which lie anywhere."""
    *before, entries, values = reads
    dims = (*entries.dims, *out.dims[1:])
    changed = Operand(out.buffer, dims, strides_of(dims), out.moving)
    read = (*(changed for _ in before), entries, values)
    return Work(dims, Iteration(dims, out.dims[1:]), reads=read, writes=(changed,))


def _words(option: Options, reads: Operands, out: Operand) -> Work:
    """Return the work of draws: four words at a time for each instance, a permutation's one
    instance at a time.
    """
    lead = max((len(operand.dims) for operand in reads), default=0)
    inner = out.dims[lead:]
    if option["kind"] != "permutation":
        words = expression(1)
        for n in inner:
            words = words * n
        inner = ((words + 3) // 4,)
    return Work(out.dims, Iteration((*out.dims[:lead], *inner), inner))


def _points(option: Options, reads: Operands, out: Operand) -> Work:
    return Work(out.dims, Iteration(out.dims, out.dims))


def _segments(option: Options, reads: Operands, out: Operand) -> Work:
    dims = reads[0].dims
    return Work(dims, Iteration(dims, dims))


def _factors(option: Options, reads: Operands, out: Operand) -> Work:
    counted = (*out.dims, minimum(out.dims[-1], out.dims[-2]))
    return Work(counted, Iteration(counted, counted))


def _matrices(operation: str) -> Callable[[Options, Operands, Operand], Work]:
    """Return the rule for so many operations for each matrix of a batch."""

    def rule(option: Options, reads: Operands, out: Operand) -> Work:
        *batch, rows, columns = out.dims
        each = expression(OF_MATRICES[operation](rows.constant, columns.constant))
        return Work((*batch, each), Iteration((*batch, each), (each,)))

    return rule


WALKS: Mapping[Walk, Callable[[Options, Operands, Operand], Work]] = {
    "elements": _elements,
    "looked": _looked,
    "reduction": _reduction,
    "product": _product,
    "rows": _rows,
    "entries": _entries,
    "words": _words,
    "points": _points,
    "segments": _segments,
    "factors": _factors,
    "equations": _matrices("solve"),
    "triangle": _matrices("cholesky"),
}
