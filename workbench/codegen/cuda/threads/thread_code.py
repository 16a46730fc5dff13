"""Sharing of a kernel's records among the threads of a block.

All threads run the same loops, down to code that is shared out: the lanes of a tile, rows of these,
elements, or points that are added up. Between two such pieces a barrier may stand; inside of one
none does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from workbench.codegen.cuda.permutations import SCRATCH
from workbench.codegen.cuda.threads.independent_turns import are_independent, width
from workbench.codegen.cuda.threads.product_pieces import in_pieces
from workbench.codegen.kernel_records import (
    LANES,
    Draw,
    Holds,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Position,
    Require,
    Scratch,
    Serves,
    Store,
    Total,
    Update,
    Value,
    Variable,
    Where,
    leaves,
    loads,
    parts,
    values,
    walk,
)
from workbench.names import unique
from workbench.polyhedral.conditions import names_in
from workbench.polyhedral.expression import Expression, expression

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Everywhere:
    """Records that each thread runs for itself. What they store, the first thread stores."""

    records: tuple[KernelRecord, ...]


@dataclass(frozen=True)
class First:
    """Records that the first thread runs alone."""

    records: tuple[KernelRecord, ...]


@dataclass(frozen=True)
class Elements:
    """A loop of which each thread runs some turns, or two, of which `inside` is in each turn of the
    other: then turns are the pairs.
    """

    loop: Loop
    inside: Loop | None = None

    @property
    def body(self) -> tuple[KernelRecord, ...]:
        """The records of a turn."""
        return (self.inside or self.loop).body

    @property
    def turns(self) -> Expression:
        """The number of turns."""
        rows = self.loop.upper - self.loop.lower
        return rows if self.inside is None else rows * (self.inside.upper - self.inside.lower)


@dataclass(frozen=True)
class Points:
    """A loop whose turns are added up in parts: turn n in part n mod 16, by a thread each."""

    loop: Loop


@dataclass(frozen=True)
class Totals:
    """Parts that are combined: the first thread knows the result."""

    record: Total


@dataclass(frozen=True)
class WarpTurns:
    """A loop of which each warp runs some turns, each of which adds up points: in its body the
    threads are those of the warp, which may wait for each other.
    """

    loop: Loop
    body: tuple[Code, ...]


@dataclass(frozen=True)
class Together:
    """A function that all threads run together."""

    record: Invoke


@dataclass(frozen=True)
class Lane:
    """Records of the lanes of a tile. The first thread of a lane runs them, or all of them do:
    then the first one stores.
    """

    records: tuple[KernelRecord, ...]
    by_all: bool


@dataclass(frozen=True)
class Rows:
    """A loop over rows of a tile, which the threads of a lane share."""

    loop: Loop


@dataclass(frozen=True)
class Tile:
    """The lanes of a tile: those of `loop`, each of which has threads of its own."""

    loop: Loop
    body: tuple[Code, ...]


@dataclass(frozen=True)
class EachWarp:
    """Code that each of so many warps runs for itself, with memory of its own: in its body the
    threads are those of the warp. `variable` is that of the loop over blocks of the program.
    """

    warps: int
    body: tuple[Code, ...]
    variable: str


@dataclass(frozen=True)
class Around:
    """A loop or a condition that is the same for all threads."""

    record: Loop | Where
    body: tuple[Code, ...]


@dataclass(frozen=True)
class Memory:
    """Scratch memory of the block: the elements of the record, or those for each "lane" or "thread"
    of so many. Or what a thread keeps in its "registers", as functions of all threads say.
    """

    record: Scratch
    each: str = ""
    times: int = 1


@dataclass(frozen=True)
class Barrier:
    """A barrier that all threads of the block reach. `of_warps`: each waits for its warp alone."""

    of_warps: bool = False


Code: TypeAlias = (
    Everywhere
    | First
    | Elements
    | Points
    | Totals
    | WarpTurns
    | Together
    | Lane
    | Rows
    | Tile
    | EachWarp
    | Around
    | Memory
    | Barrier
)


def shared_out(
    records: Sequence[KernelRecord], lanes: int, threads: int, taken: set[str]
) -> tuple[Code, ...]:
    """Return the code of so many threads of a block, whose tiles have so many lanes. `taken` are
    the names that it may not use.
    """
    return tuple(_Sharing(lanes, threads, taken).body(records))


def memory_of(codes: Sequence[Code]) -> Iterator[Memory]:
    """Yield the scratch memory that code asks for."""
    for code in codes:
        if isinstance(code, Memory):
            yield code
        elif isinstance(code, (Around, EachWarp, Tile)):
            yield from memory_of(code.body)


def most_lanes(records: Sequence[KernelRecord]) -> int:
    """Return the lanes of the widest tile, LANES if there is none."""
    loops = (r for r in walk(tuple(records)) if isinstance(r, Loop) and _is_tile(r))
    return max((width(loop) or 0 for loop in loops), default=LANES)


def _is_tile(loop: Loop) -> bool:
    """Tell whether a loop is over the lanes of a block, which begin somewhere."""
    return loop.lanes and bool(loop.lower.terms) and width(loop) is not None


@dataclass
class _Sharing:
    lanes: int
    threads: int
    taken: set[str]
    parts: set[str] = field(default_factory=set)

    def body(
        self, records: Sequence[KernelRecord], later: frozenset[str] = _NOTHING
    ) -> Iterator[Code]:
        """Yield the code of records that all threads reach. Of the locals there, `later` are needed
        behind them.
        """
        plain: list[KernelRecord] = []
        needed = [later]  # from each record on, the last first
        for record in reversed(records):
            needed.append(needed[-1] | _names(record))
        needed.reverse()
        for place, record in enumerate(records):
            if isinstance(record, Variable) and record.parts:
                self.parts.add(record.name)
            if _is_plain(record):
                plain.append(record)
                continue
            yield from self._plain(plain, needed[place])
            plain = []
            if isinstance(record, Total):
                yield from self._total(record, records[place + 1 :])
            else:
                yield from self._codes(record, needed[place + 1])
        yield from self._plain(plain, later)

    def _plain(self, plain: Sequence[KernelRecord], later: frozenset[str]) -> Iterator[Code]:
        """Yield the code of records that are not shared out: the first thread runs what it alone
        needs.
        """
        known = _known_to_all(plain, later)
        by_all, others = known or (plain, ())
        for record in by_all:
            if isinstance(record, (Loop, Where)):
                yield from self._codes(record, later)
            else:
                yield Everywhere((record,))
        if all(isinstance(record, Serves) for record in others):
            yield Everywhere(tuple(others))
        else:
            yield First(others)

    def _total(self, record: Total, behind: Sequence[KernelRecord]) -> Iterator[Code]:
        """Yield a total, which goes to all threads by memory where more is done with it than to
        store it.
        """
        more = (r for r in behind if not isinstance(r, Store))
        if not any(record.name in _names(r) for r in more):
            yield Totals(record)
            return
        dtype, (name, memory) = record.variable.dtype, (self._name("one"), self._name("all"))
        yield Memory(Scratch(memory, dtype, expression(1)))
        yield Totals(Total(name, record.variable, record.operation))
        yield Everywhere((Store(memory, expression(0), Local(name, dtype)),))
        yield Everywhere((Let(record.name, Load(memory, expression(0), dtype)),))

    def _together(self, record: Invoke) -> Iterator[Code]:
        """Yield a function of all threads, with the memory that a block needs for it."""
        for wish, elements in SCRATCH.get(record.function, ()):
            memory = self._name(wish)
            yield Memory(Scratch(memory, "int32", expression(elements)))
            operands = (*record.operands, (memory, expression(0)))
            record = replace(record, operands=operands)
        yield Together(in_pieces(record, self.threads) if record.function == "product" else record)

    def _name(self, wish: str) -> str:
        return unique(wish, self.taken)

    def _codes(self, record: KernelRecord, later: frozenset[str]) -> Iterator[Code]:
        if isinstance(record, Scratch):
            yield Memory(record)
        elif isinstance(record, Invoke):
            yield from self._together(record)
        elif isinstance(record, Where):
            yield Around(record, tuple(self.body(record.body, later)))
        else:
            assert isinstance(record, Loop), record
            yield from self._of_loop(record, later)

    def _of_loop(self, loop: Loop, later: frozenset[str]) -> Iterator[Code]:
        adds = any(isinstance(r, Update) and r.name in self.parts for r in walk(loop.body))
        if loop.lanes and (adds or not _updates_others(loop)):
            if adds or not _is_tile(loop):
                yield from _memory(loop, "thread", self.threads)
                yield Points(loop) if adds else Elements(loop, _independent_inside(loop))
            else:
                yield self._tile(loop)
            return
        if not loop.lanes and are_independent(loop):
            inside = _inside(loop)
            if inside is not None or not _has_lanes(loop):
                yield Elements(loop, inside)
                return
        body = tuple(self.body(loop.body, later | _names(loop)))
        of_sums = all(isinstance(code, (Everywhere, First, Points, Totals)) for code in body)
        if not loop.lanes and of_sums and are_independent(loop, totals=True):
            yield WarpTurns(loop, body)
        else:
            yield Around(loop, body)

    def _tile(self, loop: Loop) -> Tile:
        """Share rows out to the threads of a lane, where nothing else in it repeats itself and all
        of them can know what rows need.
        """
        records = tuple(r for r in loop.body if not isinstance(r, Scratch))
        body = _in_rows(records) or (Lane(records, by_all=False),)
        return Tile(loop, (*_memory(loop, "lane", self.lanes), *body))


def _memory(loop: Loop, each: str, times: int) -> Iterator[Memory]:
    """Yield the scratch memory in a loop, for each of so many that run it."""
    return (Memory(r, each, times) for r in walk(loop.body) if isinstance(r, Scratch))


def _in_rows(records: Sequence[KernelRecord]) -> list[Code]:
    """Return the code of a lane's records with rows shared out, none where they cannot be."""
    if not any(isinstance(r, Loop) for r in records):
        return []
    body: list[Code] = []
    plain: list[KernelRecord] = []
    for place, record in enumerate(records):
        if not isinstance(record, (Loop, Where)):
            plain.append(record)
            continue
        if not isinstance(record, Loop) or not are_independent(record):
            return []
        known = _known_to_all(plain, _NOTHING.union(*map(_names, records[place:])))
        if known is None:
            return []
        by_all, others = known
        if all(isinstance(one, Serves) for one in others):
            by_all, others = (*by_all, *others), ()
        body += [Lane(part, part is by_all) for part in (by_all, others) if part]
        body.append(Rows(record))
        plain = []
    if plain:
        body.append(Lane(tuple(plain), by_all=False))
    return body


