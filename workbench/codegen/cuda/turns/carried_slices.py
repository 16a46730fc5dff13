"""Slices of arrays that a block writes in a turn of a loop and reads in the next one, or behind in
the same turn: it keeps them in shared memory, and they do not come back from other memory.

The slice of a turn has some elements for each lane. Where it is more than one, lanes side by side
would write places that are not: all threads write the slice where it belongs, at the end of a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.codegen.cuda.threads.independent_turns import has_range, width
from workbench.codegen.cuda.turns.accesses import (
    Access,
    Memory,
    Range,
    accesses_of,
    changed,
    first_turn,
    last_turn,
    without_lane,
)
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Scratch,
    Serves,
    Store,
    leaves,
    walk,
    writes,
)
from workbench.codegen.record_changes import with_loads
from workbench.polyhedral.expression import Expression, expression, variable

Name: TypeAlias = Callable[[str], str]


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

    def place(self, at: Expression, lanes: Loop) -> Expression:
        """Return the place in a slice of an element that lanes touch."""
        _, _, offset = without_lane(at, lanes)
        return (variable(lanes.variable) - self.lanes[0]) * self.stride + offset

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
    """Return the records of a block with what loops hand on in shared memory, if their range has a
    turn at all sizes. Behind the loop they read there what its last turn wrote, until that is
    written anew: not behind one of which data tell where it begins or is left.
    """
    done: list[KernelRecord] = []
    lasts: list[_Last] = []
    for record in records:
        written = {memory.get(n) for one in walk((record,)) for n in writes(one)}
        lasts = [last for last in lasts if memory[last.slices.array] not in written]
        for last in lasts:
            record = last.read_by(record)
        if isinstance(record, Loop) and not record.lanes and has_range(record):
            found = [one for one in slices_of(record, memory) if not _may_be_cut(record, one)]
            done += _with_slices(record, found, lasts if record.step is None else [], name)
        else:
            done.append(record)
    return tuple(done)


def _may_be_cut(loop: Loop, one: Slices) -> bool:
    """Tell whether a turn may write to a slice and then leave the loop, before the slice is written
    where it belongs.
    """
    left = max((k for k, record in enumerate(loop.body) if leaves(record)), default=0)
    return any(one.array in writes(record) for record in walk(loop.body[:left]))


def slices_of(loop: Loop, memory: Memory) -> list[Slices]:
    """Return what the turns of a loop hand on."""
    touched = accesses_of(loop.body)
    found = {array: accesses for array, accesses in touched.items() if array in memory}
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


def _with_slices(
    loop: Loop, slices: Sequence[Slices], lasts: list[_Last], name: Name
) -> Iterator[KernelRecord]:
    """Yield a loop whose turns hand on slices in shared memory, with what is before and behind. The
    last of them are added to `lasts`.
    """
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
            begin = variable(loop.begin) if loop.begin else first_turn(loop)
            place = one.before.substitute({loop.variable: begin}) + skipped
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
        base = one.written.substitute({loop.variable: last_turn(loop)})
        lasts.append(_Last(one, old or new, base))
    yield loop
    yield from behind


def _moved(loop: Loop, one: Slices, old: str, new: str, name: Name) -> tuple[KernelRecord, ...]:
    """Return the body of a loop that touches slices instead of an array."""

    def moved(record: KernelRecord, lanes: Loop) -> Iterator[KernelRecord]:
        def place(at: Expression) -> tuple[str, Expression]:
            buffer = old if without_lane(at, lanes)[0] == one.before else new
            return buffer, one.place(at, lanes)

        def load(load: Load) -> Load:
            return Load(*place(load.at), load.dtype) if load.buffer == one.array else load

        record = with_loads(record, load)
        if not isinstance(record, Store) or record.buffer != one.array:
            yield record
            return
        at = one.place(record.at, lanes)
        if one.in_place or not one.direct:
            yield replace(record, buffer=new, at=at)
            return
        local = Local(name(f"new {one.array}"), record.value.dtype)
        yield Let(local.name, record.value)
        yield replace(record, value=local)
        yield Store(new, at, local)

    return changed(loop.body, moved)


@dataclass(frozen=True)
class _Last:
    """The slice of a loop's last turn, which is in a buffer behind the loop; in memory it begins at
    `base`.
    """

    slices: Slices
    buffer: str
    base: Expression

    def read_by(self, record: KernelRecord) -> KernelRecord:
        """Return a record behind the loop that reads the slice from the buffer."""
        one = self.slices

        def moved(record: KernelRecord, lanes: Loop) -> Iterator[KernelRecord]:
            def load(load: Load) -> Load:
                base, stride, _ = without_lane(load.at, lanes)
                ours = load.buffer == one.array and lanes.range == one.lanes
                if not ours or stride != one.stride or base != self.base:
                    return load
                return Load(self.buffer, one.place(load.at, lanes), load.dtype)

            yield with_loads(record, load)

        return changed((record,), moved)[0]
