"""The value of a body at one position of its inner shape.

A body is a tensor that is never made: a position is asked for, and its value is written down in
terms of positions of the operands. Operations that only move elements cost nothing that way. What
is computed once and needed at several positions is kept: in locals if it is small, else in scratch
memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from workbench.codegen.bodies.addresses import address, apart, outside, tile_begin
from workbench.codegen.bodies.checked_indices import CHECKED, check_gather
from workbench.codegen.bodies.kept_bodies import (
    CHECKS,
    Kept,
    factors_read,
    fits_in_locals,
    heavy,
    worth_keeping,
)
from workbench.codegen.bodies.matrix_buffers import BUFFERS
from workbench.codegen.bodies.position_rules import RULES, unrepeated_position
from workbench.codegen.bodies.position_visits import VISITS, ValueVisit
from workbench.codegen.emitter import (
    Emitter,
    InBlock,
    Index,
    both,
    cast,
    flat,
    total,
)
from workbench.codegen.kernel_records import (
    Compute,
    Holds,
    Invoke,
    Load,
    Local,
    Number,
    Position,
    Prefetch,
    Require,
    Store,
    Value,
)
from workbench.errors import ProgramError
from workbench.lowering.instances.linearize import operand_dtype
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.numbering import numbered
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import Expression, expression, size, variable
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read, reads
from workbench.program.operations.table import OPERATIONS, operand_dtypes
from workbench.program.values import Statement


class Bodies:
    """The bodies of one statement's instance. `place` gives its dims over the kernel's variables.

    `lanes`: loops over inner axes may be the kernel's lanes, as no loop around is.
    """

    def __init__(
        self,
        out: Emitter,
        statement: Statement,
        place: Mapping[str, Expression],
        stored: Mapping[str, Stored],
        lanes: bool,
        in_block: Mapping[Body, InBlock] | None = None,
    ) -> None:
        self.out = out
        self.statement = statement
        self.place = dict(place)
        self.stored = stored
        self.lanes = lanes
        self.in_block = in_block or {}
        """The bodies whose values were computed for the whole block."""
        self.numbering = numbered(statement.body)
        self.kept: dict[int, Kept] = {}
        """The kept values of bodies, by their numbers."""
        self.entries: dict[int, tuple[Kept, ...]] = {}
        """The indices of a lookup or an update of a table, by its number: inside the table."""
        self.indexed: dict[tuple[int, int], Expression] = {}
        """The data-dependent indices of a read, by its number and the dimension's position."""
        self._tables: dict[int, str] = {}
        self._wanted = worth_keeping(self.numbering)
        self._spread = frozenset() if lanes else self._spread_out()

    def placed(self, e: Expression) -> Expression:
        """Return an expression over dimensions as one over the kernel's variables."""
        return e.substitute(self.place)

    def require(
        self, kind: str, value: Value, numbers: tuple[Value, ...] = (), **options: str
    ) -> None:
        """Write a check of this instance."""
        instance = tuple((d, self.placed(variable(d))) for d in self.statement.dims)
        name = self.statement.name
        self.out.add(Require(kind, value, numbers, tuple(options.items()), instance, name))

    # -- what is kept ------------------------------------------------------------------------------

    @property
    def keeps(self) -> bool:
        """Tell whether anything is computed before the body's own positions."""
        root = self.numbering.bodies[self.numbering.root]
        return bool(self._wanted - {self.numbering.root}) or (
            isinstance(root, Call) and heavy(root)
        )

    def prepare(self) -> None:
        """Compute what the body needs at several positions, operands before what needs them."""
        for number, body in enumerate(self.numbering.bodies):
            if body in self.in_block:
                continue
            if isinstance(body, Read):
                check_gather(self, number, body)
            elif isinstance(body, Call):
                if body.operation in CHECKED:  # first: what is looked up needs its indices
                    CHECKED[body.operation](self, number, body)
                if number in self._wanted and number != self.numbering.root:
                    self._keep(number, body)
            if number in self._spread:
                self._keep_elements(number, body, "operand")

    def check(self, read: Read) -> None:
        """Check the indices of one read, and of those in them."""
        for part in reads(read):
            check_gather(self, self.numbering[part], part)

    def _spread_out(self) -> frozenset[int]:
        """Return the reads whose lanes may lie apart in memory, and are used again and again."""
        reads = ((n, self.numbering.bodies[n]) for n in factors_read(self.numbering))
        return frozenset(n for n, body in reads if isinstance(body, Read) and self._moves(body))

    def _moves(self, body: Read) -> bool:
        """Tell whether the lanes of a read are at several places, and not neighbours."""
        around, stored = self.out.lane, self.stored[body.array]
        if isinstance(stored, TileStored) and body.index[stored.lanes] in self._own_lane:
            return False
        return bool(around) and any(
            not isinstance(e, Expression) or around in self.placed(e).variables for e in body.index
        )

    @property
    def _own_lane(self) -> tuple[Expression, ...]:
        """The dimensions that are the lane around."""
        return tuple(variable(d) for d, e in self.place.items() if e == variable(self.out.lane))

    def _keep(self, number: int, body: Call) -> None:
        wish, shape = OPERATIONS[body.operation].noun or body.operation, symbolic(body.shape)
        if body.operation in BUFFERS:
            made = BUFFERS[body.operation](self, body)
            self.kept[number] = Kept(shape, body.dtype, buffer=made)
            return
        if body.operation != "orthogonalize":
            self._keep_elements(number, body, wish)
            return
        buffer = self.out.scratch(wish, body.dtype, total(shape))
        self.orthogonalize(body, buffer, expression(0))
        self.kept[number] = Kept(shape, body.dtype, buffer=buffer)

    def _keep_elements(self, number: int, body: Body, wish: str) -> None:
        """Keep every element: in locals, or in memory in which lanes are neighbours."""
        shape = symbolic(body.shape)
        if not fits_in_locals(total(shape)):
            buffer = self._copied(body, wish)
            self.kept[number] = Kept(shape, body.dtype, buffer=buffer)
            return
        values: dict[tuple[int, ...], Value] = {}

        def visit(index: Index, value: Value) -> None:
            assert not any(i.terms for i in index), "a local is at one position"
            values[tuple(i.constant for i in index)] = self.out.let(wish, value)

        self.positions(body, visit)
        self.kept[number] = Kept(shape, body.dtype, values)

    def keep(self, body: Body) -> None:
        """Compute every element of a body before any of them is asked for."""
        self._keep_elements(self.numbering[body], body, "before")

    def _copied(self, body: Body, wish: str) -> str:
        """Return a new buffer that holds all of a body, in order."""
        shape = symbolic(body.shape)
        buffer = self.out.scratch(wish, body.dtype, total(shape))
        self.positions(body, lambda i, v: self.out.add(Store(buffer, flat(i, shape), v)))
        return buffer

    def whole(self, body: Body) -> str:
        """Return a buffer that holds all of a body, in order."""
        kept = self.kept.get(self.numbering[body])
        return kept.buffer if kept is not None and kept.buffer else self._copied(body, "operand")

    def orthogonalize(self, body: Call, buffer: str, at: Expression) -> None:
        """Write the call that makes a matrix orthogonal, into a buffer from a place on."""
        operand = self.whole(body.arguments[0])
        rows, columns = symbolic(body.shape)
        # doubles, whatever the run's dtype
        spare = self.out.scratch("spare", "double", rows * columns * 2 + rows + columns)
        operands = ((operand, expression(0)), (spare, expression(0)))
        options = (("rows", rows), ("columns", columns))
        self.out.add(Invoke("orthogonalize", (buffer, at), operands, options))

    # -- values ------------------------------------------------------------------------------------

    def positions(self, body: Body, visit: ValueVisit, lanes: bool | None = None) -> None:
        """Visit every position of a body with its value there, in its operation's own order."""
        lanes = self.lanes if lanes is None else lanes
        kept = self.numbering[body] in self.kept or body in self.in_block
        if isinstance(body, Call) and body.operation in VISITS and not kept:
            VISITS[body.operation](self, body, visit, lanes)
            return
        if isinstance(body, Call) and body.operation in BUFFERS and not kept:
            self._keep(self.numbering[body], body)
        shape = symbolic(body.shape)
        self.out.each(shape, lambda index: visit(index, self.value(body, index)), lanes)

    def value(self, body: Body, index: Index) -> Value:
        """Return the value at a position; may write records that compute it."""
        number = self.numbering[body]
        if number in self.kept:
            return self._kept_at(self.kept[number], index)
        if body in self.in_block:
            tile, inner = self.in_block[body], flat(index, symbolic(body.shape))
            return Load(tile.buffer, tile.address(inner, self.place), body.dtype)
        if isinstance(body, Literal):
            return self._literal(body, index)
        if isinstance(body, IndexValue):
            return Position(self.placed(body.expression), body.dtype)
        if isinstance(body, Read):
            return self.read(number, body, flat(index, symbolic(body.shape)))
        return self._call(body, index)

    def _kept_at(self, kept: Kept, index: Index) -> Value:
        if kept.buffer:
            return Load(kept.buffer, flat(index, kept.shape), kept.dtype)
        if not any(i.terms for i in index):
            return kept.locals[tuple(i.constant for i in index)]
        (_, value), *rest = kept.locals.items()
        for at, other in rest:
            here: list[Value] = [
                Holds(AffineComparison(i, "==", expression(n)))
                for i, n in zip(index, at, strict=True)
                if i.terms
            ]
            if all(i.terms or i.constant == n for i, n in zip(index, at, strict=True)):
                chosen = reduce(both, here[1:], here[0])
                value = Compute("where", (chosen, other, value), kept.dtype)
        return value

    def entry(self, body: Call, index: Index) -> tuple[Value, ...]:
        """Return the indices of a lookup or an update at a position of these."""
        kept = self.entries[self.numbering[body]]
        return tuple(self._kept_at(one, index) for one in kept)

    def _literal(self, body: Literal, index: Index) -> Value:
        value = body.value
        if all(not i.terms for i in index):
            for i in index:
                value = value[i.constant]
            return Number(value, body.dtype)
        number = self.numbering[body]
        if number not in self._tables:
            values = tuple(_flattened(value))
            self._tables[number] = self.out.table("constant", body.dtype, values)
        return Load(self._tables[number], flat(index, symbolic(body.shape)), body.dtype)

    def read(self, number: int, body: Read, inner: Expression) -> Value:
        """Return the value of a read at a place of its inner shape."""
        stored = self.stored[body.array]
        index = tuple(
            self.placed(e) if isinstance(e, Expression) else self.indexed[number, k]
            for k, e in enumerate(body.index)
        )
        if isinstance(stored, TileStored) and self.out.turned:
            begin, lane = tile_begin(stored, index, self.place)
            name = self.out.turned.get((stored.buffer.name, begin))
            if name is not None:
                at = lane * total(symbolic(body.shape)) + inner
                return cast(Load(name, at, stored.array.dtype), body.dtype)
        place = address(stored, index, inner, self.place)
        buffer = stored.buffer.name
        known = self.out.known.get((buffer, place))
        if known is None:
            known = Load(buffer, place, stored.array.dtype)
            if self.out.remembers:
                known = self.out.let(body.array, known)
                self.out.remember(buffer, place, known)
        return cast(known, body.dtype)

    def prefetch(self, body: Read) -> Prefetch:
        """Return the hint that a read's first element is read soon. Its indices are not checked."""
        index = []
        for entry in body.index:
            if isinstance(entry, Expression):
                index.append(self.placed(entry))
                continue
            value = self.out.let("ahead", self.value(entry, ()))
            assert isinstance(value, Local), "a number that data gives"
            index.append(variable(value.name))
        stored = self.stored[body.array]
        return Prefetch(stored.buffer.name, address(stored, index, expression(0), self.place))

    def operand(self, body: Call, k: int, index: Index) -> Value:
        """Return operand k at a position of an elementwise result, in the dtype it is used in."""
        row = OPERATIONS[body.operation]
        argument = body.arguments[k]
        if row.ufunc is not None:
            dtype = operand_dtype(body)
        else:
            dtypes = [a.dtype for a in body.arguments]
            dtype = operand_dtypes(body.operation, dtypes, body.dtype)[k]
        return cast(self.value(argument, unrepeated_position(index, argument)), dtype)

    def _call(self, body: Call, index: Index) -> Value:
        operation, row = body.operation, OPERATIONS[body.operation]
        if operation in RULES:
            return RULES[operation](self, body, index)
        if operation in VISITS or operation in BUFFERS or operation == "orthogonalize":
            self._keep(self.numbering[body], body)
            return self.value(body, index)
        if row.given:
            return self._given(body, index)
        if operation in CHECKS:
            return self.operand(body, 0, index)
        if operation == "cast":
            return cast(self.value(body.arguments[0], index), body.dtype)
        if row.elementwise:
            values = tuple(self.operand(body, k, index) for k in range(len(body.arguments)))
            return Compute(operation, values, body.dtype)
        if operation == "stop_gradient":
            return self.value(body.arguments[0], index)
        raise ProgramError(f"compiled kernels have no operation {operation}", self.statement.line)

    def _given(self, body: Call, index: Index) -> Value:
        """Return a value from outside."""
        place = flat(index, symbolic(body.shape))
        for d, step in zip(body.options["dims"], apart(body), strict=True):
            place = place + self.placed(variable(d)) * size(step)
        return Load(outside(body), place, body.dtype)


def _flattened(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [x for part in value for x in _flattened(part)]
    return [value]