def _is_plain(record: KernelRecord) -> bool:
    """Tell whether threads have nothing to share out in a record."""
    if isinstance(record, (Invoke, Scratch, Total)):
        return False
    if not isinstance(record, (Loop, Where)):
        return True
    if isinstance(record, Loop) and (record.lanes or are_independent(record)):
        return False
    return all(map(_is_plain, record.body))


def _known_to_all(
    plain: Sequence[KernelRecord], later: frozenset[str]
) -> tuple[tuple[KernelRecord, ...], tuple[KernelRecord, ...]] | None:
    """Return the records that all threads run, since what is behind needs their values, and those
    that one of them runs then; None if the first read what the others store.
    """
    needed = set(later)
    for record in reversed(plain):
        if leaves(record) or needed & made_in((record,)):
            needed |= _names(record)
    by_all = tuple(r for r in plain if leaves(r) or needed & made_in((r,)))
    others = tuple(r for r in plain if r not in by_all)
    stored = {r.buffer for r in walk(others) if isinstance(r, Store)}
    if any(load.buffer in stored for r in walk(by_all) for load in loads(r)):
        return None
    return by_all, others


def made_in(records: Iterable[KernelRecord]) -> frozenset[str]:
    """Return the names that records make, or change."""
    found: set[str] = set()
    for record in walk(tuple(records)):
        if isinstance(record, (Let, Variable, Update)):
            found.add(record.name)
        elif isinstance(record, Draw):
            found.update(record.names)
        elif isinstance(record, Loop):
            found.add(record.variable)
    return frozenset(found)


