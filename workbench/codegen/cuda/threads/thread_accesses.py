"""Accesses of a block's threads to buffers: by which of them, as code is shared out.

The same lanes, rows and elements have the same threads each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from workbench.codegen.cuda.sums.kept_sums import KEPT, WRITTEN
from workbench.codegen.cuda.threads.independent_turns import most, width
from workbench.codegen.cuda.threads.local_names import made_in
from workbench.codegen.cuda.threads.product_pieces import LARGEST, ONE, room
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
    Code,
    EachWarp,
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
from workbench.codegen.cuda.threads.warps import WARP
from workbench.codegen.kernel_records import (
    LANES,
    PRODUCTS,
    Invoke,
    KernelRecord,
    Loop,
    Store,
    loads,
    reads,
    walk,
    writes,
)
from workbench.polyhedral.expression import Expression, atom, expression, variable
from workbench.polyhedral.expressions.atoms import Atom, Extremum, Product, Size, Variable

LANE, ROW = "lane of the tile", "row of the tile"
"""The names that places are written over where threads have their own. No record has one."""
IN_A_ROW: tuple[object, ...] = ("elements", "from 0 on")
"""The threads of elements that are dealt to them by their number, however many there are, and of
the lanes of a tile.
"""
_OF_MATRICES = (*PRODUCTS, "turned", "orthogonalize")


@dataclass(frozen=True)
class Access:
    """An access to a buffer by the `first` threads of a kernel, so many, or by less of them.
    Thread k of the kernel is thread `begin` + k of the block, whose first follows on its last.
    `threads` says how the places are dealt to them: over LANE and ROW, of which each has its own
    thread, the place is `at`. Where that is not known any of them may touch any place. With the
    same `columns` as another one, a lane touches no place that another lane touches there, wherever
    in its column it is. `places` are the first that is touched and the one behind the last, where
    these are known.
    """

    buffer: str
    write: bool
    first: int
    threads: tuple[object, ...] = ()
    at: Expression | None = None
    columns: tuple[object, ...] = ()
    places: tuple[int, int] | None = None
    begin: int = 0

    def threads_at(self, other: Access) -> int:
        """Return how many threads touch places of another access: the first so many, or less."""
        at, by = self.at, 0 if self.at is None else self.at.coefficient(LANE)
        if at is None or by <= 0 or self.places is None or other.places is None:
            return self.first
        rest = at - variable(LANE) * by
        if rest.terms or self.threads != IN_A_ROW:
            return self.first
        return max(0, min(self.first, (other.places[1] - 1 - rest.constant) // by + 1))


@dataclass(frozen=True)
class Block:
    """A block that runs a kernel, as far as it is known: how many threads it has, how many lanes
    its tiles have, its `own` buffers, and the variable of the loop over blocks, of which none needs
    another's arrays but for what they add up. In buffers with the same `columns` a lane's elements
    of rows lie in the same column of memory. `names` are those of its scratch memory, which other
    kernels of the same function may call the same. `runs`: it has a block of the program to run.
    `begin`: which of its threads is the kernel's first; behind its last one comes thread 0.
    """

    threads: int
    lanes: int
    own: frozenset[str]
    columns: Mapping[str, tuple[int, int]]
    names: Mapping[str, str]
    variable: str = ""
    runs: bool = False
    begin: int = 0


class ThreadAccesses:
    """The accesses of a block that runs a kernel."""

    def __init__(self, block: Block) -> None:
        self.block, self.lanes = block, block.lanes
        self.by_lane: set[str] = set()
        """The scratch memory that has its elements for each lane."""
        self.by_thread: set[str] = set()
        """That which has them for each thread."""
        self.in_registers: set[str] = set()
        self._known: dict[tuple[int, int], tuple[Code, Loop | None, tuple[Access, ...]]] = {}
        """The accesses of code in a tile, by both of their identities: barriers are placed in the
        turns of a loop twice, and twice as often in those of one inside of it.
        """

    def hold(self, memory: Memory) -> None:
        """Make scratch memory known."""
        names = {
            "lane": self.by_lane,
            "thread": self.by_thread,
            "registers": self.in_registers,
        }
        if memory.each and memory.record.name not in names[memory.each]:
            names[memory.each].add(memory.record.name)
            self._known.clear()

    def all(self, codes: Sequence[Code], tile: Loop | None = None) -> Iterator[Access]:
        """Yield the accesses of code, with those of all that is in it."""
        for code in codes:
            if isinstance(code, (Around, Tile)):
                yield from self.all(code.body, code.loop if isinstance(code, Tile) else tile)
            elif not isinstance(code, Barrier):
                if isinstance(code, Memory):
                    self.hold(code)
                yield from self.of(code, tile)

    def of(self, code: Code, tile: Loop | None) -> tuple[Access, ...]:
        """Return the accesses of code, to scratch memory by names of the whole function."""
        identities = id(code), id(tile)
        if identities not in self._known:
            self._known[identities] = code, tile, tuple(self._named(code, tile))
        return self._known[identities][-1]

    def _named(self, code: Code, tile: Loop | None) -> Iterator[Access]:
        names = self.block.names
        for access in self._accesses(code, tile):
            name = access.buffer
            if name in self.in_registers:
                continue
            access = replace(
                access, buffer=names.get(access.buffer, access.buffer), begin=self.block.begin
            )
            if name in self.by_thread:
                own = ("thread", access.buffer)
                access = replace(access, threads=("thread",), at=None, columns=own, places=None)
            yield access

    def _accesses(self, code: Code, tile: Loop | None) -> Iterator[Access]:
        if isinstance(code, Everywhere):
            for record in code.records:
                first = 1 if isinstance(record, Store) else self.block.threads
                for buffer, write, _ in _touched((record,)):
                    yield Access(buffer, write, first)
        elif isinstance(code, First):
            for buffer, write, at in _touched(code.records):
                yield Access(buffer, write, 1, places=_places(at, {}))
        elif isinstance(code, EachWarp):
            inside = ThreadAccesses(replace(self.block, threads=WARP)).all(code.body)
            for buffer, write in dict.fromkeys((one.buffer, one.write) for one in inside):
                yield Access(buffer, write, self.block.threads)
        elif isinstance(code, WarpTurns):
            for buffer, write, _ in _touched((code.loop,)):
                yield Access(buffer, write, self.block.threads)
        elif isinstance(code, Together):
            yield from self._of_function(code.record)
        elif isinstance(code, Points):
            yield from self._of_points(code.loop)
        elif isinstance(code, Elements):
            yield from self._of_elements(code)
        elif isinstance(code, Lane):
            assert tile is not None
            yield from self._of_lanes(code, tile)
        elif isinstance(code, Rows):
            assert tile is not None
            yield from self._of_rows(code.loop, tile)
        else:
            assert isinstance(code, (Memory, Totals))

    def _most(self, *turns: int | None) -> int:
        """Return how many threads so many turns in each turn have, of which each has its own: all
        threads where the number is not known.
        """
        known = [n for n in turns if n is not None]
        return min(self.block.threads, prod(known)) if known == [*turns] else self.block.threads

    def _of_function(self, record: Invoke) -> Iterator[Access]:
        """Yield the accesses of a function. A permutation is sorted in memory of its own."""
        first = self._most(*pieces(record))
        if record.function == "orthogonalize":
            yield from self._of_qr(record, first)
            return
        if record.function == "product" and record.option["high"] == ONE[0]:
            yield from self._of_small_product(record, first)
            return
        sorts = record.function == "permutation"
        yield from (Access(name, sorts, first) for name in reads(record))
        yield from (Access(name, True, first) for name in writes(record))

    def _of_small_product(self, record: Invoke, first: int) -> Iterator[Access]:
        """Yield the accesses of a product of whose result each thread has each n-th place."""
        option, (out, begin) = record.option, record.out
        step, columns = expression(option["out_step"]), expression(option["columns"])
        threads: tuple[object, ...] = ()
        place = None
        in_lanes = step == self.lanes and self.block.threads % self.lanes == 0
        if in_lanes and option["rows"] != 1:
            threads = ("rows", expression(0))
            place = begin + variable(ROW) * self.lanes + variable(LANE)
        elif step == columns or option["rows"] == 1:
            threads, place = IN_A_ROW, begin + variable(LANE)
        yield from (Access(name, False, first) for name, _ in record.operands)
        if option["into"]:
            yield Access(out, False, first, threads, place)
        yield Access(out, True, first, threads, place)

    def _of_qr(self, record: Invoke, first: int) -> Iterator[Access]:
        """Yield the accesses of QR in front of its first barrier, where it reads its matrix, and
        behind its last one. A thread has each n-th element of a matrix, a wide one by columns.
        """
        (matrix, begin), (memory, _) = record.operands
        rows, columns = (expression(record.option[side]) for side in ("rows", "columns"))
        place, wide = variable(LANE), rows.constant < columns.constant
        yield Access(matrix, False, first, *(() if wide else (IN_A_ROW, begin + place)))
        yield Access(memory, True, first)
        yield Access(record.out[0], True, first, IN_A_ROW, record.out[1] + place)

    def _of_points(self, loop: Loop) -> Iterator[Access]:
        """Yield the accesses of points: the lanes of a tile that has as many as a sum has parts
        have the same threads, and so have elements where there are no more.
        """
        turns = width(loop)
        if self.lanes == LANES and loop.lower.terms:
            yield from self._of_lanes(Lane(loop.body, by_all=False), loop)
        elif turns is not None and turns <= LANES:
            yield from self._of_elements(Elements(loop))
        else:
            first = min(LANES, self._most(turns))
            ranges = {loop.variable: turns}
            for buffer, write, at in _touched((loop,)):
                places = _places(at, ranges) if loop.lower == 0 else None
                yield Access(buffer, write, first, places=places)

    def _of_elements(self, code: Elements) -> Iterator[Access]:
        """Yield the accesses of loops whose turns are dealt to threads by their number."""
        loop, inside, made = code.loop, code.inside, made_in(code.body)
        first = self._most(*(width(one) for one in (loop, inside) if one is not None))
        names = {(inside or loop).variable: variable(LANE)}
        columns = None
        if inside is not None:
            names[loop.variable], columns = variable(ROW), width(inside)
        for buffer, write, at in _touched(code.body):
            place = at.substitute(names)
            by_lane, by_row = place.coefficient(LANE), place.coefficient(ROW)
            rest = place - variable(LANE) * by_lane - variable(ROW) * by_row
            threads = IN_A_ROW if _from_0(loop) else ("elements", loop.range)
            known = bool(by_lane) and not loop.begin and not rest.variables & {LANE, ROW, *made}
            if inside is not None:
                known = known and columns is not None and abs(by_row) >= abs(by_lane) * columns
                threads = ("elements", loop.range, inside.range)
                if known and by_row == by_lane * (columns or 0) and _from_0(loop, inside):
                    threads, place = IN_A_ROW, variable(LANE) * by_lane + rest
            if known:
                from_0 = _from_0(*(one for one in (loop, inside) if one is not None))
                places = _places(place, {LANE: most(code.turns)}) if from_0 else None
                yield Access(buffer, write, first, threads, place, places=places)
            else:
                yield Access(buffer, write, first)

    def _of_lanes(self, code: Lane, tile: Loop) -> Iterator[Access]:
        """Yield the accesses of lanes: what all threads of a lane read has no thread of its own."""
        made, threads = made_in(code.records), IN_A_ROW
        for buffer, write, at in _touched(code.records):
            by_all = code.by_all and not write
            first = self.block.threads if by_all else self._tile_lanes(tile)
            place = self._in_tile(buffer, at, tile)
            rest = place - variable(LANE) * place.coefficient(LANE)
            apart = place.coefficient(LANE) and not rest.variables & {LANE, *made}
            columns = self._columns(buffer, at, place, tile)
            if (apart or columns) and not by_all:
                yield Access(buffer, write, first, threads, place if apart else None, columns)
            else:
                yield Access(buffer, write, first)

    def _tile_lanes(self, tile: Loop) -> int:
        """Return how many lanes a tile has at most."""
        return min(self.lanes, self._most(width(tile)))

    def _columns(
        self, buffer: str, at: Expression, place: Expression, tile: Loop
    ) -> tuple[object, ...]:
        """Return the columns of which each lane touches its own: those of a tile, with all lanes
        in a row, or those of an array, whose rows have as many elements as lanes there are in all.
        """
        rest = place - variable(LANE)
        if LANE not in rest.variables:
            factors = [rest.constant, *(factor for _, factor in rest.terms)]
            if all(factor % self.lanes == 0 for factor in factors):
                return ("tile", *self.block.columns.get(buffer, (buffer,)))
        step = at.coefficient(tile.variable)
        rest = at - variable(tile.variable) * step
        if step <= 0 or tile.variable in rest.variables or not 0 <= rest.constant < step:
            return ()
        for lanes in _bounds(tile.upper):
            if all(f % step == 0 and _has_factor(part, lanes) for part, f in rest.terms):
                return ("array", buffer, step, lanes)
        return ()

    def _of_rows(self, loop: Loop, tile: Loop) -> Iterator[Access]:
        made, rows = made_in(loop.body), width(loop)
        whole = self._most(rows, self.lanes)
        first = whole - self.lanes + self._tile_lanes(tile)
        for buffer, write, at in _touched(loop.body):
            place = self._in_tile(buffer, at, tile).substitute({loop.variable: variable(ROW)})
            by_lane, by_row = place.coefficient(LANE), place.coefficient(ROW)
            rest = place - variable(LANE) * by_lane - variable(ROW) * by_row
            apart = abs(by_row) >= abs(by_lane) * self.lanes or (
                rows is not None and abs(by_lane) >= abs(by_row) * rows
            )
            if by_lane and by_row and apart and not rest.variables & {LANE, ROW, *made}:
                yield Access(buffer, write, first, ("rows", loop.lower), place)
            else:
                yield Access(buffer, write, first)

    def _in_tile(self, buffer: str, at: Expression, tile: Loop) -> Expression:
        place = at.substitute({tile.variable: tile.lower + variable(LANE)})
        return place * self.lanes + variable(LANE) if buffer in self.by_lane else place


def pieces(record: Invoke) -> tuple[int | None, ...]:
    """Return in how many pieces a function deals rows and columns to threads, (None,) where it
    deals something else. QR deals elements in front of its first barrier and behind its last one.
    """
    option, function = record.option, record.function.removeprefix(KEPT)
    if record.function != WRITTEN and function not in _OF_MATRICES:
        return (None,)
    whole = LARGEST[0] if record.function == "product" else 1
    rows, columns = (most(expression(option[side])) for side in ("rows", "columns"))
    high, wide = (option.get(side, whole) for side in ("high", "wide"))
    if function == "product" and (high, wide) == ONE:
        columns = room(record)
    return tuple(None if n is None else -(-n // by) for n, by in ((rows, high), (columns, wide)))


def _places(at: Expression, turns: Mapping[str, int | None]) -> tuple[int, int] | None:
    """Return the first place of an access, and that behind the last, where variables have so many
    turns from 0 on: None where others say it.
    """
    first = last = at.constant
    for part, factor in at.terms:
        count = turns.get(part.name) if isinstance(part, Variable) else None
        if count is None:
            return None
        furthest = factor * (count - 1)
        first, last = first + min(furthest, 0), last + max(furthest, 0)
    return first, last + 1


def _from_0(*loops: Loop) -> bool:
    """Tell whether loops begin with 0."""
    return all(loop.lower == 0 for loop in loops)


def _bounds(upper: Expression) -> Iterator[Expression]:
    """Yield sizes that an upper bound is at most."""
    for part, factor in upper.terms:
        if isinstance(part, Extremum) and part.kind == "min" and factor == 1:
            rest = upper - Expression(0, ((part, factor),))
            yield from _bounds(rest + part.left)
            yield from _bounds(rest + part.right)
            return
    if len(upper.terms) == 1 and isinstance(upper.terms[0][0], Size):
        (part, factor), *_ = upper.terms
        if factor == 1 and not upper.constant:
            yield upper


def _has_factor(part: Atom, factor: Expression) -> bool:
    """Tell whether a number is a multiple of a size."""
    if not isinstance(part, Product):
        return atom(part) == factor
    sides = (side for side in (part.left, part.right) if not side.constant)
    return any(
        len(side.terms) == 1 and any(_has_factor(inside, factor) for inside, _ in side.terms)
        for side in sides
    )


def _touched(records: Sequence[KernelRecord]) -> Iterator[tuple[str, bool, Expression]]:
    """Yield each buffer that records touch, whether they write it, and the place."""
    for record in walk(tuple(records)):
        for load in loads(record):
            yield load.buffer, False, load.at
        if isinstance(record, Store):
            yield record.buffer, True, record.at
