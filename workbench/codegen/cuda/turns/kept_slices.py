"""Slices of arrays that a loop only reads: a block loads each once, into shared memory, though some
turns read it. Those that an earlier loop of the block wrote last, the other way round, it keeps
there from then on: turns that come back to them load nothing.

Slices lie in a ring, that of turn n in place n modulo the ring's. A lane has one element of each,
and one thread that touches it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.cuda.threads.independent_turns import has_turns, width
from workbench.codegen.cuda.turns.accesses import (
    Access,
    Memory,
    Range,
    accesses_of,
    first_turn,
    last_turn,
)
from workbench.codegen.kernel_records import KernelRecord, Loop, walk, writes
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.expressions.atoms import Product, Size, Variable

MOST_TURNS, FEWEST_TURNS = 128, 8
"""The slices that a block keeps of an array for turns that come back: so many, or as many as have
room, if these are not too few.
"""
FURTHEST = 4
"""The most turns that slices of one turn are apart."""


@dataclass(frozen=True)
class KeptSlices:
    """The slices of an array that turns of a `reader` read, a loop in a block's records. A turn
    reads those from `nearest` turns on to `furthest`; that of turn n begins at `base`, where n is
    the reader's variable. The turns of a `writer` wrote slices too, if there is one. The ring has
    `turns` slices.
    """

    array: str
    dtype: str
    statement: str
    lanes: Range
    most_lanes: int
    base: Expression
    nearest: int
    furthest: int
    often: bool
    reader: int
    writer: int | None = None
    turns: int = 0

    @property
    def elements(self) -> int:
        """The elements of the ring."""
        return self.turns * self.most_lanes

    @property
    def fewest(self) -> int:
        """The slices that a turn needs, up to a power of two."""
        return 1 << (self.furthest - self.nearest).bit_length()

    def place(self, turn: Expression, lane: Expression) -> Expression:
        """Return the place in the ring of a lane's element in the slice of a turn."""
        return turn % self.turns * self.most_lanes + lane - self.lanes[0]


def kept_slices_of(records: Sequence[KernelRecord], memory: Memory) -> list[KeptSlices]:
    """Return the slices that a block could load once for some reads, or keep for turns that come
    back. `memory` is that of each buffer, but for those in shared memory already.
    """
    found: list[KeptSlices] = []
    for number, loop in enumerate(records):
        if not isinstance(loop, Loop) or loop.lanes or not has_turns(loop):
            continue
        written = _written(loop, memory)
        for array, accesses in accesses_of(loop.body).items():
            if array not in memory or memory[array] in written:
                continue
            one = _read(loop, number, array, accesses)
            if one is None:
                continue
            one = _with_writer(records, one, memory)
            if (one.array, one.writer) in {(other.array, other.writer) for other in found}:
                one = replace(one, writer=None)
            if one.writer is not None or one.often:
                found.append(one)
    return found


def for_room(
    found: Sequence[KeptSlices], room: int, bytes_of: Callable[[KeptSlices], int]
) -> list[KeptSlices]:
    """Return slices with rings for which there is room in shared memory: for turns that come back,
    else only for those that are read more than once.
    """
    turns = MOST_TURNS
    while turns >= FEWEST_TURNS:
        kept = [
            replace(one, turns=one.fewest if one.writer is None else max(turns, one.fewest))
            for one in found
        ]
        if sum(map(bytes_of, kept)) <= room:
            return kept
        turns //= 2
    alone = [replace(one, writer=None, turns=one.fewest) for one in found if one.often]
    return alone if sum(map(bytes_of, alone)) <= room else []


def _written(record: KernelRecord, memory: Memory) -> set[str]:
    """Return the memory that a record writes."""
    return {memory[n] for one in walk((record,)) for n in writes(one) if n in memory}


