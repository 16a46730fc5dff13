"""Barriers of a block's threads: in front of code that touches what others wrote, or writes what
others touched, since the last one.

Who touches what is known by the way code is shared out. The same lanes, rows and elements have the
same threads each time, so that code over them needs no barrier between if each touches its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.cuda.permutations import DEALT, SORTED
from workbench.codegen.cuda.threads.independent_turns import are_independent, has_turns, width
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
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
    made_in,
)
from workbench.codegen.kernel_records import (
    LANES,
    Invoke,
    KernelRecord,
    Loop,
    Store,
    loads,
    reads,
    walk,
    writes,
)
from workbench.lowering.values.intervals import greatest
from workbench.polyhedral.expression import Expression, atom, expression, variable
from workbench.polyhedral.expressions.atoms import Atom, Extremum, Product, Size

LANE, ROW = "lane of the tile", "row of the tile"
"""The names that places are written over where threads have their own. No record has one."""


@dataclass(frozen=True)
class Access:
    """An access to a buffer. `threads` says how the places are dealt to threads: over LANE and ROW,
    of which each has its own thread, the place is `at`. Where that is not known any thread may
    touch any place. With the same `columns` as another one, a lane touches no place that another
    lane touches there, wherever in its column it is.
    """

    buffer: str
    write: bool
    threads: tuple[object, ...] = ()
    at: Expression | None = None
    columns: tuple[object, ...] = ()


@dataclass(frozen=True)
class Block:
    """A block that runs a kernel, as far as it is known: how many lanes its tiles have, its `own`
    buffers, and the variable of the loop over blocks, of which none needs another's arrays but for
    what they add up. In buffers with the same `columns` a lane's elements of rows lie in the same
    column of memory. `names` are those of its scratch memory, which other kernels of the same
    function may call the same. `runs`: it has a block of the program to run.
    """

    lanes: int
    own: frozenset[str]
    columns: Mapping[str, tuple[int, int]]
    names: Mapping[str, str]
    variable: str = ""
    runs: bool = False


class Barriers:
    """The barriers of a function, of whose kernels a block runs one after the other. `meet` tells
    whether two buffers may have memory in common.
    """

    def __init__(self, meet: Callable[[str, str], bool]) -> None:
        self.meet = meet
        self.pending: dict[Access, None] = {}
        """The accesses since the last barrier."""
        self.by_lane: set[str] = set()
        """The scratch memory that has its elements for each lane."""
        self.by_thread: set[str] = set()
        """That which has them for each thread."""
        self.in_registers: set[str] = set()

    def of(self, codes: Sequence[Code], block: Block) -> tuple[Code, ...]:
        """Return the code of the next kernel with the barriers that it needs."""
        self.block, self.lanes = block, block.lanes
        self.by_lane.clear()
        self.by_thread.clear()
        self.in_registers.clear()
        return tuple(self.body(codes))

    def body(self, codes: Sequence[Code], tile: Loop | None = None) -> Iterator[Code]:
        """Yield code with its barriers."""
        for code in codes:
            if isinstance(code, Barrier):
                self.pending.clear()
                yield code
            elif isinstance(code, (Around, Tile)):
                yield from self._around(code)
            else:
                if isinstance(code, Memory) and code.each:
                    self._held_by(code.each).add(code.record.name)
                found = list(self._named(code, tile))
                if self._must_wait(found):
                    yield Barrier()
                self.pending.update(dict.fromkeys(found))
                yield code

    def _held_by(self, each: str) -> set[str]:
        """Return the names of the scratch memory that has elements for each of these."""
        if each == "registers":
            return self.in_registers
        return self.by_lane if each == "lane" else self.by_thread

    def _must_wait(self, found: Iterable[Access]) -> bool:
        """Tell whether accesses conflict with those since the last barrier, which then stands in
        front of them.
        """
        waits = any(self._conflict(old, new) for new in found for old in self.pending)
        if waits:
            self.pending.clear()
        return waits

    def _around(self, code: Around | Tile) -> Iterator[Code]:
        """Yield a body with its barriers: of a loop, also between a turn and the next. For what is
        pending before it one stands in front. Where it may not run at all, that still is pending
        behind it.
        """
        before, self.pending = self.pending, {}
        tile = code.loop if isinstance(code, Tile) else None
        code = replace(code, body=tuple(self.body(code.body, tile)))
        record = code.record if isinstance(code, Around) else None
        loop = record if isinstance(record, Loop) else None
        if loop is not None and not are_independent(loop):
            changing = {loop.variable, *made_in(loop.body)}
            apart = loop.variable == self.block.variable
            held = self._held(loop) if apart else None
            self.pending = {
                self._outside(access, changing): None
                for access in self.pending
                if held is None or access.buffer in held
            }
            code = replace(code, body=tuple(self.body(code.body)))
        behind, self.pending = self.pending, before
        if self._must_wait(tuple(self._first(code))):
            yield Barrier()
        if loop is not None and self._runs(loop) and _waits(code.body):
            self.pending = {}
        self.pending = {**self.pending, **behind}
        yield code

    def _runs(self, loop: Loop) -> bool:
        """Tell whether a loop has a turn, whatever the sizes."""
        return has_turns(loop) or (self.block.runs and loop.variable == self.block.variable)

    def _first(self, code: Around | Tile) -> Iterator[Access]:
        """Yield the accesses of a body before its first barrier."""
        tile = code.loop if isinstance(code, Tile) else None
        for inside in code.body:
            if isinstance(inside, Barrier):
                return
            if isinstance(inside, (Around, Tile)):
                yield from self._first(inside)
            else:
                yield from self._named(inside, tile)

    def _held(self, blocks: Loop) -> frozenset[str]:
        """Return the buffers that a block needs of the one before it, by names of the function."""
        held = self.block.own | _added_to(blocks)
        return frozenset(self.block.names.get(name, name) for name in held)

    def _outside(self, access: Access, changing: set[str]) -> Access:
        """Return an access as it is known in the next turn of a loop, in which names have other
        values.
        """
        if access.at is None or not access.at.variables & changing:
            return access
        return replace(access, at=None)

    def _conflict(self, old: Access, new: Access) -> bool:
        """Tell whether one of two accesses, by different threads, may need the other."""
        if not (old.write or new.write) or not self.meet(old.buffer, new.buffer):
            return False
        if not old.threads or old.threads != new.threads:
            return True
        if old.threads == ("first",):
            return False
        if old.columns and old.columns == new.columns:
            return False
        if old.buffer != new.buffer:
            return True
        return old.at is None or old.at != new.at

    def _named(self, code: Code, tile: Loop | None) -> Iterator[Access]:
        """Yield the accesses of code, to scratch memory by names of the whole function."""
        names = self.block.names
        for access in self._accesses(code, tile):
            if access.buffer in self.in_registers:
                continue
            name = names.get(access.buffer, access.buffer)
            if access.buffer in self.by_thread:
                yield Access(name, access.write, ("thread",), columns=("thread", name))
            else:
                yield replace(access, buffer=name)

    # -- who touches what --------------------------------------------------------------------------

    def _accesses(self, code: Code, tile: Loop | None) -> Iterator[Access]:
        if isinstance(code, Everywhere):
            for record in code.records:
                threads = ("first",) if isinstance(record, Store) else ()
                for buffer, write, _ in _touched((record,)):
                    yield Access(buffer, write, threads)
        elif isinstance(code, First):
            for buffer, write, _ in _touched(code.records):
                yield Access(buffer, write, ("first",))
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

    def _of_function(self, record: Invoke) -> Iterator[Access]:
        """Yield the accesses of a function. A tile that it turns it reads row by row; what sorting
        and QR are given is also memory for themselves.
        """
        if record.function == "turned" and record.option["in_step"] == self.lanes:
            (name, begin), rows = record.operands[0], variable(ROW) * self.lanes
            if record.option["columns"] == self.lanes:
                place = begin + rows + variable(LANE)
                yield Access(name, False, ("rows", expression(0)), place)
                yield Access(record.out[0], True)
                return
        for_itself = record.function in ("permutation", "orthogonalize")
        yield from (Access(name, for_itself) for name in reads(record))
        yield from (Access(name, True) for name in writes(record))

    def _of_points(self, loop: Loop) -> Iterator[Access]:
        """Yield the accesses of points: the lanes of a tile that has as many as a sum has parts
        have the same threads.
        """
        if self.lanes == LANES and loop.lower.terms:
            yield from self._of_lanes(Lane(loop.body, by_all=False), loop)
        else:
            yield from (Access(buffer, write) for buffer, write, _ in _touched((loop,)))

    def _of_elements(self, code: Elements) -> Iterator[Access]:
        """Yield the accesses of loops whose turns are dealt to threads by their number."""
        loop, inside, made = code.loop, code.inside, made_in(code.body)
        names = {(inside or loop).variable: variable(LANE)}
        columns, in_a_row = None, ("elements", (expression(0), code.turns))
        if inside is not None:
            names[loop.variable], columns = variable(ROW), width(inside)
        for buffer, write, at in _touched(code.body):
            place = at.substitute(names)
            by_lane, by_row = place.coefficient(LANE), place.coefficient(ROW)
            rest = place - variable(LANE) * by_lane - variable(ROW) * by_row
            threads: tuple[object, ...] = ("elements", loop.range)
            known = bool(by_lane) and not rest.variables & {LANE, ROW, *made}
            if inside is not None:
                known = known and columns is not None and abs(by_row) >= abs(by_lane) * columns
                threads = ("elements", loop.range, inside.range)
                if known and by_row == by_lane * (columns or 0) and _from_0(loop, inside):
                    threads, place = in_a_row, variable(LANE) * by_lane + rest
            yield Access(buffer, write, threads, place) if known else Access(buffer, write)

    def _of_lanes(self, code: Lane, tile: Loop) -> Iterator[Access]:
        """Yield the accesses of lanes: what all threads of a lane read has no thread of its own."""
        made, threads = made_in(code.records), ("lane", tile.lower)
        for buffer, write, at in _touched(code.records):
            place = self._in_tile(buffer, at, tile)
            rest = place - variable(LANE) * place.coefficient(LANE)
            apart = place.coefficient(LANE) and not rest.variables & {LANE, *made}
            columns = self._columns(buffer, at, place, tile)
            if (apart or columns) and (write or not code.by_all):
                yield Access(buffer, write, threads, place if apart else None, columns)
            else:
                yield Access(buffer, write)

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
        for buffer, write, at in _touched(loop.body):
            place = self._in_tile(buffer, at, tile).substitute({loop.variable: variable(ROW)})
            by_lane, by_row = place.coefficient(LANE), place.coefficient(ROW)
            rest = place - variable(LANE) * by_lane - variable(ROW) * by_row
            apart = abs(by_row) >= abs(by_lane) * self.lanes or (
                rows is not None and abs(by_lane) >= abs(by_row) * rows
            )
            if by_lane and by_row and apart and not rest.variables & {LANE, ROW, *made}:
                yield Access(buffer, write, ("rows", loop.lower), place)
            else:
                yield Access(buffer, write)

    def _in_tile(self, buffer: str, at: Expression, tile: Loop) -> Expression:
        place = at.substitute({tile.variable: tile.lower + variable(LANE)})
        return place * self.lanes + variable(LANE) if buffer in self.by_lane else place


INSIDE = {"permutation": 90, DEALT: 22, SORTED: 68, "orthogonalize": 100}
"""About how many barriers a function of a block has inside: sorting of some thousand words, sums
over 1,024 threads, QR of a few columns.
"""


def passed(codes: Sequence[Code]) -> Expression:
    """Return about how many barriers a block passes: as if loops were as long as they can be."""
    total = expression(0)
    for code in codes:
        if isinstance(code, Barrier):
            total = total + 1
        elif isinstance(code, Together):
            total = total + INSIDE.get(code.record.function, 0)
        elif isinstance(code, (Around, Tile)):
            inside = passed(code.body)
            record = code.record if isinstance(code, Around) else None
            if isinstance(record, Loop):
                ranges = {record.variable: (record.lower, record.upper - 1)}
                inside = greatest(inside, ranges) * (record.upper - record.lower)
            total = total + inside
    return total


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


def _added_to(loop: Loop) -> frozenset[str]:
    """Return the buffers to whose elements is added."""
    inside = tuple(walk(loop.body))
    stored = {r.buffer for r in inside if isinstance(r, Store) and r.operation}
    return frozenset(stored | {r.out[0] for r in inside if isinstance(r, Invoke)})


def _waits(codes: Sequence[Code]) -> bool:
    """Tell whether there is a barrier that does not stand in a body inside."""
    return any(isinstance(code, Barrier) for code in codes)


def _touched(records: Sequence[KernelRecord]) -> Iterator[tuple[str, bool, Expression]]:
    """Yield each buffer that records touch, whether they write it, and the place."""
    for record in walk(tuple(records)):
        for load in loads(record):
            yield load.buffer, False, load.at
        if isinstance(record, Store):
            yield record.buffer, True, record.at
