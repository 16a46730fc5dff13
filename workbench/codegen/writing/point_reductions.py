"""Reductions over points: the loops over them, and what is held while these run.

A small result is combined in locals. A wide sum is added up in memory, unless a point's value costs
little (`outer_sums`). An argmax holds the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from workbench.codegen.bodies.kept_bodies import fits_in_locals
from workbench.codegen.bodies.position_rules import is_better
from workbench.codegen.bodies.position_visits import ValueVisit
from workbench.codegen.emitter import Index, cast, flat, total
from workbench.codegen.kernel_records import (
    Compute,
    Load,
    Local,
    Number,
    Position,
    Store,
    Total,
    Update,
    Value,
    Variable,
)
from workbench.codegen.writing.block_gathers import take_gathered
from workbench.codegen.writing.outer_sums import is_outer, sum_blockwise
from workbench.codegen.writing.table_updates import write_update
from workbench.lowering.instances.segment_sums import entry_alone
from workbench.polyhedral.expression import Expression, expression
from workbench.program.bodies import Call
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter


def write_reduction(writer: InstanceWriter, lanes: str) -> None:
    """Write a reduction at one position of the result's axes."""
    combiner = writer.combiner
    take_gathered(writer)
    if combiner == "argmax":
        _argmax(writer, lanes)
    elif combiner == "collect":
        _collect(writer)
    elif combiner == "sum" and is_outer(writer):
        sum_blockwise(writer)
    elif not fits_in_locals(total(writer.shape)):
        _combine_in_memory(writer, str(combiner), lanes)
    else:
        _combine_in_locals(writer, str(combiner), lanes)


def _over_values(writer: InstanceWriter, lanes: str, visit: ValueVisit, some: str = "") -> None:
    """Visit every position of the body at every point of the reduction: `some` tells then whether
    there was one.
    """

    def point() -> None:
        bodies = writer.bodies(lanes)
        bodies.prepare()
        bodies.positions(writer.statement.body, visit)
        if some:
            writer.out.add(Update(some, Number(True, "bool")))

    writer.over_points(lanes, point)


def _over_entries(writer: InstanceWriter, lanes: str, entry: Call) -> None:
    """Add to one entry of the result at every point of the reduction."""

    def point() -> None:
        bodies = writer.bodies(lanes)
        bodies.prepare()
        write_update(writer, bodies, entry)

    writer.over_points(lanes, point)


def _combine_in_memory(writer: InstanceWriter, combiner: str, lanes: str) -> None:
    """Combine a wide result where it is stored."""
    if not writer.into:
        writer.store_start(lanes == "")
    entry = entry_alone(writer.statement.body) if combiner == "sum" else None
    if entry is not None:
        _over_entries(writer, lanes, entry)
        return
    some = _variable_some(writer, combiner)
    _over_values(writer, lanes, lambda i, v: writer.store(i, v, COMBINES[combiner]), some)
    _require_some(writer, some)


# -- results in locals -----------------------------------------------------------------------------


def _combine_in_locals(writer: InstanceWriter, combiner: str, lanes: str) -> None:
    """Combine in locals, by lanes if those are of a reduction dimension."""
    out, dtype, operation = writer.out, writer.target.array.dtype, COMBINES[combiner]
    by_lanes = lanes != "" and lanes in writer.summed
    start = Number(identity(combiner, dtype), dtype)
    names: dict[tuple[int, ...], str] = {}

    def make(index: Index) -> None:
        name = out.name(writer.statement.array)
        names[tuple(i.constant for i in index)] = name
        out.add(Variable(name, start, by_lanes))

    _written_out(writer.shape, make)
    some = _variable_some(writer, combiner)

    def combine(index: Index, value: Value) -> None:
        name = names[tuple(i.constant for i in index)]
        out.add(Update(name, cast(value, dtype), operation))

    _over_values(writer, lanes, combine, some)
    _require_some(writer, some)

    def finish(index: Index) -> None:
        name = names[tuple(i.constant for i in index)]
        if by_lanes:
            together = out.name("together")
            out.add(Total(together, Local(name, dtype), operation))
            name = together
        writer.store(index, Local(name, dtype), writer.into)

    _written_out(writer.shape, finish)


