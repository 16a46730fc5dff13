"""Slices of arrays that a block writes in a turn of a loop and reads in the next one, or behind in
the same turn: it keeps them in shared memory, and they do not come back from other memory.

The slice of a turn has some elements for each lane. Where it is more than one, lanes side by side
would write places that are not: all threads write the slice where it belongs, at the end of a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

from workbench.codegen.cuda.threads.independent_turns import has_turns, width
from workbench.codegen.cuda.threads.thread_code import made_in
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Scratch,
    Serves,
    Store,
    Where,
    loads,
)
from workbench.codegen.record_changes import with_loads
from workbench.polyhedral.expression import Expression, expression, variable

Range: TypeAlias = tuple[Expression, Expression]
Name: TypeAlias = Callable[[str], str]
Memory: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Access:
    """An access to element `offset` of those of a lane, of which there are `stride` each, behind
    `base`; in text order. `always`: each lane of a turn comes to it.
    """

    base: Expression
    stride: int
    offset: int
    lanes: Range
    order: int
    stores: bool
    always: bool
    statement: str
    dtype: str


@dataclass(frozen=True)
class Slices:
    """The slices of an array in a loop, by their first places: the one that a turn writes, and the
    one that the turn before wrote: the same, if it does not depend on the turn. `early`: all loads
    of the last one come before any store.
    """

    array: str
    dtype: str
    statement: str
    stride: int
    lanes: Range
    most_lanes: int
    written: Expression
    before: Expression
    loads_before: bool
    early: bool

    @property
    def in_place(self) -> bool:
        """Tell whether all turns have one slice."""
        return self.written == self.before

    @property
    def direct(self) -> bool:
        """Tell whether lanes store where the slice belongs: in neighbouring places."""
        return self.stride == 1 and self.early

    def copied(self, name: Name, *to: tuple[str, Expression], source: str, at: Expression) -> Loop:
        """Return the loop that copies a slice from a buffer to others, each from a place on: by the
        lanes, where each has one element, else by all threads.
        """
        first, behind = self.lanes
        k, local = name(f"element of {self.array}"), name(f"slice of {self.array}")
        element, loop = variable(k), (expression(0), (behind - first) * self.stride)
        if self.direct:
            element, loop = element - first, self.lanes
        stores = (Store(b, place + element, Local(local, self.dtype)) for b, place in to)
        loaded = Let(local, Load(source, at + element, self.dtype))
        return Loop(k, *loop, (loaded, *stores), lanes=True)


def with_slices(
    records: Sequence[KernelRecord], memory: Memory, name: Name
) -> tuple[KernelRecord, ...]:
    """Return the records of a block with what loops hand on in shared memory, if they have a turn
    at all sizes. `memory` is that of each buffer, but for those in shared memory already.
    """
    done: list[KernelRecord] = []
    for record in records:
        if isinstance(record, Loop) and not record.lanes and has_turns(record):
            done += _with_slices(record, slices_of(record, memory), name)
        else:
            done.append(record)
    return tuple(done)


def slices_of(loop: Loop, memory: Memory) -> list[Slices]:
    """Return what the turns of a loop hand on."""
    found: dict[str, list[Access | None]] = {}
    for array, access in _Accesses(loop).found():
        if array in memory:
            found.setdefault(array, []).append(access)
    held = [memory[array] for array in found]
    slices = []
    for array, accesses in found.items():
        known = [access for access in accesses if access is not None]
        if len(known) == len(accesses) and held.count(memory[array]) == 1:
            one = _slices(loop, array, known)
            if one is not None:
                slices.append(one)
    return slices


def _slices(loop: Loop, array: str, accesses: Sequence[Access]) -> Slices | None:
    """Return the slices of an array, None where accesses are others than to those of two turns."""
    stores = [a for a in accesses if a.stores]
    if not stores or len({(a.stride, a.lanes) for a in accesses}) > 1:
        return None
    first, written = stores[0], stores[0].base
    turn = variable(loop.variable)
    before = written.substitute({loop.variable: turn + 1 if loop.backwards else turn - 1})
    rest = [a for a in accesses if not a.stores]
    old = [a for a in rest if a.base == before]
    new = [a for a in rest if a.base == written and a not in old]
    if any(a.base != written for a in stores) or len(old) + len(new) < len(rest) or not rest:
        return None
    in_place = written == before
    if in_place and rest[0].order > first.order:
        return None
    if old and not any(a.always for a in old):
        return None  # the first turn may have none before it
    last = max(a.order for a in stores)
    if not in_place:
        offsets = {a.offset for a in stores if a.always}
        if len(offsets) < first.stride or any(a.order < last for a in new):
            return None
    lanes = Loop("", *first.lanes, ())
    most_lanes = width(lanes)
    if most_lanes is None:
        return None
    early = all(a.order < first.order for a in old)
    return Slices(
        array, first.dtype, first.statement, first.stride, first.lanes, most_lanes, written,
        before, bool(old), early,
    )  # fmt: skip


@dataclass
class _Accesses:
    """A walk over the accesses of a loop's body."""

    loop: Loop
    statement: str = ""

    def __post_init__(self) -> None:
        self.order = count()
        self.bound = made_in(self.loop.body)

    def found(self) -> Iterator[tuple[str, Access | None]]:
        """Yield each buffer with an access to it, None where that is of no lane of a tile."""
        yield from self._body(self.loop.body, None, True)

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
        stride = at.coefficient(lanes.variable)
        rest = at - variable(lanes.variable) * stride
        if stride <= 0 or rest.variables & self.bound:
            return None
        offset = rest.constant % stride
        return Access(
            rest - offset, stride, offset, lanes.range, next(self.order), stores, always,
            self.statement, dtype,
        )  # fmt: skip


