"""The value of a body at one position of its inner shape.

A body is a tensor that is never made: a position is asked for, and its value is written down in
terms of positions of the operands. Operations that only move elements cost nothing that way. What
is computed once and needed at several positions is kept: in locals if it is small, else in scratch
memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from workbench.codegen.kernel_records import (
    Compute,
    Draw,
    Holds,
    Invoke,
    Let,
    Load,
    Local,
    Number,
    Position,
    Require,
    Store,
    Table,
    Update,
    Value,
    Variable,
)
from workbench.codegen.writing.addresses import address, apart, outside, tile_begin
from workbench.codegen.writing.emitter import Emitter, Index, cast, flat, total, unflat
from workbench.errors import ProgramError
from workbench.lowering.instances.linearize import operand_dtype
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.numbering import Numbering
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import Expression, expression, size, variable
from workbench.program.operations.table import COMBINES, OPERATIONS, operand_dtypes
from workbench.program.values import Body, Call, IndexValue, Literal, Read, Statement

LOCALS = 16
"""The most elements of a kept value that are locals."""

BLOCK = 8
"""The results of a contraction that are summed at once, in a local each."""

REDUCING = frozenset((*COMBINES, "argmax", "argmin"))
POSITIONS = {"argmax": "greater", "argmin": "less"}
MOVING = frozenset(("slice", "reshape", "transpose", "broadcast", "cast"))
PARTS = frozenset(("stack", "concatenate", "pad"))
WORDS = 4


@dataclass(frozen=True)
class Kept:
    """A value that was computed before: in locals by position, or in a buffer."""

    shape: tuple[Expression, ...]
    dtype: str
    locals: Mapping[tuple[int, ...], Value] = field(default_factory=dict)
    buffer: str = ""


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
    ) -> None:
        self.out = out
        self.statement = statement
        self.place = dict(place)
        self.stored = stored
        self.lanes = lanes
        self.numbering = Numbering(statement.body)
        self.kept: dict[int, Kept] = {}
        self._indexed: dict[tuple[int, int], Expression] = {}
        self._tables: dict[int, str] = {}
        self._wanted = self._worth_keeping()
        self._spread = () if lanes else self._spread_out()

    def placed(self, e: Expression) -> Expression:
        """Return an expression over dimensions as one over the kernel's variables."""
        return e.substitute(self.place)

    # -- what is kept ------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compute what the body needs at several positions, operands before what needs them."""
        for number, body in enumerate(self.numbering.bodies):
            if isinstance(body, Read):
                self._prepare_gather(number, body)
            elif number in self._wanted and number != self.numbering.root:
                assert isinstance(body, Call)
                self._keep(number, body)
            if number in self._spread:
                self._bring(number, body)
            if isinstance(body, Call) and body.operation in ("within", "possible", "take"):
                self._check(number, body)

    def _worth_keeping(self) -> set[int]:
        """Return the numbers of the bodies that are computed once and kept."""
        wanted: set[int] = set()
        bodies, children = self.numbering.bodies, self.numbering.children
        for number, body in enumerate(bodies):
            if isinstance(body, Read):
                wanted.update(children[number])  # its indices
            if not isinstance(body, Call):
                continue
            if self._heavy(body) or (self.numbering.uses[number] > 1 and not self._free(number)):
                wanted.add(number)
            for child, argument in zip(children[number], body.arguments, strict=True):
                if not self._free(child) and self._repeats(body, argument):
                    wanted.add(child)
            if body.operation in ("take", "within", "possible"):
                wanted.update(children[number])
            if body.operation in ("within", "possible"):
                wanted.add(number)
        return {n for n in wanted if isinstance(bodies[n], Call)}

    def _spread_out(self) -> frozenset[int]:
        """Return the reads whose lanes may lie apart in memory, and are used again and again."""
        reads: set[int] = set()
        for number, body in enumerate(self.numbering.bodies):
            if isinstance(body, Call) and body.operation == "contract":
                reads.update(self._reads_below(number))
        return frozenset(reads)

    def _reads_below(self, number: int) -> Iterator[int]:
        for child in self.numbering.children[number]:
            body = self.numbering.bodies[child]
            if isinstance(body, Read) and self._moves(body):
                yield child
            elif self._free(child):
                yield from self._reads_below(child)

    def _moves(self, body: Read) -> bool:
        """Tell whether the lanes of a read are at several places."""
        around = self.out.lane
        return bool(around) and any(
            not isinstance(e, Expression) or around in self.placed(e).variables for e in body.index
        )

    def _shape(self, number: int) -> tuple[Expression, ...]:
        return symbolic(self.numbering.bodies[number].shape)

    def _bring(self, number: int, body: Body) -> None:
        """Copy what lanes read to memory in which they are neighbours."""
        shape = symbolic(body.shape)
        if _fits(total(shape)):
            values: dict[tuple[int, ...], Value] = {}

            def visit(index: Index, value: Value) -> None:
                values[tuple(i.constant for i in index)] = self.out.let("operand", value)

            self.positions(body, visit)
            self.kept[number] = Kept(shape, body.dtype, values)
            return
        buffer = self.out.scratch("operand", body.dtype, total(shape))
        self.positions(body, lambda i, v: self.out.add(Store(buffer, flat(i, shape), v)))
        self.kept[number] = Kept(shape, body.dtype, buffer=buffer)

    def _free(self, number: int) -> bool:
        """Tell whether a body costs nothing wherever it is asked for."""
        body = self.numbering.bodies[number]
        if not isinstance(body, Call):
            return True
        return body.operation in MOVING and all(
            self._free(child) for child in self.numbering.children[number]
        )

    def _heavy(self, body: Call) -> bool:
        """Tell whether one position of a body takes a loop, or more than one operation."""
        if body.operation == "contract":
            return bool(_summed(body))
        row = OPERATIONS[body.operation]
        return body.operation in (*REDUCING, *PARTS, "cumsum", "orthogonalize") or row.random

    def _repeats(self, body: Call, argument: Body) -> bool:
        """Tell whether an operand's position is needed at several positions of the result."""
        if body.operation == "contract":
            return True
        if OPERATIONS[body.operation].elementwise or body.operation == "broadcast":
            return total(symbolic(argument.shape)) != total(symbolic(body.shape))
        return False

    def _keep(self, number: int, body: Call) -> None:
        shape = symbolic(body.shape)
        elements = total(shape)
        if body.operation == "orthogonalize" or not _fits(elements):
            buffer = self.out.scratch(_wish(body), body.dtype, elements)
            self._into_buffer(body, buffer)
            self.kept[number] = Kept(shape, body.dtype, buffer=buffer)
            return
        values: dict[tuple[int, ...], Value] = {}

        def visit(index: Index, value: Value) -> None:
            values[tuple(i.constant for i in index)] = self.out.let(_wish(body), value)

        self.positions(body, visit)
        self.kept[number] = Kept(shape, body.dtype, values)

    def _into_buffer(self, body: Call, buffer: str) -> None:
        shape = symbolic(body.shape)
        if body.operation == "orthogonalize":
            self.orthogonalize(body, buffer, expression(0))
            return
        self.positions(body, lambda i, v: self.out.add(Store(buffer, flat(i, shape), v)))

    def orthogonalize(self, body: Call, buffer: str, at: Expression) -> None:
        """Write the call that makes a matrix orthogonal, into a buffer from a place on."""
        operand = self.whole(body.arguments[0])
        rows, columns = symbolic(body.shape)
        # doubles, whatever the run's dtype
        spare = self.out.scratch("spare", "double", rows * columns * 2 + rows + columns)
        operands = ((operand, expression(0)), (spare, expression(0)))
        options = (("rows", rows), ("columns", columns))
        self.out.add(Invoke("orthogonalize", (buffer, at), operands, options))

    def whole(self, body: Body) -> str:
        """Return a buffer that holds all of a body, in order."""
        kept = self.kept.get(self.numbering[body])
        if kept is not None and kept.buffer:
            return kept.buffer
        shape = symbolic(body.shape)
        buffer = self.out.scratch("operand", body.dtype, total(shape))
        self.positions(body, lambda i, v: self.out.add(Store(buffer, flat(i, shape), v)))
        return buffer

    def _prepare_gather(self, number: int, body: Read) -> None:
        """Check the data-dependent indices of a read, and keep them inside the array."""
        stored = self.stored[body.array]
        for position, entry in enumerate(body.index):
            if isinstance(entry, Expression):
                continue
            value = self.value(entry, ())
            lower, upper = stored.array.extent[position]
            self._indexed[number, position] = self._inside(
                value, lower, upper, array=body.array, dim=stored.array.dims[position]
            )

    def _inside(
        self, value: Value, lower: Expression, upper: Expression, **options: str
    ) -> Expression:
        """Return an index, which is checked, held within its bounds."""
        key = (value, lower, upper, tuple(options.items()))
        return self.out.once(key, lambda: self._held_inside(value, lower, upper, **options))

    def _held_inside(
        self, value: Value, lower: Expression, upper: Expression, **options: str
    ) -> Expression:
        value = self.out.let("index", value)
        if isinstance(value, Position):
            name = self.out.name("index")
            self.out.add(Let(name, value))
            value = Local(name, value.dtype)
        bounds = tuple(Position(e, value.dtype) for e in (lower, upper - 1))
        least, most = bounds
        inside = _both(
            Compute("greater_equal", (value, least), "bool"),
            Compute("less_equal", (value, most), "bool"),
        )
        numbers = (value, Position(lower), Position(upper))
        self.require("index", inside, numbers, **options)
        held = Compute(
            "minimum", (Compute("maximum", (value, least), value.dtype), most), value.dtype
        )
        name = self.out.name("inside")
        self.out.add(Let(name, held))
        return variable(name)

    def require(
        self, kind: str, value: Value, numbers: tuple[Value, ...] = (), **options: str
    ) -> None:
        """Write a check of this instance."""
        instance = tuple((d, self.placed(variable(d))) for d in self.statement.dims)
        name = self.statement.name
        self.out.add(Require(kind, value, numbers, tuple(options.items()), instance, name))

    def _check(self, number: int, body: Call) -> None:
        """Write the checks of an operation that has some, at every position."""
        if body.operation == "take":
            self._prepare_take(number, body)
            return

        def visit(index: Index) -> None:
            first, *rest = (self._at(body, k, index) for k in range(len(body.arguments)))
            if body.operation == "possible":
                low = Number(-float("inf"), "float")
                possible = Compute("not_equal", (first, low), "bool")
                self.require("possible", possible)
                return
            lower, upper = rest
            inside = _both(
                Compute("greater_equal", (first, lower), "bool"),
                Compute("less", (first, upper), "bool"),
            )
            self.require("within", inside, (first, lower, upper))

        self.out.each(symbolic(body.shape), visit)

    def _prepare_take(self, number: int, body: Call) -> None:
        """Check the rows that are taken, and keep their numbers inside the table."""
        table, rows = body.arguments
        upper = symbolic(table.shape)[0]
        name = table.array if isinstance(table, Read) else "a tensor"
        if not self._free(self.numbering[table]):
            self._rows(table)
        values: dict[tuple[int, ...], Value] = {}
        shape = symbolic(rows.shape)
        buffer = "" if _fits(total(shape)) else self.out.scratch("row", "int32", total(shape))

        def visit(index: Index) -> None:
            row = self._inside(
                self.value(rows, index), expression(0), upper, array=name, dim="axis 0"
            )
            if buffer:
                self.out.add(Store(buffer, flat(index, shape), Position(row)))
            else:
                values[tuple(i.constant for i in index)] = Position(row)

        self.out.each(shape, visit)
        self.kept[-1 - number] = Kept(shape, "int32", values, buffer)

    def _rows(self, table: Body) -> None:
        number = self.numbering[table]
        kept = self.kept.get(number)
        if kept is None or not kept.buffer:
            buffer = self.whole(table)
            self.kept[number] = Kept(symbolic(table.shape), table.dtype, buffer=buffer)

    @property
    def keeps(self) -> bool:
        """Tell whether anything is computed before the body's own positions."""
        return bool(self._wanted - {self.numbering.root}) or self._heavy_root()

    def _heavy_root(self) -> bool:
        body = self.numbering.bodies[self.numbering.root]
        return isinstance(body, Call) and self._heavy(body)

    def added(self, body: Body, indices: Sequence[Index], names: Sequence[str]) -> None:
        """Add a body's values at some positions to variables; factors of products are shared."""
        values = [self.value(body, index) for index in indices]
        dtype = body.dtype
        uses = Counter(
            a for v in values if isinstance(v, Compute) for a in v.arguments if _worth_naming(a)
        )
        shared = {a: self.out.let("factor", a) for a, n in uses.items() if n > 1}
        for name, value in zip(names, values, strict=True):
            if isinstance(value, Compute):
                arguments = tuple(shared.get(a, a) for a in value.arguments)
                if value.operation == "multiply" and dtype == "float":
                    fused = Compute("fma", (*arguments, Local(name, dtype)), dtype)
                    self.out.add(Update(name, fused))
                    continue
                value = Compute(value.operation, arguments, value.dtype)
            self.out.add(Update(name, value, "add"))

    # -- values ------------------------------------------------------------------------------------

    def positions(self, body: Body, visit: Any, lanes: bool | None = None) -> None:
        """Visit every position of a body with its value there, part by part where it has parts."""
        lanes = self.lanes if lanes is None else lanes
        shape = symbolic(body.shape)
        kept = self.numbering[body] in self.kept
        if isinstance(body, Call) and not kept:
            if body.operation in PARTS:
                self._part_by_part(body, visit)
                return
            if body.operation == "cumsum":
                self._running(body, visit)
                return
            if body.operation == "contract" and _summed(body):
                self._contracted(body, visit, lanes)
                return
            if body.operation in ("uniform", "normal"):
                self._drawn(body, visit)
                return
        self.out.each(shape, lambda index: visit(index, self.value(body, index)), lanes)

    def value(self, body: Body, index: Index) -> Value:
        """Return the value at a position; may write records that compute it."""
        number = self.numbering[body]
        if number in self.kept:
            return self._kept_at(self.kept[number], index)
        if isinstance(body, Literal):
            return self._literal(body, index)
        if isinstance(body, IndexValue):
            return Position(self.placed(body.expression), body.dtype)
        if isinstance(body, Read):
            return self._read(number, body, flat(index, symbolic(body.shape)))
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
                chosen = reduce(_both, here[1:], here[0])
                value = Compute("where", (chosen, other, value), kept.dtype)
        return value

    def _literal(self, body: Literal, index: Index) -> Value:
        value = body.value
        if all(not i.terms for i in index):
            for i in index:
                value = value[i.constant]
            return Number(value, body.dtype)
        number = self.numbering[body]
        if number not in self._tables:
            self._tables[number] = self.out.name("constant")
            values = tuple(_flattened(value))
            self.out.tables.append(Table(self._tables[number], body.dtype, values))
        return Load(self._tables[number], flat(index, symbolic(body.shape)), body.dtype)

    def _read(self, number: int, body: Read, inner: Expression) -> Value:
        stored = self.stored[body.array]
        index = tuple(
            self.placed(e) if isinstance(e, Expression) else self._indexed[number, k]
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
            if self.out.lane:
                known = self.out.let(body.array, known)
                self.out.remember(buffer, place, known)
        return cast(known, body.dtype)

    def _at(self, body: Call, k: int, index: Index) -> Value:
        """Return operand k at a position of an elementwise result, in the dtype it is used in."""
        row = OPERATIONS[body.operation]
        if row.ufunc is not None:
            dtype = operand_dtype(body)
        else:
            dtypes = [a.dtype for a in body.arguments]
            dtype = operand_dtypes(body.operation, dtypes, body.dtype)[k]
        return cast(self.value(body.arguments[k], _narrowed(index, body.arguments[k])), dtype)

    def _call(self, body: Call, index: Index) -> Value:
        operation, options = body.operation, body.options
        rule = getattr(self, f"_{operation}", None) if operation in _RULES else None
        if rule is not None:
            value: Value = rule(body, index, options)
            return value
        if operation in PARTS or operation in ("cumsum", "uniform", "normal", "orthogonalize"):
            self._keep(self.numbering[body], body)
            return self.value(body, index)
        row = OPERATIONS[operation]
        if row.given:
            place = flat(index, symbolic(body.shape))
            for d, step in zip(options["dims"], apart(body), strict=True):
                place = place + self.placed(variable(d)) * size(step)
            return Load(outside(body), place, body.dtype)
        if operation == "within" or operation == "possible":
            return self._at(body, 0, index)
        if operation == "cast":
            return cast(self.value(body.arguments[0], index), body.dtype)
        if row.elementwise:
            values = tuple(self._at(body, k, index) for k in range(len(body.arguments)))
            return Compute(operation, values, body.dtype)
        if operation == "stop_gradient":
            return self.value(body.arguments[0], index)
        raise ProgramError(f"compiled kernels have no operation {operation}", self.statement.line)

    # -- operations that move elements -------------------------------------------------------------

    def _slice(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        axis = options["axis"]
        moved = index[axis] * options["step"] + options["start"]
        return self.value(body.arguments[0], (*index[:axis], moved, *index[axis + 1 :]))

    def _transpose(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        back = dict(zip(options["axes"], index, strict=True))
        return self.value(body.arguments[0], tuple(back[k] for k in range(len(index))))

    def _broadcast(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        return self.value(body.arguments[0], _narrowed(index, body.arguments[0]))

    def _reshape(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        argument = body.arguments[0]
        place = flat(index, symbolic(body.shape))
        number = self.numbering[argument]
        kept = self.kept.get(number)
        if kept is not None and kept.buffer:
            return Load(kept.buffer, place, kept.dtype)
        if kept is None and isinstance(argument, Read):
            return self._read(number, argument, place)
        old = symbolic(argument.shape)
        ones = _without_ones(index, symbolic(body.shape), old)
        return self.value(argument, unflat(place, old) if ones is None else ones)

    def _one_hot(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        *front, last = index
        chosen = self.value(body.arguments[0], tuple(front))
        hot = Compute("equal", (chosen, Position(last, chosen.dtype)), "bool")
        return cast(hot, body.dtype)

    def _take(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        table, rows = body.arguments
        at, rest = index[: len(rows.shape)], index[len(rows.shape) :]
        row = self._kept_at(self.kept[-1 - self.numbering[body]], at)
        if not isinstance(row, Position):
            name = self.out.name("row")
            self.out.add(Let(name, row))
            row = Position(variable(name))
        return self.value(table, (row.expression, *rest))

    # -- operations along inner axes ---------------------------------------------------------------

    def _sum(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        return self._along(body, index, options["axis"], COMBINES[body.operation])

    _max = _min = _sum

    def _along(self, body: Call, index: Index, axis: int, operation: str) -> Value:
        """Combine all elements along an axis, one after the other."""
        argument = body.arguments[0]

        def at(k: Expression) -> Value:
            return cast(self.value(argument, (*index[:axis], k, *index[axis:])), body.dtype)

        n = symbolic(argument.shape)[axis]
        if _fits(n):
            result = at(expression(0))
            for number in range(1, n.constant):
                result = Compute(operation, (result, at(expression(number))), body.dtype)
            return self.out.let(body.operation, result)
        name = self.out.name(body.operation)
        self.out.add(Variable(name, at(expression(0))))
        with self.out.loop("k", expression(1), n) as k:
            self.out.add(Update(name, at(k), operation))
        return Local(name, body.dtype)

    def _argmax(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        """Find the first position of the greatest (least) element; NaN counts as such."""
        argument, axis = body.arguments[0], options["axis"]

        def at(k: Expression) -> Value:
            return self.value(argument, (*index[:axis], k, *index[axis:]))

        best, where = self.out.name("best"), self.out.name(body.operation)
        self.out.add(Variable(best, at(expression(0))))
        self.out.add(Variable(where, Number(0, "int32")))
        n = symbolic(argument.shape)[axis]

        def visit(k: Index) -> None:
            value = self.out.let("value", at(k[0] + 1))
            held = Local(best, argument.dtype)
            better = _better(value, held, POSITIONS[body.operation])
            better = self.out.let("better", better)
            old = Local(where, "int32")
            self.out.add(
                Update(where, Compute("where", (better, Position(k[0] + 1), old), "int32"))
            )
            self.out.add(Update(best, Compute("where", (better, value, held), argument.dtype)))

        self.out.each((n - 1,), visit)
        return Local(where, "int32")

    _argmin = _argmax

    def _contract(self, body: Call, index: Index, options: dict[str, Any]) -> Value:
        return self._products(body, [index])[0]

    def _products(self, body: Call, indices: Sequence[Index]) -> list[Value]:
        """Return a contraction at several positions, summed side by side."""
        inputs, output = body.options["spec"].split("->")
        left, right = inputs.split(",")
        summed = _summed(body)
        places = [dict(zip(output, index, strict=True)) for index in indices]

        def factors(place: Mapping[str, Expression]) -> tuple[Value, Value]:
            a, b = (
                cast(self.value(argument, tuple(place[c] for c in letters)), body.dtype)
                for argument, letters in zip(body.arguments, (left, right), strict=True)
            )
            return a, b

        if not summed:
            return [Compute("multiply", factors(place), body.dtype) for place in places]
        names = [self.out.name("total") for _ in indices]
        for name in names:
            self.out.add(Variable(name, Number(0, body.dtype)))
        lengths = _lengths(body)

        def visit(at: Index) -> None:
            inside = dict(zip(summed, at, strict=True))
            pairs = [factors({**place, **inside}) for place in places]
            uses = Counter(factor for pair in pairs for factor in pair)
            shared = {f: self.out.let("factor", f) for f, n in uses.items() if n > 1}
            for name, (a, b) in zip(names, pairs, strict=True):
                product = (shared.get(a, a), shared.get(b, b), Local(name, body.dtype))
                self.out.add(Update(name, Compute("fma", product, body.dtype)))

        self.out.each([lengths[c] for c in summed], visit, letters=[f"k{c}" for c in summed])
        return [Local(name, body.dtype) for name in names]

    def _contracted(self, body: Call, visit: Any, lanes: bool) -> None:
        """Visit every position of a contraction, several at once that share an operand's element.

        Several results are summed at once along an axis of the result that is not that of lanes.
        """
        output = body.options["spec"].split("->")[1]
        lengths = [_lengths(body)[c] for c in output]
        by_lanes = lanes and bool(lengths) and not _fits(lengths[-1])
        rows = len(lengths) - 1 - by_lanes
        if rows < 0 or lengths[rows].terms:
            self.out.each(lengths, lambda i: visit(i, self._products(body, [i])[0]), lanes)
            return
        n = lengths[rows].constant
        outer = [*lengths[:rows], *lengths[rows + 1 :]]

        def block(index: Index, first: Expression, many: int) -> None:
            indices = [(*index[:rows], first + k, *index[rows:]) for k in range(many)]
            for at, value in zip(indices, self._products(body, indices), strict=True):
                visit(at, value)

        def visit_outer(index: Index) -> None:
            whole = n // BLOCK
            if whole == 1:
                block(index, expression(0), BLOCK)
            elif whole:
                with self.out.loop("block", expression(0), expression(whole)) as number:
                    block(index, number * BLOCK, BLOCK)
            if n % BLOCK:
                block(index, expression(whole * BLOCK), n % BLOCK)

        self.out.each(outer, visit_outer, lanes and by_lanes)

    def _running(self, body: Call, visit: Any) -> None:
        """Visit the running sums along an axis."""
        argument, axis = body.arguments[0], body.options["axis"]
        shape = symbolic(body.shape)

        def visit_outer(index: Index) -> None:
            name = self.out.name("running")
            self.out.add(Variable(name, Number(0, body.dtype)))

            def visit_inner(at: Index) -> None:
                full = (*index[:axis], *at, *index[axis:])
                self.out.add(Update(name, cast(self.value(argument, full), body.dtype), "add"))
                visit(full, self.out.let("sum", _copied(Local(name, body.dtype))))

            self.out.each((shape[axis],), visit_inner)

        self.out.each((*shape[:axis], *shape[axis + 1 :]), visit_outer)

    # -- operations with parts ---------------------------------------------------------------------

    def _part_by_part(self, body: Call, visit: Any) -> None:
        axis = body.options["axis"]
        if body.operation == "stack":
            for k, argument in enumerate(body.arguments):
                self._part(body, argument, visit, axis, expression(k), inserted=True)
            return
        if body.operation == "concatenate":
            start = expression(0)
            for argument in body.arguments:
                self._part(body, argument, visit, axis, start)
                start = start + symbolic(argument.shape)[axis]
            return
        (argument,) = body.arguments
        before, n = expression(body.options["before"]), symbolic(argument.shape)[axis]
        shape = symbolic(body.shape)
        for begin, end in ((expression(0), before), (before + n, shape[axis])):
            padding = (*shape[:axis], end - begin, *shape[axis + 1 :])
            if end - begin != 0:
                self.out.each(
                    padding,
                    lambda i, begin=begin: visit(  # type: ignore[misc]
                        (*i[:axis], i[axis] + begin, *i[axis + 1 :]), Number(0, body.dtype)
                    ),
                )
        self._part(body, argument, visit, axis, before)

    def _part(
        self,
        body: Call,
        argument: Body,
        visit: Any,
        axis: int,
        start: Expression,
        inserted: bool = False,
    ) -> None:
        def moved(index: Index, value: Value) -> None:
            if inserted:
                full = (*index[:axis], start, *index[axis:])
            else:
                full = (*index[:axis], index[axis] + start, *index[axis + 1 :])
            visit(full, cast(value, body.dtype))

        self.positions(argument, moved)

    # -- draws -------------------------------------------------------------------------------------

    def _drawn(self, body: Call, visit: Any) -> None:
        """Visit every position of a draw, four words at a time."""
        shape = symbolic(body.shape)
        n = total(shape)
        shift = dict(body.options.get("shift", ()))
        statement = self.statement
        coordinates = tuple(self.placed(variable(d)) + shift.get(d, 0) for d in statement.dims)

        def draw(block: Expression, many: int) -> None:
            names = tuple(self.out.name("word") for _ in range(WORDS))
            origin = statement.origin or statement.name
            self.out.add(Draw(names, origin, coordinates, block))  # type: ignore[arg-type]
            for k in range(many):
                value = Compute(body.operation, (Local(names[k], "word"),), body.dtype)
                visit(unflat(block * WORDS + k, shape), value)

        whole = n // WORDS
        if not n.terms and n.constant <= LOCALS:
            for block in range(whole.constant):
                draw(expression(block), WORDS)
        else:
            with self.out.loop("block", expression(0), whole) as number:
                draw(number, WORDS)
        rest = n % WORDS
        if not rest.terms:
            if rest != 0:
                draw(whole, rest.constant)
            return
        for many in range(1, WORDS):
            with self.out.where(AffineComparison(rest, "==", expression(many))):
                draw(whole, many)


_RULES = frozenset(
    (
        *("slice", "transpose", "broadcast", "reshape", "one_hot", "take"),
        *("sum", "max", "min", "argmax", "argmin", "contract"),
    )
)


def _summed(body: Call) -> tuple[str, ...]:
    """Return the letters that a contraction sums over, in order."""
    inputs, output = body.options["spec"].split("->")
    return tuple(dict.fromkeys(c for c in inputs if c != "," and c not in output))


def _lengths(body: Call) -> dict[str, Expression]:
    """Return the length of each letter of a contraction."""
    inputs = body.options["spec"].split("->")[0].split(",")
    return {
        c: n
        for letters, argument in zip(inputs, body.arguments, strict=True)
        for c, n in zip(letters, symbolic(argument.shape), strict=True)
    }


def _better(value: Value, held: Value, comparison: str) -> Value:
    """Tell whether a value is better than the best so far; the first NaN is better than all."""
    better = Compute(comparison, (value, held), "bool")
    if value.dtype != "float":
        return better
    first_nan = _both(
        Compute("not_equal", (value, value), "bool"), Compute("equal", (held, held), "bool")
    )
    return Compute("logical_or", (better, first_nan), "bool")


def _both(left: Value, right: Value) -> Value:
    return Compute("logical_and", (left, right), "bool")


def _worth_naming(value: Value) -> bool:
    return isinstance(value, (Load, Compute))


def _copied(value: Local) -> Value:
    """Return a variable's value at this moment as a value that can be named."""
    return Compute("copy", (value,), value.dtype)


def _fits(elements: Expression) -> bool:
    return not elements.terms and elements.constant <= LOCALS


def _narrowed(index: Index, argument: Body) -> Index:
    """Return the position in an operand that is repeated along axes of length 1, or lacks them."""
    shape = symbolic(argument.shape)
    own = index[len(index) - len(shape) :]
    return tuple(expression(0) if n == 1 else i for i, n in zip(own, shape, strict=True))


def _without_ones(
    index: Index, new: Sequence[Expression], old: Sequence[Expression]
) -> Index | None:
    """Return the position in the old shape where only axes of length 1 came or went."""
    kept = [(i, n) for i, n in zip(index, new, strict=True) if n != 1]
    if [n for _, n in kept] != [n for n in old if n != 1]:
        return None
    rest = iter(i for i, _ in kept)
    return tuple(expression(0) if n == 1 else next(rest) for n in old)


def _flattened(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [x for part in value for x in _flattened(part)]
    return [value]


def _wish(body: Call) -> str:
    return OPERATIONS[body.operation].noun or body.operation
