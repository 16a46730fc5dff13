"""One instance of a statement as a kernel: loops over its axes and its reduction's points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache

from workbench.codegen.kernel_records import (
    Compute,
    Holds,
    Invoke,
    Let,
    Local,
    Number,
    Position,
    Store,
    Total,
    Update,
    Value,
    Variable,
)
from workbench.codegen.writing.addresses import address, tile_begin
from workbench.codegen.writing.body_values import BLOCK, Bodies
from workbench.codegen.writing.emitter import Emitter, Index, cast, flat, total
from workbench.errors import ProgramError
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock, with_blocks
from workbench.polyhedral.sets.as_conditions import conditions
from workbench.polyhedral.sets.relations import (
    bounds,
    dims_of,
    domain_with,
    hull,
    is_empty,
    is_equal,
    project_out,
    with_dims,
)
from workbench.program.accumulating import Adding, Finish, Start
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES, OPERATIONS
from workbench.program.values import Body, Call, IndexValue, Literal, Read, Statement, walk

FEW = 8
"""The most elements of an inner shape for which lanes along an axis are better than along it."""

ACCUMULATED = 16
"""The most elements of a reduction's result that are kept in locals."""


@dataclass(frozen=True)
class Lanes:
    """The lanes of an instance: a dim, and its range over the kernel's variables."""

    dim: str
    lower: Expression
    upper: Expression