def _with_slices(loop: Loop, slices: Sequence[Slices], name: Name) -> Iterator[KernelRecord]:
    """Yield a loop whose turns hand on slices in shared memory, with what is before and behind."""
    behind: list[KernelRecord] = []
    for one in slices:
        first, _ = one.lanes
        skipped, memory = first * one.stride, expression(one.most_lanes * one.stride)
        old = name(f"{one.array} of the last turn") if one.loads_before else ""
        new = old if old and (one.direct or one.in_place) else name(f"{one.array} of the turn")
        for buffer in dict.fromkeys(filter(None, (old, new))):
            yield Scratch(buffer, one.dtype, memory)
        zero = expression(0)
        if old:
            begun = loop.upper - 1 if loop.backwards else loop.lower
            place = one.before.substitute({loop.variable: begun}) + skipped
            copy = one.copied(name, (old, zero), source=one.array, at=place)
            yield Serves(one.statement)
            yield copy
        body = _moved(loop, one, old, new, name)
        place = one.written + skipped
        if one.in_place:
            copy = one.copied(name, (one.array, place), source=new, at=zero)
            behind += [Serves(one.statement), copy]
        elif not one.direct:
            to = [(one.array, place), *([(old, zero)] if old else [])]
            copy = one.copied(name, *to, source=new, at=zero)
            body = (*body, Serves(one.statement), copy)
        loop = replace(loop, body=body)
    yield loop
    yield from behind


def _moved(loop: Loop, one: Slices, old: str, new: str, name: Name) -> tuple[KernelRecord, ...]:
    """Return the body of a loop that touches slices instead of an array."""

    def inside(body: Sequence[KernelRecord], lanes: Loop | None) -> Iterator[KernelRecord]:
        for record in body:
            if isinstance(record, (Loop, Where)):
                within = record if isinstance(record, Loop) and record.lanes else lanes
                yield replace(record, body=tuple(inside(record.body, within)))
            elif lanes is None:
                yield record
            else:
                yield from _record(record, lanes)

    def place(at: Expression, lanes: Loop) -> tuple[str, Expression]:
        own = variable(lanes.variable) * one.stride
        rest = at - own
        base = rest - rest.constant % one.stride
        buffer = old if base == one.before else new
        return buffer, own - one.lanes[0] * one.stride + rest.constant % one.stride

    def _record(record: KernelRecord, lanes: Loop) -> Iterator[KernelRecord]:
        def moved(load: Load) -> Load:
            if load.buffer != one.array:
                return load
            return Load(*place(load.at, lanes), load.dtype)

        record = with_loads(record, moved)
        if not isinstance(record, Store) or record.buffer != one.array:
            yield record
            return
        _, at = place(record.at, lanes)
        if one.in_place or not one.direct:
            yield replace(record, buffer=new, at=at)
            return
        local = Local(name(f"new {one.array}"), record.value.dtype)
        yield Let(local.name, record.value)
        yield replace(record, value=local)
        yield Store(new, at, local)

    return tuple(inside(loop.body, None))
