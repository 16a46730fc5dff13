"""The accesses of a block's lanes: the place behind which those of all are, and how far apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

from workbench.codegen.cuda.threads.local_names import made_in
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Loop,
    Serves,
    Store,
    Total,
    Update,
    Where,
    loads,
    walk,
)
from workbench.polyhedral.expression import Expression, variable

Range: TypeAlias = tuple[Expression, Expression]
Memory: TypeAlias = Mapping[str, str]
"""The memory of each buffer that is not in shared memory already."""


@dataclass(frozen=True)
class Access:
    """An access to element `offset` of those of a lane, of which there are `stride` each, behind
    `base`; in text order. `always`: each lane of a turn comes to it. `alone`: its loop of lanes has
    nothing for more than one thread of a lane.
    """

    base: Expression
    stride: int
    offset: int
    lanes: Range
    order: int
    stores: bool
    always: bool
    alone: bool
    statement: str
    dtype: str


def accesses_of(body: Sequence[KernelRecord]) -> dict[str, list[Access | None]]:
    """Return the accesses to each buffer in a body, None for one that is of no lane of a tile."""
    found: dict[str, list[Access | None]] = {}
    for array, access in _Accesses(body).found():
        found.setdefault(array, []).append(access)
    return found


def changed(
    body: Sequence[KernelRecord],
    change: Callable[[KernelRecord, Loop], Iterable[KernelRecord]],
    lanes: Loop | None = None,
) -> tuple[KernelRecord, ...]:
    """Return a body in which the records of lanes are others, as `change` says of one of theirs."""
    done: list[KernelRecord] = []
    for record in body:
        if isinstance(record, (Loop, Where)):
            within = record if isinstance(record, Loop) and record.lanes else lanes
            done.append(replace(record, body=changed(record.body, change, within)))
        elif lanes is None:
            done.append(record)
        else:
            done += change(record, lanes)
    return tuple(done)


def without_lane(at: Expression, lanes: Loop) -> tuple[Expression, int, int]:
    """Return the base, the stride and the offset of a place that lanes touch."""
    stride = at.coefficient(lanes.variable)
    rest = at - variable(lanes.variable) * stride
    offset = rest.constant % stride if stride > 0 else 0
    return rest - offset, stride, offset


def first_turn(loop: Loop) -> Expression:
    """Return the variable of a loop in its first turn."""
    return loop.upper - 1 if loop.backwards else loop.lower


def last_turn(loop: Loop) -> Expression:
    """Return the variable of a loop in its last turn."""
    return loop.lower if loop.backwards else loop.upper - 1


@dataclass
class _Accesses:
    """A walk over the accesses of a body."""

    body: Sequence[KernelRecord]
    statement: str = ""

    def __post_init__(self) -> None:
        self.order = count()
        self.bound = made_in(self.body)

    def found(self) -> Iterator[tuple[str, Access | None]]:
        """Yield each buffer with an access to it, None where that is of no lane of a tile."""
        yield from self._body(self.body, None, True)

    def _body(
        self, body: Sequence[KernelRecord], lanes: Loop | None, always: bool
    ) -> Iterator[tuple[str, Access | None]]:
        for record in body:
            if isinstance(record, Serves):
                self.statement = record.statement
            for load in loads(record):
                yield load.buffer, self._access(load.at, load.dtype, lanes, False, always)
            if isinstance(record, Store):
                plain = always and not record.operation
                dtype = record.value.dtype
                yield record.buffer, self._access(record.at, dtype, lanes, True, plain)
            elif isinstance(record, Invoke):
                for buffer, _ in (record.out, *record.operands):
                    yield buffer, None
            elif isinstance(record, Loop):
                inside = record if record.lanes else lanes
                direct = always and lanes is None and record.lanes
                yield from self._body(record.body, inside, direct)
            elif isinstance(record, Where):
                yield from self._body(record.body, lanes, False)

    def _access(
        self, at: Expression, dtype: str, lanes: Loop | None, stores: bool, always: bool
    ) -> Access | None:
        if lanes is None:
            return None
        base, stride, offset = without_lane(at, lanes)
        if stride <= 0 or base.variables & self.bound:
            return None
        return Access(
            base, stride, offset, lanes.range, next(self.order), stores, always,
            not any(isinstance(r, (Loop, Update, Total)) for r in walk(lanes.body)),
            self.statement, dtype,
        )  # fmt: skip
