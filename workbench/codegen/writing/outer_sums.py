"""Sums of products of a point's own numbers, as gradients of weights are: some elements of the
result are summed at once over all points, in a local each.

What is summed along the lanes of a block lies side by side for it: features of one lane, where they
are the lanes of the sum, and what a gather reads, which is looked up once a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.kept_bodies import fits_in_locals
from workbench.codegen.bodies.position_visits import BLOCK
from workbench.codegen.emitter import InBlock, Index, total
from workbench.codegen.kernel_records import (
    Compute,
    Load,
    Local,
    Number,
    Update,
    Value,
    Variable,
)
from workbench.codegen.writing.block_gathers import gather_over
from workbench.codegen.writing.block_lanes import block_and_lanes, depends_on_data
from workbench.codegen.writing.matrix_products import write_lane_sums, write_outer_product
from workbench.codegen.writing.turned_tiles import (
    read_along,
    reads_rows,
    row_tile,
    turn_tiles,
)
from workbench.polyhedral.expression import Expression, expression
from workbench.program.bodies import Body

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter


def is_outer(writer: InstanceWriter) -> bool:
    """Tell whether a wide sum's points cost little: then each element is summed by itself."""
    if fits_in_locals(total(writer.shape)) or any(n.terms for n in writer.shape):
        return False
    return not writer.bodies("").keeps


def sum_blockwise(writer: InstanceWriter) -> None:
    """Sum some elements of the result at once, in a local each, over all points."""
    out, shape, dtype = writer.out, writer.shape, writer.target.array.dtype
    wide = [k for k, n in enumerate(shape) if not fits_in_locals(n)]
    lane = wide[-1] if wide and writer.laned else None
    rest = [k for k in range(len(shape)) if k != lane]
    row = rest[-1] if rest else None
    outer = [k for k in rest if k != row]
    order = [*outer, *([] if lane is None else [lane])]
    gather_over(writer)
    if lane is not None:
        if write_lane_sums(writer, lane):
            return
        _take_rows(writer, lane)
        turn_tiles(writer, lane)
        if write_outer_product(writer, lane):
            return

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


def _take_rows(writer: InstanceWriter, axis: int) -> None:
    """Let the sum use tiles of what its lanes gather in rows, unless it reads along these."""
    block, lanes = block_and_lanes(writer)
    if block is None or lanes is None:
        return
    for read in reads_rows(writer, block):
        if depends_on_data(read):
            name = writer.out.trial().name("tile")
            writer.in_block[read] = InBlock(name, block)
            if name in read_along(writer, axis):
                del writer.in_block[read]
            else:
                writer.in_block[read] = row_tile(writer, read)


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
