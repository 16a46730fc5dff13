"""One instance of a statement as a kernel: loops over its axes and its reduction's points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.codegen.bodies.addresses import address
from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.element_bodies import in_a_row
from workbench.codegen.bodies.overwritten import reads_overwritten
from workbench.codegen.emitter import Element, Emitter, InBlock, Index, cast, flat, total
from workbench.codegen.kernel_records import Holds, Invoke, Load, Number, Store, Value
from workbench.codegen.writing.matrix_products import (
    Product,
    block_products,
    write_block_products,
)
from workbench.codegen.writing.point_reductions import write_reduction
from workbench.codegen.writing.scattered_sums import scattered_sum, write_scattered
from workbench.codegen.writing.table_updates import updates_in_place, write_update
from workbench.codegen.writing.turned_tiles import turn_tiles
from workbench.errors import ProgramError
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import with_blocks
from workbench.polyhedral.sets.as_conditions import Conditions, any_holds, conditions
from workbench.polyhedral.sets.point_ranges import Ranges, point_ranges
from workbench.polyhedral.sets.relations import bounds, is_empty, project_out
from workbench.program.accumulating import Adding, Finish, Start
from workbench.program.bodies import Body, Call, walk
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES
from workbench.program.values import Statement

if TYPE_CHECKING:
    from workbench.codegen.writing.kernel_statements import StatementPlace

FEW = 8
"""The most elements of an inner shape for which lanes along an axis are better than along it."""

_WHOLE = frozenset(("orthogonalize", "given", "external", "permutation"))
"""Operations that are one call for all elements, or have their lanes nowhere."""

_BY_AXIS = frozenset(("contract", "uniform", "normal", "solve", "cholesky"))
"""Operations that compute several elements of an inner shape at once. Lanes along an axis are
better for them however large that shape is.
"""


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
        of: StatementPlace,
        values: Mapping[str, Expression],
        stored: Mapping[str, Stored],
        ranks: Mapping[str, int],
    ) -> None:
        self.out = out
        self.statement = statement
        self.stored = stored
        self.place = dict(values)
        self.blocks, self.overwritten = of.blocks, of.overwritten
        for block in self.blocks:
            if block.size == 1:
                self.place[block.dim] = variable(block.number).substitute(values) - block.shift
        own = [d for d in statement.dims if d in of.axes and d not in self.place]
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
        self.run: Expression | None = None
        """The run of blocks whose part of the element is written, where the kernel runs one."""
        self.in_block: dict[Body, InBlock] = {}
        """The bodies whose values are computed for the whole block."""
        self.lent: list[Body] = []
        """Those of them whose memory is given back."""

    def common_lanes(self) -> Lanes | None:
        """Return the lanes that the instance can share with others; None where it has none, or
        other loops around them.
        """
        special = isinstance(self.statement.body, Call) and self.statement.body.operation in (
            "external",
            "permutation",
        )
        if len(self.own) != 1 or special or scattered_sum(self) is not None:
            return None
        dim = self._lanes()
        domain = self.domain()
        if dim != self.own[0] or is_empty(domain):
            return None
        ((lower, upper),) = bounds(domain, self.own)
        return Lanes(dim, lower.substitute(self.place), upper.substitute(self.place))

    @property
    def in_line(self) -> bool:
        """Tell whether the instance is a few numbers of a block of one, without loops around."""
        if self.own or self.summed or self.combiner is not None or not self.laned:
            return False
        return any(b.size == 1 for b in self.blocks) and (not self.shape or bool(self.updates))

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

    @cached_property
    def products(self) -> dict[Call, Product]:
        """The products of matrices that are computed for all lanes of a block at once."""
        return block_products(self) if self.combiner is None else {}

    @cached_property
    def updates(self) -> tuple[Call, ...]:
        """The updates of a table that is in the result's own place."""
        return updates_in_place(self) if self.combiner is None else ()

    def needs_whole(self, other: InstanceWriter) -> bool:
        """Tell whether a product reads what another instance writes, in all lanes."""
        return any(other.target.buffer.name in p.sources for p in self.products.values())

    def write_products(self, lanes: Lanes, replaces: bool) -> None:
        """Write the products, in front of the loop over the lanes. `replaces`: they may be summed
        where the result will be.
        """
        write_block_products(self, lanes.upper, replaces)

    def write_in(self, dim: str, lane: Expression) -> None:
        """Write the instance inside a loop over its lanes."""
        self.place[dim] = lane
        if self.combiner is None:
            self._plain(dim)
        else:
            write_reduction(self, dim)

    def write(self) -> None:
        """Write the loops of the instance."""
        if isinstance(self.statement.body, Call):
            if self.statement.body.operation == "external":
                self._external(self.statement.body)
                return
            if self.statement.body.operation == "permutation":
                self.over_axes("", self._permutation)
                return
        scattered = scattered_sum(self)
        if scattered is not None:
            write_scattered(self, scattered)
            return
        lanes = self._lanes()
        if self.combiner is None:
            if lanes == "" and self.laned and self.own and self.shape and not self.updates:
                turn_tiles(self, len(self.shape) - 1)
            self.over_axes(lanes, lambda: self._plain(lanes))
        else:
            self.over_axes(lanes, lambda: write_reduction(self, lanes))

    def write_zeros(self) -> None:
        """Write zeros where the instance would write its result."""
        zero = Number(0, self.target.array.dtype)
        self.over_axes(self._lanes(), lambda: self._store_everywhere(zero, lanes=False))

    def write_part(self, run: Expression) -> None:
        """Write the part of one run of blocks: its element along the first inner axis."""
        body, shape = self.statement.body, self.shape[1:]
        assert isinstance(body, Call) and body.operation == "broadcast"
        (number,) = body.arguments
        part = Call("broadcast", (number,), body.dtype, shape, (("shape", shape),))
        self.statement = replace(self.statement, body=part if shape else number)
        self.shape, self.run = shape, run
        self.write()

    # -- loops -------------------------------------------------------------------------------------

    def _lanes(self) -> str:
        """Return the dim along which the instance has its lanes; "" for those of inner shapes."""
        statement = self.statement
        wide = any(_elements(b) > FEW for b in walk(statement.body))
        by_axis = any(b.operation in _BY_AXIS for b in statement.calls) or self._in_tile
        if any(b.dtype == "int64" for b in walk(statement.body)) or not self.laned:
            return ""
        if self.own and (not wide or by_axis):
            return self.own[-1] if self._free_of(self.own[-1]) else ""
        if not self.own and self.combiner in COMBINES and self.summed and not wide:
            return self.summed[-1]
        return ""

    @property
    def _in_tile(self) -> bool:
        """Tell whether the result has its lanes side by side in memory."""
        if not isinstance(self.target, TileStored) or self.target.block is None or self.combiner:
            return False
        return self.own[-1:] == [self.target.block.dim]

    def _free_of(self, dim: str) -> bool:
        """Tell whether no range of a reduction dimension depends on a dim."""
        if not self.summed:
            return True
        ranges, mask = self.ranges()
        if any(dim in e.variables for pair in ranges.values() for e in pair):
            return False
        return not any(dim in e.variables for each in mask for e, _ in each)

    def domain(self) -> str:
        """Return the instances of the result as a set."""
        domain = with_blocks(self.statement.domain, self.blocks)
        return project_out(domain, self.summed) if isinstance(self.statement, Adding) else domain

    def over_axes(self, lanes: str, visit: Callable[[], None]) -> None:
        """Write the loops over the axes of the result around what a visit writes."""
        domain = self.domain()
        if is_empty(domain):
            return
        with ExitStack() as loops:
            for d, (lower, upper) in zip(
                self.own, bounds(domain, self.own) if self.own else (), strict=True
            ):
                self._loop(loops, d, lower, upper, lanes, self.target.buffer.name)
            visit()

    def _loop(
        self,
        loops: ExitStack,
        d: str,
        lower: Expression,
        upper: Expression,
        lanes: str,
        own: str = "",
    ) -> None:
        low, high = lower.substitute(self.place), upper.substitute(self.place)
        self.place[d] = loops.enter_context(self.out.loop(d, low, high, d == lanes, own))

    def over_points(self, lanes: str, visit: Callable[[], None]) -> None:
        """Write the loops over the points of the reduction around what a visit writes."""
        adding = isinstance(self.statement, Adding)
        set_of_points = self.statement.domain if adding else self.statement.reduction
        if is_empty(with_blocks(set_of_points, self.blocks)):
            return
        ranges, mask = self.ranges()
        outside = dict(self.place)
        with ExitStack() as loops:
            for d, (lower, upper) in ranges.items():
                self._loop(loops, d, lower, upper, lanes)
            if mask:
                loops.enter_context(self.out.where(any_holds(mask, self.place)))
            visit()
        self.place = outside

    def ranges(self) -> tuple[Ranges, Conditions]:
        """Return the range of each reduction dimension, over the dims before it, and what else
        must hold.
        """
        statement = self.statement
        domain = with_blocks(statement.domain, self.blocks)
        if isinstance(statement, Adding):
            return point_ranges(project_out(domain, self.summed), domain, self.summed)
        points = with_blocks(statement.reduction, self.blocks)
        return point_ranges(domain, points, self.summed)

    # -- plain statements --------------------------------------------------------------------------

    def bodies(self, lanes: str) -> Bodies:
        """Return the bodies at the current place, for an instance whose lanes are along a dim."""
        inner = lanes == "" and self.laned
        return Bodies(self.out, self.statement, self.place, self.stored, inner, self.in_block)

    @property
    def laned(self) -> bool:
        """Tell whether all of the body can be computed lane by lane."""
        return not any(b.operation in _WHOLE for b in self.statement.calls)

    def address(self, index: Index) -> Expression:
        """Return the place of the result's element at a position of its inner shape."""
        write = tuple(e.substitute(self.place) for e in self.statement.write)
        inner, run = flat(index, self.shape), self.run
        if run is None and self.chunks is not None:
            run = self.chunks.run_of(self.place)
        if run is not None:
            inner = inner + run * total(self.shape)
        return address(self.target, write, inner, self.place)

    def store_start(self, lanes: bool) -> None:
        """Store what a combiner starts with at every position of the result's inner shape."""
        dtype = self.target.array.dtype
        self._store_everywhere(Number(identity(str(self.combiner), dtype), dtype), lanes)

    def _store_everywhere(self, value: Value, lanes: bool) -> None:
        self.out.each(self.shape, lambda i: self.store(i, value), lanes)

    def store(self, index: Index, value: Value, operation: str = "") -> None:
        """Store a value of the result, or join it to what is there by an operation."""
        ready, buffer, at = (
            cast(value, self.target.array.dtype),
            self.target.buffer.name,
            self.address(index),
        )
        keep = self.out.remembers and not operation
        if keep:
            ready = self.out.let(self.statement.array, ready)
        self.out.add(Store(buffer, at, ready, operation))
        self.out.forget(buffer, at)
        if keep:
            self.out.remember(buffer, at, ready)

    def in_a_row(self) -> None:
        """Run over the elements of the inner shape in a row, where each is computed by itself."""
        row = in_a_row(self.statement)
        if row is not None:
            self.statement, self.shape = row, symbolic(row.body.shape)

    def _plain(self, lanes: str) -> None:
        if self.laned and not self.own and not self.in_block:
            self.in_a_row()
        bodies = self.bodies(lanes)
        bodies.prepare()
        body = self.statement.body
        if isinstance(body, Call) and body.operation == "orthogonalize":
            with self._in_one_piece(body.operation) as (buffer, begin):
                bodies.orthogonalize(body, buffer, begin)
            return
        for update in self.updates:
            write_update(self, bodies, update)
        if self.updates:
            return
        if isinstance(self.statement, Finish):
            self._finished(bodies, self.statement)
        if isinstance(self.statement, Start):
            value = bodies.value(body, ())
            self.out.each(self.shape, lambda i: self.store(i, value), lanes == "")
            return
        if reads_overwritten(bodies, body, self.overwritten):
            bodies.keep(body)
        bodies.positions(body, self.store)

    def _finished(self, bodies: Bodies, statement: Finish) -> None:
        """Check that a maximum or minimum had points."""
        held = conditions(project_out(statement.points, statement.over), statement.domain)
        if held != ((),):
            some: Value = Holds(any_holds(held, self.place)) if held else Number(False, "bool")
            bodies.require("nonempty", some)

    @contextmanager
    def _in_one_piece(self, wish: str) -> Iterator[Element]:
        """Give the memory for a call that writes all elements of the result one after the other:
        the result's own where they lie so, else other memory, from which they are stored.
        """
        if self.target.together:
            yield self.target.buffer.name, self.address((expression(0),) * len(self.shape))
            return
        dtype = self.target.array.dtype
        buffer = self.out.scratch(wish, dtype, total(self.shape))
        yield buffer, expression(0)
        self.out.each(self.shape, lambda i: self.store(i, Load(buffer, flat(i, self.shape), dtype)))

    def _permutation(self) -> None:
        body = self.statement.body
        assert isinstance(body, Call)
        (n,) = symbolic(body.shape)
        shift = dict(body.options.get("shift", ()))
        coordinates = tuple(
            variable(d).substitute(self.place) + shift.get(d, 0) for d in self.statement.dims
        )
        words = self.out.scratch("words", "int32", n * 2)
        options = (
            ("origin", self.statement.origin or self.statement.name),
            ("coordinates", coordinates),
            ("n", n),
        )
        with self._in_one_piece("permutation") as out:
            self.out.add(Invoke("permutation", out, ((words, expression(0)),), options))

    def _external(self, body: Call) -> None:
        if self.own:
            raise ProgramError(
                f"{self.statement.name} calls {body.options['name']} one instance after the "
                f"other, not with {', '.join(self.own)} as array axes",
                self.statement.line,
            )
        bodies = self.bodies("")
        bodies.prepare()
        operands = tuple((bodies.whole(a), expression(0)) for a in body.arguments)
        options = (
            ("name", body.options["name"]),
            ("method", body.options["method"]),
            ("shapes", tuple((a.dtype, symbolic(a.shape)) for a in body.arguments)),
            ("shape", (body.dtype, self.shape)),
            ("statement", self.statement.name),
            ("instance", tuple((d, self.place[d]) for d in self.statement.dims)),
        )
        with self._in_one_piece("external") as out:
            self.out.add(Invoke("external", out, operands, options))


def _elements(body: Body) -> float:
    n = total(symbolic(body.shape))
    return float("inf") if n.terms else n.constant
