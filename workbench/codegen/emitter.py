"""A kernel under construction: nested bodies of records, and names that nothing else has."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from workbench.codegen.kernel_records import (
    Compute,
    Invoke,
    KernelRecord,
    Leave,
    Let,
    Local,
    Loop,
    Number,
    Position,
    Scratch,
    Table,
    Update,
    Value,
    Where,
)
from workbench.lowering.instances.guards import OpenStep
from workbench.names import unique
from workbench.polyhedral.conditions import Condition
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock

Index = tuple[Expression, ...]
"""A position in an inner shape."""

Element = tuple[str, Expression]
"""A buffer and a place in it."""

UNROLLED = 16
"""The longest inner axis that is written out."""

WRITTEN_OUT = 32
"""The most positions of a shape that are written out one by one."""


@dataclass(frozen=True)
class InBlock:
    """A value in all lanes of one block, in memory with these lanes innermost, from `begin` on.

    `sources` are the buffers that it was gathered from.
    """

    buffer: str
    block: AxisBlock
    sources: frozenset[str] = frozenset()
    begin: Expression = field(default_factory=lambda: expression(0))

    def address(self, inner: Expression, place: Mapping[str, Expression]) -> Expression:
        """Return the place of an element of the inner shape, in the lane that `place` gives."""
        block = self.block
        lane = place[block.dim] + block.shift - place[block.number] * block.size
        return self.begin + inner * block.size + lane


class Asked(set[str]):
    """Names that are taken. `asked` are all that were asked for: what is taken beside these makes
    no difference to what was given.
    """

    def __init__(self, taken: Set[str]) -> None:
        super().__init__(taken)
        self.asked = set[str]()

    def __contains__(self, name: object) -> bool:
        assert isinstance(name, str)
        self.asked.add(name)
        return super().__contains__(name)


class Emitter:
    """The records written so far. `taken` are the names that the kernel may not use."""

    def __init__(self, taken: Set[str]) -> None:
        self.taken = Asked(taken)
        self.tables: list[Table] = []
        self.lane = ""
        """The variable of the loop of lanes around what is written now, if there is one."""
        self.remembers = False
        """True where what is written now runs in a row: in one turn of the lanes, or in one
        instance behind another.
        """
        self.known: dict[Element, Value] = {}
        """The values of elements that were stored or loaded in this row."""
        self._made: dict[Hashable, Expression] = {}
        self.turned: dict[Element, str] = {}
        """The scratch memory that has a tile turned, by the tile's buffer and first element."""
        self.gathered: dict[Hashable, InBlock] = {}
        """What was gathered for a whole block, by the read, the lanes and the place around."""
        self._turned_here: dict[Element, tuple[str, Expression]] = {}
        """The memory of those that were turned in this body, and how many elements it has."""
        self._free: dict[tuple[str, Expression], list[str]] = {}
        """Memory that was given back in this body, by dtype and elements."""
        self._overwritten: set[Element] = set()
        self._bodies: list[list[KernelRecord]] = [[]]

    def trial(self) -> Emitter:
        """Return an emitter for what is written to see how it would be, with names as here."""
        trial = Emitter(self.taken)
        trial.taken.asked = self.taken.asked
        return trial

    @property
    def records(self) -> tuple[KernelRecord, ...]:
        """The records of the whole kernel."""
        (records,) = self._bodies
        return tuple(records)

    def add(self, record: KernelRecord) -> None:
        """Write a record."""
        self._bodies[-1].append(record)

    def name(self, wish: str) -> str:
        """Return a new name like the wish."""
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in wish) or "x"
        if plain[0].isdigit() or keyword.iskeyword(plain):
            plain = f"x{plain}"
        return unique(plain, self.taken)

    def let(self, wish: str, value: Value) -> Value:
        """Name a value, unless it is a number, a position or a name already."""
        if isinstance(value, (Number, Position, Local)):
            return value
        name = self.name(wish)
        self.add(Let(name, value))
        return Local(name, value.dtype)

    def scratch(self, wish: str, dtype: str, elements: Expression) -> str:
        """Ask for memory; return its name."""
        name = self.name(wish)
        self.add(Scratch(name, dtype, elements))
        return name

    def table(self, wish: str, dtype: str, values: tuple[Any, ...]) -> str:
        """Ask for constant numbers; return their name."""
        for table in self.tables:
            if (table.dtype, table.values) == (dtype, values):
                return table.name
        name = self.name(wish)
        self.tables.append(Table(name, dtype, values))
        return name

    def borrow(self, wish: str, dtype: str, elements: Expression) -> str:
        """Ask for memory that may be given back, in the same body."""
        free = self._free.get((dtype, elements))
        return free.pop() if free else self.scratch(wish, dtype, elements)

    def give_back(self, name: str, dtype: str, elements: Expression) -> None:
        """Let memory be borrowed again."""
        self._free.setdefault((dtype, elements), []).append(name)

    def turn(self, tile: Element, rows: Expression, columns: Expression) -> None:
        """Turn a tile, unless it is there turned."""
        if tile in self.turned:
            return
        self.keep_turned([other for other in self._turned_here if other != tile])
        elements = rows * columns
        name = self.borrow("turned", "float", elements)
        self.add(turning(tile, columns, (name, expression(0)), rows, rows, columns))
        self.turned[tile] = name
        self._turned_here[tile] = name, elements

    def keep_turned(self, tiles: Collection[Element]) -> None:
        """Let the memory of tiles that were turned in this body be used again, but for these."""
        for tile in [t for t in self._turned_here if t not in tiles]:
            name, elements = self._turned_here.pop(tile)
            self.turned.pop(tile, None)
            self.give_back(name, "float", elements)

    @contextmanager
    def loop(
        self, wish: str, lower: Expression, upper: Expression, lanes: bool = False, own: str = ""
    ) -> Iterator[Expression]:
        """Write a loop around what is written inside; give its variable. Each turn has elements of
        its `own` in that buffer.
        """
        name, remembers = self.name(wish), self.remembers
        self.lane = name if lanes else self.lane
        self.remembers = remembers or lanes
        with self._body() as body:
            yield variable(name)
        self.lane = "" if lanes else self.lane
        self.remembers = remembers
        self.add(Loop(name, lower, upper, tuple(body), lanes, own=own))

    @contextmanager
    def row(self) -> Iterator[None]:
        """Write what runs in a row: an element that was stored or loaded is known behind it."""
        self.remembers = True
        with self._body() as body:
            yield
        self.remembers = False
        for record in body:
            self.add(record)

    @contextmanager
    def around(
        self,
        name: str,
        lower: Expression,
        upper: Expression,
        backwards: bool,
        step: OpenStep | None = None,
        begin: str = "",
    ) -> Iterator[None]:
        """Write a loop of the program, whose variable has its name already. A run may end in it:
        one block may take long. `step` and `begin` as a loop has them.
        """
        with self._body() as body:
            yield
        loop = Loop(name, lower, upper, tuple(body), False, backwards, True, step, begin)
        self.add(loop)

    def leave(self, condition: Condition, turn: Expression, left: str) -> None:
        """Write that the loop around ends in a turn where a condition holds. The local `left` has
        that turn then; "" where nobody asks.
        """
        with self.where(condition):
            if left:
                self.add(Update(left, Position(turn, "int64")))
            self.add(Leave())

    @contextmanager
    def where(self, condition: Condition, step: OpenStep | None = None) -> Iterator[None]:
        """Write a condition around what is written inside; `step`: that a step is open."""
        with self._body() as body:
            yield
        self.add(Where(condition, tuple(body), step))

    @contextmanager
    def _body(self) -> Iterator[list[KernelRecord]]:
        """Write into a body of its own. What it makes known is not known behind it, and what it
        stores is not known any more.
        """
        known, made, overwritten = dict(self.known), dict(self._made), self._overwritten
        turned, gathered, free = dict(self.turned), dict(self.gathered), self._free
        turned_here, self._turned_here = self._turned_here, {}
        self._free = {}
        self._overwritten = set()
        self._bodies.append([])
        yield self._bodies[-1]
        self._bodies.pop()
        self.known, self._made = known, made
        self.turned, self.gathered, self._free = turned, gathered, free
        self._turned_here = turned_here
        inside, self._overwritten = self._overwritten, overwritten
        for buffer, at in inside:
            self.forget(buffer, at)

    # -- elements that are known -------------------------------------------------------------------

    def remember(self, buffer: str, at: Expression, value: Value) -> None:
        """Remember the value of an element, while the row goes on."""
        if self.remembers:
            self.known[buffer, at] = value

    def forget(self, buffer: str, at: Expression) -> None:
        """Forget the values of a buffer's elements that may be the one at a place."""
        self._overwritten.add((buffer, at))
        self.known = {k: v for k, v in self.known.items() if not _may_be(k, (buffer, at))}
        self.turned = {k: v for k, v in self.turned.items() if k[0] != buffer}
        self.gathered = {k: v for k, v in self.gathered.items() if buffer not in v.sources}

    def once(self, key: Hashable, make: Callable[[], Expression]) -> Expression:
        """Return what was made under a key in this row, made now if it was not."""
        if not self.remembers:
            return make()
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def each(
        self,
        shape: Sequence[Expression],
        visit: Callable[[Index], None],
        lanes: bool = False,
        letters: Sequence[str] = "",
    ) -> None:
        """Visit every position of an inner shape.

        Short axes at the end are written out, the others are loops. With `lanes` the last axis is
        that of the lanes if it is a loop.
        """
        looped = len(shape)
        written_out = 1
        while looped and _short(shape[looped - 1]):
            written_out *= shape[looped - 1].constant
            if written_out > WRITTEN_OUT:
                break
            looped -= 1

        def visit_from(k: int, before: Index) -> None:
            if k == len(shape):
                visit(before)
            elif k < looped:
                last = k == looped - 1 == len(shape) - 1
                with self.loop(
                    letters[k] if letters else f"i{k}", expression(0), shape[k], lanes and last
                ) as i:
                    visit_from(k + 1, (*before, i))
            else:
                for i_written in range(shape[k].constant):
                    visit_from(k + 1, (*before, expression(i_written)))

        visit_from(0, ())


