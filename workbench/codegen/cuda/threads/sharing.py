"""Sharing of a kernel's records among the threads of a block.

All threads run the same loops, down to code that is shared out: the lanes of a tile, rows of these,
elements, or points that are added up. Between two such pieces a barrier may stand; inside of one
none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.codegen.cuda.permutations import SCRATCH
from workbench.codegen.cuda.threads.independent_turns import are_independent, width
from workbench.codegen.cuda.threads.local_names import made_in, names_of
from workbench.codegen.cuda.threads.product_pieces import in_pieces
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Code,
    Elements,
    Everywhere,
    First,
    Lane,
    Memory,
    Points,
    Rows,
    Tile,
    Together,
    Totals,
    WarpTurns,
)
from workbench.codegen.kernel_records import (
    LANES,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Scratch,
    Serves,
    Store,
    Total,
    Update,
    Variable,
    Where,
    leaves,
    loads,
    walk,
)
from workbench.names import unique
from workbench.polyhedral.expression import expression

_NOTHING: frozenset[str] = frozenset()


def shared_out(
    records: Sequence[KernelRecord], lanes: int, threads: int, taken: set[str]
) -> tuple[Code, ...]:
    """Return the code of so many threads of a block, whose tiles have so many lanes. `taken` are
    the names that it may not use.
    """
    return tuple(_Sharing(lanes, threads, taken).body(records))


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
            needed.append(needed[-1] | names_of(record))
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
        if not any(record.name in names_of(r) for r in more):
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
        body = tuple(self.body(loop.body, later | names_of(loop)))
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
        known = _known_to_all(plain, _NOTHING.union(*map(names_of, records[place:])))
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
            needed |= names_of(record)
    by_all = tuple(r for r in plain if leaves(r) or needed & made_in((r,)))
    others = tuple(r for r in plain if r not in by_all)
    stored = {r.buffer for r in walk(others) if isinstance(r, Store)}
    if any(load.buffer in stored for r in walk(by_all) for load in loads(r)):
        return None
    return by_all, others


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