def _read(
    loop: Loop, number: int, array: str, accesses: Sequence[Access | None]
) -> KeptSlices | None:
    """Return the slices of an array that a loop reads, None where some accesses are others than to
    a lane's element of a slice that a few turns are apart from the rest.
    """
    known = [access for access in accesses if access is not None]
    first = known[0] if known else None
    if first is None or len(known) < len(accesses) or not _moves_on(first.base, loop.variable):
        return None
    lanes = width(Loop("", *first.lanes, ()))
    if lanes is None or len({access.lanes for access in known}) > 1:
        return None
    if not all(a.stride == 1 and a.always and a.alone for a in known):
        return None
    apart = [turns_apart(first.base, access.base, loop.variable) for access in known]
    offsets = sorted({offset for offset in apart if offset is not None})
    if None in apart or offsets != list(range(offsets[0], offsets[-1] + 1)):
        return None
    return KeptSlices(
        array, first.dtype, first.statement, first.lanes, lanes, first.base, offsets[0],
        offsets[-1], len(known) > 1, number,
    )  # fmt: skip


def _with_writer(records: Sequence[KernelRecord], one: KeptSlices, memory: Memory) -> KeptSlices:
    """Return slices with the loop whose turns wrote them, in the other direction, where there is
    one: what is written behind it belongs to slices that come behind those of its turns.
    """
    reader, others = records[one.reader], list[Access | None]()
    assert isinstance(reader, Loop)
    for number in reversed(range(one.reader)):
        record = records[number]
        if memory[one.array] not in _written(record, memory):
            continue
        turns = record if isinstance(record, Loop) and not record.lanes else None
        accesses = accesses_of(turns.body if turns else (record,)).get(one.array, ())
        stores = [a for a in accesses if a is None or a.stores]
        names = {n for r in walk((record,)) for n in writes(r)} - {one.array}
        if memory[one.array] in {memory.get(n) for n in names}:
            return one
        if turns is not None:
            found = _as_written(one, stores, turns, reader)
            ours = found is not None and _are_behind(others, found, turns, reader)
            return replace(found, writer=number) if found and ours else one
        others += stores
    return one


def _as_written(
    one: KeptSlices, stores: Sequence[Access | None], writer: Loop, reader: Loop
) -> KeptSlices | None:
    """Return slices by the turns of a writer, None where not each of them stores its slice, or the
    reader does not begin with those that come last.
    """
    if writer.backwards == reader.backwards or not has_turns(writer) or len(stores) != 1:
        return None
    (store,) = stores
    if store is None or not store.always or (store.stride, store.lanes) != (1, one.lanes):
        return None
    turn = reader.variable
    written = store.base.substitute({writer.variable: variable(turn)})
    shift = turns_apart(one.base, written, turn)
    begun = last_turn(writer) - first_turn(reader)
    if shift is None or begun.terms or abs(begun.constant) > FURTHEST:
        return None
    nearest, furthest = one.nearest - shift, one.furthest - shift
    return replace(one, base=written, nearest=nearest, furthest=furthest)


def _are_behind(
    others: Sequence[Access | None], one: KeptSlices, writer: Loop, reader: Loop
) -> bool:
    """Tell whether accesses are to slices that come behind those of a writer's turns."""
    last, step = last_turn(writer), -1 if writer.backwards else 1
    behind = [
        one.base.substitute({reader.variable: last + step * n}) for n in range(1, FURTHEST + 1)
    ]
    return all(a and (a.stride, a.lanes) == (1, one.lanes) and a.base in behind for a in others)


def turns_apart(base: Expression, other: Expression, turn: str) -> int | None:
    """Return how many turns a slice is behind another, None where it is none of these few."""
    for offset in sorted(range(-FURTHEST, FURTHEST + 1), key=abs):
        if other == base.substitute({turn: variable(turn) + offset}):
            return offset
    return None


def _moves_on(base: Expression, turn: str) -> bool:
    """Tell whether no two turns have the same base, which has one term with their number: times a
    constant, or a product of sizes.
    """
    having = [part for part, _ in base.terms if turn in Expression(0, ((part, 1),)).variables]
    if len(having) != 1:
        return False
    (part,) = having
    if not isinstance(part, Product):
        return isinstance(part, Variable)
    sides = sorted(part.parts, key=lambda side: turn in side.variables)
    sizes, moving = sides
    known = all(isinstance(inside, Size) and f > 0 for inside, f in sizes.terms)
    return known and sizes.constant >= 0 and _moves_on(moving, turn)