def _variable_some(writer: InstanceWriter, combiner: str) -> str:
    """Return the name of a new variable that tells whether there were points, "" where a combiner
    needs none.
    """
    if combiner == "sum" or writer.into:
        return ""
    some = writer.out.name("some")
    writer.out.add(Variable(some, Number(False, "bool")))
    return some


def _require_some(writer: InstanceWriter, some: str) -> None:
    """Write the check that there were points, if one is needed."""
    if some:
        writer.bodies("").require("nonempty", Local(some, "bool"))


def _written_out(shape: Sequence[Expression], visit: Callable[[Index], None]) -> None:
    """Visit every position of a small shape, each written out."""
    positions: list[tuple[int, ...]] = [()]
    for n in shape:
        positions = [(*at, k) for at in positions for k in range(n.constant)]
    for at in positions:
        visit(tuple(expression(k) for k in at))


def _argmax(writer: InstanceWriter, lanes: str) -> None:
    """Find the first best point for each position of the result."""
    out, body, dim = writer.out, writer.statement.body, writer.statement.reduction_dims[0]
    bests: Bests = _BestsInLocals(writer)
    if not fits_in_locals(total(writer.shape)):
        bests = _BestsInMemory(writer, lanes)
    some = _variable_some(writer, "argmax")
    is_first = Compute("logical_not", (Local(some, "bool"),), "bool")

    def visit(index: Index, value: Value) -> None:
        value = out.let("value", value)
        best, where = bests.so_far(index)
        is_best = Compute("logical_or", (is_better(value, best, "greater"), is_first), "bool")
        chosen, here = out.let("better", is_best), Position(writer.place[dim])
        bests.become(
            index,
            Compute("where", (chosen, value, best), body.dtype),
            Compute("where", (chosen, here, where), "int32"),
        )

    _over_values(writer, lanes, visit, some)
    _require_some(writer, some)
    bests.finish()


class _BestsInLocals:
    """The best value so far at each position of a small result, and the point that has it."""

    def __init__(self, writer: InstanceWriter) -> None:
        self.writer, self.dtype = writer, writer.statement.body.dtype
        self.names: dict[tuple[int, ...], tuple[str, str]] = {}
        _written_out(writer.shape, self._begin)

    def _begin(self, index: Index) -> None:
        out = self.writer.out
        best, where = out.name("best"), out.name("where")
        out.add(Variable(best, Number(identity("max", self.dtype), self.dtype)))
        out.add(Variable(where, Number(0, "int32")))
        self.names[tuple(i.constant for i in index)] = best, where

    def so_far(self, index: Index) -> tuple[Value, Value]:
        best, where = self.names[tuple(i.constant for i in index)]
        return Local(best, self.dtype), Local(where, "int32")

    def become(self, index: Index, best: Value, where: Value) -> None:
        names = self.names[tuple(i.constant for i in index)]
        for name, value in zip(reversed(names), (where, best), strict=True):
            self.writer.out.add(Update(name, value))

    def finish(self) -> None:
        _written_out(self.writer.shape, lambda i: self.writer.store(i, self.so_far(i)[1]))


class _BestsInMemory:
    """The same of a wide result, the points where that is stored."""

    def __init__(self, writer: InstanceWriter, lanes: str) -> None:
        self.writer, self.dtype = writer, writer.statement.body.dtype
        self.best = writer.out.scratch("best", self.dtype, total(writer.shape))
        begun = Number(identity("max", self.dtype), self.dtype), Number(0, "int32")
        writer.out.each(writer.shape, lambda i: self.become(i, *begun), lanes == "")

    def so_far(self, index: Index) -> tuple[Value, Value]:
        writer = self.writer
        where = Load(writer.target.buffer.name, writer.address(index), "int32")
        return Load(self.best, flat(index, writer.shape), self.dtype), where

    def become(self, index: Index, best: Value, where: Value) -> None:
        self.writer.store(index, where)
        self.writer.out.add(Store(self.best, flat(index, self.writer.shape), best))

    def finish(self) -> None:
        """Write nothing: the points are stored."""


Bests: TypeAlias = _BestsInLocals | _BestsInMemory


def _collect(writer: InstanceWriter) -> None:
    """Store the body's values side by side along the leading inner axis."""
    (dim,) = writer.statement.reduction_dims
    ranges, _ = writer.ranges()
    first = ranges[dim][0].substitute(writer.place)
    _over_values(writer, "", lambda i, v: writer.store((writer.place[dim] - first, *i), v))
