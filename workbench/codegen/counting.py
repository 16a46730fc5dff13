"""What the records of a kernel take, counted."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.codegen.records import LANES, KernelRecord, Loop, Scratch, Where
from workbench.polyhedral.expression import Expression, expression, maximum

BYTES = {"int32": 4, "int64": 8, "double": 8}
ROUNDING = 63
"""The most bytes by which a buffer grows to end with a cache line."""


def scratch_bytes(body: Sequence[KernelRecord], real: int, lanes: bool = False) -> Expression:
    """Return an upper bound of the scratch memory in use at once. A float has `real` bytes."""
    here = inside = expression(0)
    for record in body:
        if isinstance(record, Scratch):
            one = 1 if record.dtype == "bool" and not lanes else BYTES.get(record.dtype, real)
            if record.dtype == "bool" and lanes:
                one = 4
            here = here + record.elements * (one * (LANES if lanes else 1)) + ROUNDING
        elif isinstance(record, (Loop, Where)):
            by_lanes = lanes or (isinstance(record, Loop) and record.lanes)
            inside = maximum(inside, scratch_bytes(record.body, real, by_lanes))
    return here + inside