def _inside(loop: Loop) -> Loop | None:
    """Return the loop of lanes that is all of a loop, and as long in each of its turns."""
    loops = [r for r in loop.body if not isinstance(r, Serves)]
    inside = loops[0] if len(loops) == 1 else None
    if not isinstance(inside, Loop) or not inside.lanes or _has_lanes(inside):
        return None
    bounds = inside.lower.variables | inside.upper.variables
    return None if loop.variable in bounds else inside


def _independent_inside(loop: Loop) -> Loop | None:
    """Return the loop that is all of one over lanes, as long in each lane, no turn of which needs
    another.
    """
    loops = [r for r in loop.body if not isinstance(r, Serves)]
    inside = loops[0] if len(loops) == 1 else None
    if not isinstance(inside, Loop) or not are_independent(inside):
        return None
    bounds = inside.lower.variables | inside.upper.variables
    return None if loop.variable in bounds else inside


def _has_lanes(loop: Loop) -> bool:
    """Tell whether a loop of lanes stands in a loop."""
    return any(isinstance(r, Loop) and r.lanes for r in walk(loop.body))


def _updates_others(loop: Loop) -> bool:
    """Tell whether a loop changes variables from outside of it."""
    inside = tuple(walk(loop.body))
    own = {r.name for r in inside if isinstance(r, Variable)}
    return any(isinstance(r, Update) and r.name not in own for r in inside)


def _names(record: KernelRecord) -> set[str]:
    """Return the names of locals that a record mentions, with those inside of it."""
    found: set[str] = set()
    for one in walk((record,)):
        for value in values(one):
            found |= _in_value(value)
        if isinstance(one, Loop):
            found = found.union(*(e.variables for e in one.turns))
        elif isinstance(one, Where):
            found |= names_in(one.condition)
        elif isinstance(one, Store):
            found |= one.at.variables
        elif isinstance(one, Update):
            found.add(one.name)
        elif isinstance(one, Draw):
            found = found.union(*(e.variables for e in (*one.coordinates, one.block)))
        elif isinstance(one, Require):
            found = found.union(*(e.variables for _, e in one.instance))
        elif isinstance(one, Invoke):
            found = found.union(*(at.variables for _, at in (one.out, *one.operands)))
    return found


def _in_value(value: Value) -> set[str]:
    found: set[str] = set()
    for part in parts(value):
        if isinstance(part, Local):
            found.add(part.name)
        elif isinstance(part, Load):
            found |= part.at.variables
        elif isinstance(part, Position):
            found |= part.expression.variables
        elif isinstance(part, Holds):
            found |= names_in(part.condition)
    return found
