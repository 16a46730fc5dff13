"""The records of a block that keeps slices of arrays in rings in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.codegen.cuda.turns.accesses import changed, first_turn, last_turn, without_lane
from workbench.codegen.cuda.turns.kept_slices import KeptSlices, turns_apart
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Scratch,
    Serves,
    Store,
    Where,
)
from workbench.codegen.record_changes import with_loads
from workbench.lowering.values.intervals import at_least
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition
from workbench.polyhedral.expression import Expression, expression, variable

Name: TypeAlias = Callable[[str], str]


def with_kept_slices(
    records: Sequence[KernelRecord], kept: Sequence[KeptSlices], name: Name
) -> tuple[KernelRecord, ...]:
    """Return the records of a block that keeps slices in rings."""
    rows = [[record] for record in records]
    rings: list[KernelRecord] = []
    for one in kept:
        ring = name(f"turns of {one.array}")
        rings.append(Scratch(ring, one.dtype, expression(one.elements)))
        writer = None
        if one.writer is not None:
            writer = _loop_of(rows[one.writer])
            rows[one.writer][-1] = _writing(writer, one, ring, name)
        *before, _ = row = rows[one.reader]
        rows[one.reader] = [*before, *_Reading(one, ring, _loop_of(row), writer, name).records()]
    return (*rings, *(record for row in rows for record in row))


def _loop_of(row: Sequence[KernelRecord]) -> Loop:
    """Return the loop that is the last of some records."""
    loop = row[-1]
    assert isinstance(loop, Loop)
    return loop


def _writing(writer: Loop, one: KeptSlices, ring: str, name: Name) -> Loop:
    """Return a writer whose turns keep their slices."""

    def kept(record: KernelRecord, lanes: Loop) -> Iterator[KernelRecord]:
        if not isinstance(record, Store) or record.buffer != one.array:
            yield record
            return
        local = record.value
        if not isinstance(local, Local):
            local = Local(name(f"new {one.array}"), record.value.dtype)
            yield Let(local.name, record.value)
        yield replace(record, value=local)
        yield Store(ring, one.place(variable(writer.variable), variable(lanes.variable)), local)

    return replace(writer, body=changed(writer.body, kept))


@dataclass(frozen=True)
class _Reading:
    """A reader whose slices lie in a ring."""

    one: KeptSlices
    ring: str
    reader: Loop
    writer: Loop | None
    name: Name

    def records(self) -> Iterator[KernelRecord]:
        """Yield the reader, and before it what its first turn needs besides its newest slice."""
        one, reader = self.one, self.reader
        offsets = range(one.nearest, one.furthest + 1)
        newest, *rest = offsets if reader.backwards else reversed(offsets)
        for offset in rest:
            yield from self._loaded(first_turn(reader) + offset)
        loaded = self._loaded(variable(reader.variable) + newest)
        yield replace(reader, body=(*loaded, *changed(reader.body, self._moved)))

    def _moved(self, record: KernelRecord, lanes: Loop) -> Iterator[KernelRecord]:
        one, turn = self.one, self.reader.variable

        def load(load: Load) -> Load:
            if load.buffer != one.array:
                return load
            offset = turns_apart(one.base, without_lane(load.at, lanes)[0], turn)
            assert offset is not None
            at = one.place(variable(turn) + offset, variable(lanes.variable))
            return Load(self.ring, at, load.dtype)

        yield with_loads(record, load)

    def _loaded(self, turn: Expression) -> Iterator[KernelRecord]:
        """Yield what loads the slice of a turn where the ring does not have it."""
        one, when = self.one, self._missing(turn)
        if when is False:
            return
        k, local = self.name(f"element of {one.array}"), self.name(f"slice of {one.array}")
        lane = variable(k)
        at = one.base.substitute({self.reader.variable: turn}) + lane
        stored = Store(self.ring, one.place(turn, lane), Local(local, one.dtype))
        body = (Let(local, Load(one.array, at, one.dtype)), stored)
        loop = Loop(k, *one.lanes, body, lanes=True)
        yield Serves(one.statement)
        yield loop if when is True else Where(when, (loop,))

    def _missing(self, turn: Expression) -> Condition | bool:
        """Return when the ring does not have the slice of a turn that the reader comes to: it was
        written behind the writer's last turn, or so long before that others are in its place, or
        before the writer. True if it never has it, False if it has it at all sizes.
        """
        writer, reader, one = self.writer, self.reader, self.one
        if writer is None:
            return True
        last, step = last_turn(writer), -1 if writer.backwards else 1
        before = (last - turn) * step
        begun = [(last - first_turn(reader) - n) * step for n in (one.nearest, one.furthest)]
        room = one.turns + min(0, *(turns.constant for turns in begun))
        ranges = {reader.variable: (reader.lower, reader.upper - 1)}
        limits = [
            (before + 1, expression(0)),
            (expression(room), before),
            (writer.upper - writer.lower, before),
        ]
        possible = [(a, b) for a, b in limits if not at_least(a - b, 1, ranges)]
        if any(at_least(b - a, 0, ranges) for a, b in possible):
            return True
        parts = tuple(AffineComparison(a, "<=", b) for a, b in possible)
        if len(parts) > 1:
            return Compound("or", parts)
        return parts[0] if parts else False