class InstanceWriter:
    """The writer of one instance. `values` are its loop dimensions', `axes` the others."""

    def __init__(
        self,
        out: Emitter,
        statement: Statement,
        axes: Sequence[str],
        values: Mapping[str, Expression],
        stored: Mapping[str, Stored],
        ranks: Mapping[str, int],
        blocks: tuple[AxisBlock, ...],
    ) -> None:
        self.out = out
        self.statement = statement
        self.stored = stored
        self.place = dict(values)
        self.blocks = blocks
        own = [d for d in statement.dims if d in axes]
        own = sorted(own, key=lambda d: ranks.get(d, len(ranks)))
        adding = isinstance(statement, Adding)
        over = statement.over if isinstance(statement, Adding) else ()
        self.own = [d for d in own if d not in over]
        """The axes of the result."""
        self.summed = tuple(d for d in own if d in over) if adding else statement.reduction_dims
        """The dimensions of the points that are combined here."""
        self.combiner = statement.by if isinstance(statement, Adding) else statement.combiner
        self.into = COMBINES[statement.by] if isinstance(statement, Adding) else ""
        """The operation by which the result joins what is there; "" where it is written."""
        self.target = stored[statement.array]
        shape = self.target.array.shape
        self.chunks = statement.chunks if isinstance(statement, Adding) else None
        """The runs of blocks that have a part of the element each, along its first inner axis."""
        self.shape = symbolic(shape if self.chunks is None else shape[1:])
        """The inner shape of what an instance writes."""

    def common_lanes(self) -> Lanes | None:
        """Return the lanes that the instance can share with others; None where it has none, or
        other loops around them.
        """
        special = isinstance(self.statement.body, Call) and self.statement.body.operation in (
            "external",
            "permutation",
        )
        if len(self.own) != 1 or special or self._segments() is not None:
            return None
        dim = self._lanes()
        domain = self._domain()
        if dim != self.own[0] or is_empty(domain):
            return None
        ((lower, upper),) = bounds(domain, self.own)
        return Lanes(dim, lower.substitute(self.place), upper.substitute(self.place))

    def touches_by_lane(self, other: InstanceWriter) -> bool:
        """Tell whether the other statement touches what this one writes in its own lane only."""
        array = self.statement.array
        (mine,), (theirs,) = self.own, other.own
        indices = [r.index for r in other.statement.reads if r.array == array]
        if other.statement.array == array:
            indices.append(other.statement.write)
        lanes = {p for p, e in enumerate(self.statement.write) if e == variable(mine)}
        return all(
            any(p in lanes and e == variable(theirs) for p, e in enumerate(index))
            for index in indices
        )

    def write_in(self, dim: str, lane: Expression) -> None:
        """Write the instance inside a loop over its lanes."""
        self.place[dim] = lane
        if self.combiner is None:
            self._plain(dim)
        else:
            self._reduced(dim)

    def write(self) -> None:
        """Write the loops of the instance."""
        if isinstance(self.statement.body, Call):
            if self.statement.body.operation == "external":
                self._external(self.statement.body)
                return
            if self.statement.body.operation == "permutation":
                self._over_axes("", self._permutation)
                return
        segments = self._segments()
        if segments is not None:
            self._scattered(*segments)
            return
        lanes = self._lanes()
        if self.combiner is None:
            self._over_axes(lanes, lambda: self._plain(lanes))
        else:
            self._over_axes(lanes, lambda: self._reduced(lanes))

    # -- loops -------------------------------------------------------------------------------------

    def _lanes(self) -> str:
        """Return the dim along which the instance has its lanes; "" for those of inner shapes."""
        statement = self.statement
        wide = any(_elements(b) > FEW for b in walk(statement.body))
        contracts = any(b.operation == "contract" for b in statement.calls)
        if any(b.dtype == "int64" for b in walk(statement.body)) or not _laned(statement.body):
            return ""
        if self.own and (not wide or contracts):
            return self.own[-1] if self._free_of(self.own[-1]) else ""
        if not self.own and self.combiner in COMBINES and self.summed and not wide:
            return self.summed[-1]
        return ""

    def _free_of(self, dim: str) -> bool:
        """Tell whether no range of a reduction dimension depends on a dim."""
        if not self.summed:
            return True
        ranges, mask = self._ranges()
        if any(dim in e.variables for pair in ranges.values() for e in pair):
            return False
        return not any(dim in e.variables for each in mask for e, _ in each)

    def _domain(self) -> str:
        """Return the instances of the result as a set."""
        domain = with_blocks(self.statement.domain, self.blocks)
        return project_out(domain, self.summed) if isinstance(self.statement, Adding) else domain

    def _over_axes(self, lanes: str, visit: object) -> None:
        assert callable(visit)
        domain = self._domain()
        if is_empty(domain):
            return
        with ExitStack() as loops:
            for d, (lower, upper) in zip(
                self.own, bounds(domain, self.own) if self.own else (), strict=True
            ):
                self._loop(loops, d, lower, upper, lanes)
            visit()

    def _loop(
        self, loops: ExitStack, d: str, lower: Expression, upper: Expression, lanes: str
    ) -> None:
        low, high = lower.substitute(self.place), upper.substitute(self.place)
        self.place[d] = loops.enter_context(self.out.loop(d, low, high, lanes=d == lanes))

    def _ranges(self) -> tuple[dict[str, tuple[Expression, Expression]], _Mask]:
        """Return the range of each reduction dimension, over the dims before it, and what else
        must hold.
        """
        statement = self.statement
        domain = with_blocks(statement.domain, self.blocks)
        if isinstance(statement, Adding):
            return _reduction_ranges(project_out(domain, self.summed), domain, self.summed)
        points = with_blocks(statement.reduction, self.blocks)
        return _reduction_ranges(domain, points, self.summed)

    # -- plain statements --------------------------------------------------------------------------

    def _bodies(self, lanes: str) -> Bodies:
        inner = lanes == "" and _laned(self.statement.body)
        return Bodies(self.out, self.statement, self.place, self.stored, inner)

    def _at(self, index: Index) -> Expression:
        """Return the place of the result's element at a position of its inner shape."""
        write = tuple(e.substitute(self.place) for e in self.statement.write)
        inner = flat(index, self.shape)
        if self.chunks is not None:
            inner = inner + self.chunks.run_of(self.place) * total(self.shape)
        return address(self.target, write, inner, self.place)

    def _store(self, index: Index, value: Value, operation: str = "") -> None:
        ready, buffer, at = (
            cast(value, self.target.array.dtype),
            self.target.buffer.name,
            self._at(index),
        )
        keep = bool(self.out.lane) and not operation
        if keep:
            ready = self.out.let(self.statement.array, ready)
        self.out.add(Store(buffer, at, ready, operation))
        self.out.forget(buffer, at)
        if keep:
            self.out.remember(buffer, at, ready)

    def _plain(self, lanes: str) -> None:
        bodies = self._bodies(lanes)
        bodies.prepare()
        body = self.statement.body
        if isinstance(body, Call) and body.operation == "orthogonalize":
            bodies.orthogonalize(body, self.target.buffer.name, self._at((expression(0),) * 2))
            return
        if isinstance(self.statement, Finish):
            self._finished(bodies, self.statement)
        if isinstance(self.statement, Start):
            value = bodies.value(body, ())
            self.out.each(self.shape, lambda i: self._store(i, value), lanes == "")
            return
        bodies.positions(body, self._store)

    def _finished(self, bodies: Bodies, statement: Finish) -> None:
        """Check that a maximum or minimum had points."""
        held = conditions(project_out(statement.points, statement.over), statement.domain)
        if held != ((),):
            some: Value = Holds(_condition(held, self.place)) if held else Number(False, "bool")
            bodies.require("nonempty", some)

    def _permutation(self) -> None:
        body = self.statement.body
        assert isinstance(body, Call)
        (n,) = symbolic(body.shape)
        shift = dict(body.options.get("shift", ()))
        coordinates = tuple(
            variable(d).substitute(self.place) + shift.get(d, 0) for d in self.statement.dims
        )
        words = self.out.scratch("words", "int32", n * 3)
        options = (
            ("origin", self.statement.origin or self.statement.name),
            ("coordinates", coordinates),
            ("n", n),
        )
        out = (self.target.buffer.name, self._at((expression(0),)))
        self.out.add(Invoke("permutation", out, ((words, expression(0)),), options))

    def _external(self, body: Call) -> None:
        if self.own:
            raise ProgramError(
                f"{self.statement.name} calls {body.options['name']} one instance after the "
                f"other, not with {', '.join(self.own)} as array axes",
                self.statement.line,
            )
        bodies = self._bodies("")
        bodies.prepare()
        operands = tuple((bodies.whole(a), expression(0)) for a in body.arguments)
        out = (self.target.buffer.name, self._at((expression(0),) * len(self.shape)))
        options = (
            ("name", body.options["name"]),
            ("method", body.options["method"]),
            ("shapes", tuple((a.dtype, symbolic(a.shape)) for a in body.arguments)),
            ("shape", (body.dtype, self.shape)),
            ("statement", self.statement.name),
            ("instance", tuple((d, self.place[d]) for d in self.statement.dims)),
        )
        self.out.add(Invoke("external", out, operands, options))

    # -- sums over the points whose index is the element -------------------------------------------

    def _segments(self) -> tuple[Body, dict[str, Body]] | None:
        """Return the value and the index along each axis of a sum of the form
        `sum(where(index == element and ..., value, 0))`; None for other statements.

        All points are looked at once then, not once for each element.
        """
        body = self.statement.body
        if self.statement.combiner != "sum" or not self.own or not isinstance(body, Call):
            return None
        if body.operation != "where" or not self._over_all():
            return None
        condition, value, other = body.arguments
        nothing = isinstance(other, Literal) and not other.shape and not other.value
        if not nothing or value.shape != body.shape or self._reads_own(value):
            return None
        compared: dict[str, Body] = {}
        for part in _conjuncts(condition):
            pair = self._comparison(part)
            if pair is None or pair[0] in compared:
                return None
            compared[pair[0]] = pair[1]
        return (value, compared) if set(compared) == set(self.own) else None

    def _over_all(self) -> bool:
        """Tell whether every element's points are the same."""
        ranges, mask = self._ranges()
        every = [e for pair in ranges.values() for e in pair] + [
            e for part in mask for e, _ in part
        ]
        return not any(e.variables & set(self.own) for e in every)

    def _reads_own(self, body: Body) -> bool:
        """Tell whether a body varies over the axes of the result."""
        own = set(self.own)
        for part in walk(body):
            if isinstance(part, IndexValue) and part.expression.variables & own:
                return True
            if isinstance(part, Read) and any(
                isinstance(e, Expression) and e.variables & own for e in part.index
            ):
                return True
            if isinstance(part, Call) and not OPERATIONS[part.operation].pure:
                return True
        return False

    def _comparison(self, part: Body) -> tuple[str, Body] | None:
        """Return the axis and the index that it is compared with."""
        if not (isinstance(part, Call) and part.operation == "equal") or part.shape:
            return None
        for element, index in (part.arguments, part.arguments[::-1]):
            if isinstance(element, IndexValue) and index.dtype in ("int32", "int64"):
                axis = next((d for d in self.own if element.expression == variable(d)), None)
                if axis is not None and not self._reads_own(index):
                    return axis, index
        return None

    def _scattered(self, value: Body, compared: Mapping[str, Body]) -> None:
        """Add each point's value to the element that its indices name, if there is one."""
        outside = dict(self.place)
        self._over_axes(
            "",
            lambda: self.out.each(self.shape, lambda i: self._store(i, Number(0, "int32")), True),
        )
        self.place = outside
        domain = with_blocks(self.statement.domain, self.blocks)
        ranges = dict(zip(self.own, bounds(domain, self.own), strict=True))

        def point() -> None:
            for d in self.own:
                self.place[d] = expression(0)  # not asked for: no body reads it
            bodies = self._bodies("")
            bodies.prepare()
            inside: list[Condition] = []
            for d, index in compared.items():
                name = self.out.name("index")
                self.out.add(Let(name, bodies.value(index, ())))
                low, high = (e.substitute(outside) for e in ranges[d])
                inside += [
                    AffineComparison(low, "<=", variable(name)),
                    AffineComparison(variable(name), "<", high),
                ]
                self.place[d] = variable(name)
            with self.out.where(Compound("and", tuple(inside))):
                bodies.positions(value, lambda i, v: self._store(i, v, COMBINES["sum"]))

        self._over_points("", point, bodies=False)
        self.place = outside

    # -- reductions --------------------------------------------------------------------------------

    def _reduced(self, lanes: str) -> None:
        combiner = self.combiner
        if combiner == "argmax":
            self._argmax()
        elif combiner == "collect":
            self._collected()
        elif combiner == "sum" and self._is_outer():
            self._blockwise()
        elif combiner == "sum" and not self._fits_in_locals():
            if not self.into:
                self.out.each(self.shape, lambda i: self._store(i, Number(0, "int32")), lanes == "")
            self._over_points(
                lanes, lambda index, value: self._store(index, value, COMBINES["sum"])
            )
        else:
            self._in_locals(str(combiner), lanes)

    def _fits_in_locals(self) -> bool:
        n = total(self.shape)
        return not n.terms and n.constant <= ACCUMULATED

    def _over_points(self, lanes: str, visit: object, bodies: bool = True) -> None:
        """Visit every position of the body at every point of the reduction."""
        adding = isinstance(self.statement, Adding)
        set_of_points = self.statement.domain if adding else self.statement.reduction
        if is_empty(with_blocks(set_of_points, self.blocks)):
            return
        ranges, mask = self._ranges()
        outside = dict(self.place)
        with ExitStack() as loops:
            for d, (lower, upper) in ranges.items():
                self._loop(loops, d, lower, upper, lanes)
            if mask:
                loops.enter_context(self.out.where(_condition(mask, self.place)))
            assert callable(visit)
            if bodies:
                inner = self._bodies(lanes)
                inner.prepare()
                inner.positions(self.statement.body, visit)
            else:
                visit()
        self.place = outside

    def _in_locals(self, combiner: str, lanes: str) -> None:
        """Combine in locals, by lanes if those are of a reduction dimension."""
        operation, dtype = COMBINES[combiner], self.target.array.dtype
        parts = lanes != "" and lanes in self.summed
        start = Number(identity(combiner, dtype), dtype)
        names: dict[tuple[int, ...], str] = {}

        def make(index: Index) -> None:
            name = self.out.name(self.statement.array)
            names[tuple(i.constant for i in index)] = name
            self.out.add(Variable(name, start, parts))

        self._written_out(make)
        some = None if combiner == "sum" or self.into else self._counting()

        def combine(index: Index, value: Value) -> None:
            name = names[tuple(i.constant for i in index)]
            self.out.add(Update(name, cast(value, dtype), operation))
            if some:
                self.out.add(Update(some, Number(True, "bool")))

        self._over_points(lanes, combine)
        if some:
            self._bodies("").require("nonempty", Local(some, "bool"))

        def finish(index: Index) -> None:
            name = names[tuple(i.constant for i in index)]
            if parts:
                together = self.out.name("together")
                self.out.add(Total(together, Local(name, dtype), operation))
                name = together
            self._store(index, Local(name, dtype), self.into)

        self._written_out(finish)

    def _is_outer(self) -> bool:
        """Tell whether the points' values cost little: then each result is summed by itself."""
        if self._fits_in_locals() or any(n.terms for n in self.shape):
            return False
        return not self._bodies("").keeps

    def _blockwise(self) -> None:
        """Sum some elements of the result at once, in a local each, over all points."""
        self._turn()
        dtype = self.target.array.dtype
        wide = [k for k, n in enumerate(self.shape) if not _fits(n)]
        lane = wide[-1] if wide and _laned(self.statement.body) else None
        rest = [k for k in range(len(self.shape)) if k != lane]
        row = rest[-1] if rest else None
        outer = [k for k in rest if k != row]
        order = [*outer, *([] if lane is None else [lane])]

        def block(index: Mapping[int, Expression], first: Expression, many: int) -> None:
            indices = []
            for k in range(many):
                at = dict(index) if row is None else {**index, row: first + k}
                indices.append(tuple(at[axis] for axis in range(len(self.shape))))
            names = [self.out.name(self.statement.array) for _ in indices]
            for name in names:
                self.out.add(Variable(name, Number(0, dtype)))

            def point() -> None:
                bodies = self._bodies("")
                bodies.prepare()
                bodies.added(self.statement.body, indices, names)

            self._over_points("", point, bodies=False)
            for name, position in zip(names, indices, strict=True):
                self._store(position, Local(name, dtype), self.into)

        def visit(index: Index) -> None:
            at = dict(zip(order, index, strict=True))
            n = self.shape[row].constant if row is not None else 1
            whole = n // BLOCK
            if whole:
                with self.out.loop("block", expression(0), expression(whole)) as number:
                    block(at, number * BLOCK, BLOCK)
            if n % BLOCK:
                block(at, expression(whole * BLOCK), n % BLOCK)

        self.out.each([self.shape[k] for k in order], visit, lane is not None)

    def _turn(self) -> None:
        """Turn the tiles that are read, so that what one lane holds lies side by side."""
        for read in self.statement.reads:
            stored = self.stored[read.array]
            features = total(symbolic(read.shape))
            if not isinstance(stored, TileStored) or stored.block is None or _fits(features):
                continue
            if self.summed != (stored.block.dim,) or read.dtype != "float":
                continue
            if not all(isinstance(e, Expression) for e in read.index):
                continue
            index = tuple(e.substitute(self.place) for e in read.index)  # type: ignore[union-attr]
            begin, _ = tile_begin(stored, index, self.place)
            key = (stored.buffer.name, begin)
            if key not in self.out.turned:
                lanes = expression(stored.block.size)
                self.out.turned[key] = self.out.scratch("turned", read.dtype, features * lanes)
                options = (("rows", features), ("columns", lanes))
                out = (self.out.turned[key], expression(0))
                self.out.add(Invoke("turned", out, (key,), options))

    def _written_out(self, visit: object) -> None:
        """Visit every position of the result's small inner shape, each written out."""
        assert callable(visit)
        positions: list[tuple[int, ...]] = [()]
        for n in self.shape:
            positions = [(*at, k) for at in positions for k in range(n.constant)]
        for at in positions:
            visit(tuple(expression(k) for k in at))

    def _counting(self) -> str:
        some = self.out.name("some")
        self.out.add(Variable(some, Number(False, "bool")))
        return some

    def _argmax(self) -> None:
        body, dim = self.statement.body, self.statement.reduction_dims[0]
        best, where, some = (self.out.name(n) for n in ("best", "where", "some"))
        self.out.add(Variable(best, Number(identity("max", body.dtype), body.dtype)))
        self.out.add(Variable(where, Number(0, "int32")))
        self.out.add(Variable(some, Number(False, "bool")))

        def visit(index: Index, value: Value) -> None:
            value = self.out.let("value", value)
            held = Local(best, body.dtype)
            better: Value = Compute("greater", (value, held), "bool")
            if body.dtype == "float":
                nan = Compute("not_equal", (value, value), "bool")
                number = Compute("equal", (held, held), "bool")
                first = Compute("logical_and", (nan, number), "bool")
                better = Compute("logical_or", (better, first), "bool")
            started = Local(some, "bool")
            none = Compute("logical_not", (started,), "bool")
            better = self.out.let("better", Compute("logical_or", (better, none), "bool"))
            at, old = Position(self.place[dim]), Local(where, "int32")
            self.out.add(Update(where, Compute("where", (better, at, old), "int32")))
            self.out.add(Update(best, Compute("where", (better, value, held), body.dtype)))
            self.out.add(Update(some, Number(True, "bool")))

        self._over_points("", visit)
        self._bodies("").require("nonempty", Local(some, "bool"))
        self._store((), Local(where, "int32"))

    def _collected(self) -> None:
        """Store the body's values side by side along the leading inner axis."""
        (dim,) = self.statement.reduction_dims
        first = self._ranges()[0][dim][0].substitute(self.place)

        def visit(index: Index, value: Value) -> None:
            self._store((self.place[dim] - first, *index), value)

        self._over_points("", visit)


