"""Reductions over points: the loops over them, and what is held while these run.

A small result is combined in locals. A wide sum is added up in memory; where a point's value costs
little, some elements are summed at once, in a local each. An argmax holds the best so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.codegen.kernel_records import (
    Compute,
    Invoke,
    Load,
    Local,
    Number,
    Position,
    Total,
    Update,
    Value,
    Variable,
)
from workbench.codegen.writing.addresses import tile_begin
from workbench.codegen.writing.body_values import Bodies
from workbench.codegen.writing.emitter import Index, cast, total
from workbench.codegen.writing.position_rules import is_better
from workbench.codegen.writing.position_visits import BLOCK, ValueVisit
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES
from workbench.program.values import Body

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter

ACCUMULATED = 16
"""The most elements of a reduction's result that are kept in locals."""


def write_reduction(writer: InstanceWriter, lanes: str) -> None:
    """Write a reduction at one position of the result's axes."""
    combiner = writer.combiner
    if combiner == "argmax":
        _argmax(writer)
    elif combiner == "collect":
        _collect(writer)
    elif combiner == "sum" and _is_outer(writer):
        _sum_blockwise(writer)
    elif combiner == "sum" and not _fits(total(writer.shape)):
        if not writer.into:
            writer.store_zeros(lanes == "")
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


# -- wide sums -------------------------------------------------------------------------------------


def _is_outer(writer: InstanceWriter) -> bool:
    """Tell whether the points' values cost little: then each result is summed by itself."""
    if _fits(total(writer.shape)) or any(n.terms for n in writer.shape):
        return False
    return not writer.bodies("").keeps


def _sum_blockwise(writer: InstanceWriter) -> None:
    """Sum some elements of the result at once, in a local each, over all points."""
    _turn_tiles(writer)
    out, shape, dtype = writer.out, writer.shape, writer.target.array.dtype
    wide = [k for k, n in enumerate(shape) if not _fits(n)]
    lane = wide[-1] if wide and writer.laned else None
    rest = [k for k in range(len(shape)) if k != lane]
    row = rest[-1] if rest else None
    outer = [k for k in rest if k != row]
    order = [*outer, *([] if lane is None else [lane])]

    def block(index: Mapping[int, Expression], first: Expression, many: int) -> None:
        indices = []
        for k in range(many):
            at = dict(index) if row is None else {**index, row: first + k}
            indices.append(tuple(at[axis] for axis in range(len(shape))))
        names = [out.name(writer.statement.array) for _ in indices]
        for name in names:
            out.add(Variable(name, Number(0, dtype)))

        def point() -> None:
            bodies = writer.bodies("")
            bodies.prepare()
            _add_values(bodies, writer.statement.body, indices, names)

        writer.over_points("", point)
        for name, position in zip(names, indices, strict=True):
            writer.store(position, Local(name, dtype), writer.into)

    def visit(index: Index) -> None:
        at = dict(zip(order, index, strict=True))
        n = shape[row].constant if row is not None else 1
        whole = n // BLOCK
        if whole:
            with out.loop("block", expression(0), expression(whole)) as number:
                block(at, number * BLOCK, BLOCK)
        if n % BLOCK:
            block(at, expression(whole * BLOCK), n % BLOCK)

    out.each([shape[k] for k in order], visit, lane is not None)


def _turn_tiles(writer: InstanceWriter) -> None:
    """Turn the tiles that are read, so that what one lane holds lies side by side."""
    out = writer.out
    for read in writer.statement.reads:
        stored = writer.stored[read.array]
        features = total(symbolic(read.shape))
        if not isinstance(stored, TileStored) or stored.block is None or _fits(features):
            continue
        if writer.summed != (stored.block.dim,) or read.dtype != "float":
            continue
        index = [e.substitute(writer.place) for e in read.index if isinstance(e, Expression)]
        if len(index) < len(read.index):
            continue
        begin, _ = tile_begin(stored, index, writer.place)
        key = (stored.buffer.name, begin)
        if key not in out.turned:
            lanes = expression(stored.block.size)
            out.turned[key] = out.scratch("turned", read.dtype, features * lanes)
            options = (("rows", features), ("columns", lanes))
            out.add(Invoke("turned", (out.turned[key], expression(0)), (key,), options))


def _add_values(bodies: Bodies, body: Body, indices: Sequence[Index], names: Sequence[str]) -> None:
    """Add a body's values at some positions to variables; factors of products are shared."""
    out, dtype = bodies.out, body.dtype
    values = [bodies.value(body, index) for index in indices]
    uses = Counter(
        argument
        for value in values
        if isinstance(value, Compute)
        for argument in value.arguments
        if isinstance(argument, (Load, Compute))
    )
    shared: dict[Value, Value] = {a: out.let("factor", a) for a, n in uses.items() if n > 1}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, Compute):
            arguments = tuple(shared.get(a, a) for a in value.arguments)
            if value.operation == "multiply" and dtype == "float":
                fused = Compute("fma", (*arguments, Local(name, dtype)), dtype)
                out.add(Update(name, fused))
                continue
            value = Compute(value.operation, arguments, value.dtype)
        out.add(Update(name, value, "add"))


def _fits(n: Expression) -> bool:
    return not n.terms and n.constant <= ACCUMULATED
