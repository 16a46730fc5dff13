"""Reductions over points: the loops over them, and what is held while these run.

A small result is combined in locals. A wide sum is added up in memory, unless a point's value costs
little (`outer_sums`). An argmax holds the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.codegen.bodies.kept_bodies import fits_in_locals
from workbench.codegen.bodies.position_rules import is_better
from workbench.codegen.bodies.position_visits import ValueVisit
from workbench.codegen.emitter import Index, cast, total
from workbench.codegen.kernel_records import (
    Compute,
    Local,
    Number,
    Position,
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
        _argmax(writer)
    elif combiner == "collect":
        _collect(writer)
    elif combiner == "sum" and is_outer(writer):
        sum_blockwise(writer)
    elif combiner == "sum" and not fits_in_locals(total(writer.shape)):
        if not writer.into:
            writer.store_zeros(lanes == "")
        entry = entry_alone(writer.statement.body)
        if entry is not None:
            _over_entries(writer, lanes, entry)
            return
        _over_values(writer, lanes, lambda i, v: writer.store(i, v, COMBINES["sum"]))
    else:
        _combine_in_locals(writer, str(combiner), lanes)


def _over_values(writer: InstanceWriter, lanes: str, visit: ValueVisit) -> None:
    """Visit every position of the body at every point of the reduction."""

    def point() -> None:
        bodies = writer.bodies(lanes)
        bodies.prepare()
        bodies.positions(writer.statement.body, visit)

    writer.over_points(lanes, point)


def _over_entries(writer: InstanceWriter, lanes: str, entry: Call) -> None:
    """Add to one entry of the result at every point of the reduction."""

    def point() -> None:
        bodies = writer.bodies(lanes)
        bodies.prepare()
        write_update(writer, bodies, entry)

    writer.over_points(lanes, point)


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
    some = "" if combiner == "sum" or writer.into else _variable_some(writer)

    def combine(index: Index, value: Value) -> None:
        name = names[tuple(i.constant for i in index)]
        out.add(Update(name, cast(value, dtype), operation))
        if some:
            out.add(Update(some, Number(True, "bool")))

    _over_values(writer, lanes, combine)
    if some:
        writer.bodies("").require("nonempty", Local(some, "bool"))

    def finish(index: Index) -> None:
        name = names[tuple(i.constant for i in index)]
        if by_lanes:
            together = out.name("together")
            out.add(Total(together, Local(name, dtype), operation))
            name = together
        writer.store(index, Local(name, dtype), writer.into)

    _written_out(writer.shape, finish)


def _variable_some(writer: InstanceWriter) -> str:
    """Return the name of a new variable that tells whether there were points."""
    some = writer.out.name("some")
    writer.out.add(Variable(some, Number(False, "bool")))
    return some


def _written_out(shape: Sequence[Expression], visit: Callable[[Index], None]) -> None:
    """Visit every position of a small shape, each written out."""
    positions: list[tuple[int, ...]] = [()]
    for n in shape:
        positions = [(*at, k) for at in positions for k in range(n.constant)]
    for at in positions:
        visit(tuple(expression(k) for k in at))


def _argmax(writer: InstanceWriter) -> None:
    out, body, dim = writer.out, writer.statement.body, writer.statement.reduction_dims[0]
    best, where, some = (out.name(n) for n in ("best", "where", "some"))
    out.add(Variable(best, Number(identity("max", body.dtype), body.dtype)))
    out.add(Variable(where, Number(0, "int32")))
    out.add(Variable(some, Number(False, "bool")))

    def visit(index: Index, value: Value) -> None:
        value = out.let("value", value)
        held = Local(best, body.dtype)
        first = Compute("logical_not", (Local(some, "bool"),), "bool")
        better = Compute("logical_or", (is_better(value, held, "greater"), first), "bool")
        chosen = out.let("better", better)
        at, old = Position(writer.place[dim]), Local(where, "int32")
        out.add(Update(where, Compute("where", (chosen, at, old), "int32")))
        out.add(Update(best, Compute("where", (chosen, value, held), body.dtype)))
        out.add(Update(some, Number(True, "bool")))

    _over_values(writer, "", visit)
    writer.bodies("").require("nonempty", Local(some, "bool"))
    writer.store((), Local(where, "int32"))


def _collect(writer: InstanceWriter) -> None:
    """Store the body's values side by side along the leading inner axis."""
    (dim,) = writer.statement.reduction_dims
    ranges, _ = writer.ranges()
    first = ranges[dim][0].substitute(writer.place)
    _over_values(writer, "", lambda i, v: writer.store((writer.place[dim] - first, *i), v))