def turning(
    source: Element,
    in_step: Expression,
    to: Element,
    out_step: Expression,
    rows: Expression,
    columns: Expression,
) -> Invoke:
    """Return the call that turns a matrix, whose rows are so far apart on either side."""
    options = (("in_step", in_step), ("out_step", out_step), ("rows", rows), ("columns", columns))
    return Invoke("turned", to, (source,), options)


def _may_be(one: Element, other: Element) -> bool:
    """Tell whether two elements may be the same."""
    if one[0] != other[0]:
        return False
    apart = one[1] - other[1]
    return bool(apart.terms) or not apart.constant


def _short(n: Expression) -> bool:
    return not n.terms and n.constant <= UNROLLED


def cast(value: Value, dtype: str) -> Value:
    """Return the value in another dtype."""
    if value.dtype == dtype:
        return value
    if isinstance(value, Number):
        return Number({"float": float, "bool": bool}.get(dtype, int)(value.value), dtype)
    if isinstance(value, Position) and dtype in ("int32", "int64"):
        return Position(value.expression, dtype)
    return Compute("cast", (value,), dtype)


def both(left: Value, right: Value) -> Value:
    """Return whether both of two values hold."""
    return Compute("logical_and", (left, right), "bool")


def total(shape: Sequence[Expression]) -> Expression:
    """Return the number of positions of a shape."""
    product = expression(1)
    for n in shape:
        product = product * n
    return product


def flat(index: Sequence[Expression], shape: Sequence[Expression]) -> Expression:
    """Return the place of a position among all of a shape, the last axis innermost."""
    place = expression(0)
    for i, n in zip(index, shape, strict=True):
        place = place * n + i
    return place


def unflat(place: Expression, shape: Sequence[Expression]) -> Index:
    """Return the position at a place among all of a shape."""
    index: list[Expression] = []
    for k, n in reversed(list(enumerate(shape))):
        index.append(place if k == 0 else place % n)
        place = place // n
    return tuple(reversed(index))
