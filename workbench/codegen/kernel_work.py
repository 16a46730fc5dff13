"""Counts of a kernel's records: scratch memory, operations, bytes that move."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.codegen.kernel_records import (
    LANES,
    PRODUCTS,
    Compute,
    Invoke,
    KernelRecord,
    Load,
    Loop,
    Scratch,
    Store,
    Update,
    Value,
    Where,
    values,
)
from workbench.lowering.loops.records import ITEM_BYTES
from workbench.lowering.values.intervals import greatest
from workbench.polyhedral.expression import Expression, expression, maximum

BYTES = ITEM_BYTES | {"double": 8}
FREE = frozenset(("copy", "cast", "where"))
"""Operations that are no arithmetic: they move numbers, or choose between them."""
ROUNDING = 63
"""The most bytes by which a buffer grows to end with a cache line."""


def scratch_bytes(body: Sequence[KernelRecord], real: int, lanes: bool = False) -> Expression:
    """Return an upper bound of the scratch memory in use at once. A float has `real` bytes."""
    here = inside = expression(0)
    for record in body:
        if isinstance(record, Scratch):
            one = BYTES.get(record.dtype, real)
            if record.dtype == "bool" and lanes:
                one = 4
            here = here + record.elements * (one * (LANES if lanes else 1)) + ROUNDING
        elif isinstance(record, (Loop, Where)):
            by_lanes = lanes or (isinstance(record, Loop) and record.lanes)
            inside = maximum(inside, scratch_bytes(record.body, real, by_lanes))
    return here + inside


@dataclass(frozen=True)
class Work:
    """The work of one launch, over sizes: operations of arithmetic, and bytes loaded and stored.

    A fused multiply-add is two operations; an elementwise function is one. An element counts each
    time that it is loaded or stored. Loops whose length differs from turn to turn count at their
    longest, and a body under a condition counts as if it held.
    """

    flops: Expression = field(default_factory=lambda: expression(0))
    bytes: Expression = field(default_factory=lambda: expression(0))


def work(
    body: Sequence[KernelRecord],
    outside: Collection[str],
    real: int,
    ranges: Mapping[str, tuple[Expression, Expression]],
) -> Work:
    """Count the work of records. Bytes are those of the buffers `outside`; `ranges` are those of
    the variables of loops around.
    """
    return _work(body, outside, real, dict(ranges))


def _work(
    body: Sequence[KernelRecord],
    outside: Collection[str],
    real: int,
    ranges: dict[str, tuple[Expression, Expression]],
) -> Work:
    flops = moved = expression(0)
    for record in body:
        if isinstance(record, (Loop, Where)):
            times, inside = expression(1), ranges
            if isinstance(record, Loop):
                inside = {**ranges, record.variable: (record.lower, record.upper - 1)}
                times = greatest(record.upper - record.lower, ranges)
            one = _work(record.body, outside, real, inside)
            flops, moved = flops + one.flops * times, moved + one.bytes * times
            continue
        if isinstance(record, Invoke) and record.function in PRODUCTS:
            one = _product(record, outside, real, ranges)
            flops, moved = flops + one.flops, moved + one.bytes
        for value in values(record):
            flops = flops + _operations(value)
            moved = moved + _loaded(value, outside, real)
        if isinstance(record, Store):
            twice = 2 if record.operation else 1
            if record.buffer in outside:
                moved = moved + BYTES.get(record.value.dtype, real) * twice
            flops = flops + twice - 1
        elif isinstance(record, Update) and record.operation:
            flops = flops + 1
    return Work(flops, moved)


def _product(
    record: Invoke,
    outside: Collection[str],
    real: int,
    ranges: Mapping[str, tuple[Expression, Expression]],
) -> Work:
    """Count a product of matrices. Each element counts once: a block's stay in the cache."""
    rows, columns, times = (
        greatest(expression(record.option[k]), ranges) for k in ("rows", "columns", "times")
    )
    (left, _), (right, _) = record.operands
    elements = expression(0)
    for buffer, count in ((left, rows * times), (right, times * columns)):
        elements = elements + (count if buffer in outside else 0)
    if record.out[0] in outside:
        elements = elements + rows * columns * (2 if record.option["into"] else 1)
    return Work(rows * columns * times * 2, elements * real)


def _operations(value: Value) -> int:
    if not isinstance(value, Compute):
        return 0
    own = 0 if value.operation in FREE else 2 if value.operation == "fma" else 1
    return own + sum(map(_operations, value.arguments))


def _loaded(value: Value, outside: Collection[str], real: int) -> int:
    if isinstance(value, Load):
        return BYTES.get(value.dtype, real) if value.buffer in outside else 0
    if isinstance(value, Compute):
        return sum(_loaded(argument, outside, real) for argument in value.arguments)
    return 0