_Mask = tuple[tuple[tuple[Expression, bool], ...], ...]


@lru_cache(maxsize=4096)
def _reduction_ranges(
    domain: str, points: str, over: tuple[str, ...]
) -> tuple[dict[str, tuple[Expression, Expression]], _Mask]:
    """Return the range of each reduction dimension over those before it and the instance's dims.

    Where values in between are no points, or there are none at some sizes, also the conditions of
    points within these ranges.
    """
    if is_empty(points):
        return {d: (expression(0), expression(0)) for d in over}, ()
    ranges: dict[str, tuple[Expression, Expression]] = {}
    for k, d in enumerate(over):
        known = project_out(points, over[k + 1 :])
        try:
            ranges[d] = bounds(known, [d])[0]
        except ProgramError:
            ranges[d] = hull(project_out(known, [x for x in dims_of(known) if x != d]))[0]
    limits = [
        pair
        for d, (low, high) in ranges.items()
        for pair in ((variable(d), low), (high - 1, variable(d)))
    ]
    within = domain_with(with_dims(domain, dims_of(points)), at_least=limits)
    return ranges, () if is_equal(within, points) else conditions(points, within)


def _condition(mask: _Mask, place: Mapping[str, Expression]) -> Condition:
    """Return the condition that any of the alternatives holds."""
    alternatives: list[Condition] = []
    for each in mask:
        parts: list[Condition] = [
            AffineComparison(expression(0), "==" if equality else "<=", e.substitute(place))
            for e, equality in each
        ]
        alternatives.append(parts[0] if len(parts) == 1 else Compound("and", tuple(parts)))
    return alternatives[0] if len(alternatives) == 1 else Compound("or", tuple(alternatives))


def _conjuncts(condition: Body) -> Iterator[Body]:
    if isinstance(condition, Call) and condition.operation == "logical_and":
        for argument in condition.arguments:
            yield from _conjuncts(argument)
    else:
        yield condition


def _fits(n: Expression) -> bool:
    return not n.terms and n.constant <= ACCUMULATED


def _elements(body: Body) -> float:
    n = total(symbolic(body.shape))
    return float("inf") if n.terms else n.constant


def _laned(body: Body) -> bool:
    """Tell whether all of a body can be computed lane by lane."""
    return not any(
        isinstance(b, Call) and b.operation in ("orthogonalize", "given", "external", "permutation")
        for b in walk(body)
    )
