"""Products of matrices that a run-time function sums: weights times what the lanes of a block hold,
and sums over these lanes.

Whether a body is one is read off the places of its operands' elements: they are linear in the
position and in what is summed over. A trial writes them down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.kept_bodies import fits_in_locals, free, summed_letters
from workbench.codegen.emitter import Element, Emitter, InBlock
from workbench.codegen.kernel_records import Compute, Invoke, Load, Value
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.program.values import Body, Call, Literal, reads, walk

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter

WHOLE_VECTORS = 16
"""A block of a multiple of so many lanes has room for every width of vectors."""


@dataclass(frozen=True)
class Product:
    """The sums `out[r, c] = sum(k < times) left[r, k] * right[k, c]`; neighbours along c are
    neighbours in memory, along the others so many elements are between them.
    """

    left: Element
    row_step: int
    step: int
    right: Element
    right_step: int
    rows: Expression
    times: Expression

    def invoke(
        self,
        out: Element,
        out_step: int,
        columns: Expression,
        whole: bool = False,
        into: bool = False,
    ) -> Invoke:
        """Return the call. `whole`: room for whole vectors, `into`: added to what is there."""
        options = (
            ("row_step", self.row_step),
            ("step", self.step),
            ("right_step", self.right_step),
            ("out_step", out_step),
            ("rows", self.rows),
            ("columns", columns),
            ("times", self.times),
            ("whole", whole),
            ("into", into),
        )
        return Invoke("product", out, (self.left, self.right), options)


def _steps(at: Expression, names: Sequence[str]) -> tuple[Expression, list[int]] | None:
    """Return a place at 0 of some variables, and how far a step of each goes; None if it varies."""
    steps = [at.coefficient(name) for name in names]
    begin = at
    for name, step in zip(names, steps, strict=True):
        begin = begin - variable(name) * step
    return None if begin.variables & set(names) else (begin, steps)


# -- of a block ------------------------------------------------------------------------------------


def block_products(writer: InstanceWriter) -> dict[Call, Product]:
    """Return the contractions of a body that are products of a matrix that all lanes share with
    what the lanes of a block hold. Its columns are these lanes.
    """
    block = block_of(writer, writer.own)
    if block is None or block.size % WHOLE_VECTORS:
        return {}
    found = {}
    for call in writer.statement.calls:
        if call.operation == "contract" and call.dtype == "float":
            product = _block_product(writer, call, block)
            if product is not None:
                found[call] = product
    return found


def block_of(writer: InstanceWriter, dims: Sequence[str]) -> AxisBlock | None:
    """Return the blocks in which the only one of some dimensions runs, or None."""
    return next((b for b in writer.blocks if (b.dim,) == tuple(dims)), None)


def _block_product(writer: InstanceWriter, call: Call, block: AxisBlock) -> Product | None:
    inputs, output = call.options["spec"].split("->")
    summed = summed_letters(call)
    if len(output) != 1 or len(summed) != 1:
        return None
    trial = Emitter(set(writer.out.taken))
    lane = trial.name("lane")
    place = {**writer.place, block.dim: variable(lane)}
    bodies = Bodies(trial, writer.statement, place, writer.stored, False)
    letters = {c: trial.name("letter") for c in (*output, *summed)}
    factors: list[Load] = []
    for argument, part in zip(call.arguments, inputs.split(","), strict=True):
        if not _is_plain(bodies, argument):
            return None
        value = bodies.value(argument, tuple(variable(letters[c]) for c in part))
        if not isinstance(value, Load):
            return None
        factors.append(value)
    right, left = sorted(factors, key=lambda load: lane not in load.at.variables)
    row, k = letters[output], letters[summed[0]]
    of_left, of_right = _steps(left.at, (row, k, lane)), _steps(right.at, (row, k, lane))
    tiles = {s.buffer.name for s in writer.stored.values() if isinstance(s, TileStored)}
    if of_left is None or of_right is None or right.buffer not in tiles:
        return None
    (begin, (row_step, step, by_lane)), (behind, (by_row, right_step, along)) = of_left, of_right
    if by_lane or by_row or along != 1 or not row_step or not step:
        return None
    lengths = dict(zip(output, symbolic(call.shape), strict=True))
    for argument, part in zip(call.arguments, inputs.split(","), strict=True):
        lengths.update(zip(part, symbolic(argument.shape), strict=True))
    if all(map(fits_in_locals, (lengths[output], lengths[summed[0]]))):
        return None
    first = writer.place[block.number] * block.size - block.shift
    right_begin = (right.buffer, behind + first)
    return Product(
        (left.buffer, begin), row_step, step, right_begin, right_step, lengths[output],
        lengths[summed[0]],
    )  # fmt: skip


def _is_plain(bodies: Bodies, body: Body) -> bool:
    """Tell whether a body is elements of one array, moved about."""
    whole = all(isinstance(e, Expression) for read in reads(body) for e in read.index)
    literal = any(isinstance(part, Literal) for part in walk(body))
    return whole and not literal and free(bodies.numbering, bodies.numbering[body])


def write_block_products(
    writer: InstanceWriter, products: dict[Call, Product], upper: Expression
) -> None:
    """Write the products of a body for all lanes of the block before `upper`."""
    block = block_of(writer, writer.own)
    assert block is not None
    first = writer.place[block.number] * block.size - block.shift
    for call, product in products.items():
        name = writer.out.borrow("product", "float", product.rows * block.size)
        out = (name, expression(0))
        writer.out.add(product.invoke(out, block.size, upper - first, whole=True))
        writer.in_block[call] = InBlock(name, block, frozenset())


def give_back_products(writer: InstanceWriter) -> None:
    """Let the memory of a body's products be used again."""
    for call, product in writer.products.items():
        tile = writer.in_block.pop(call)
        writer.out.give_back(tile.buffer, "float", product.rows * tile.block.size)


# -- over a block ----------------------------------------------------------------------------------


def outer_product(writer: InstanceWriter, column: int) -> Invoke | None:
    """Return the sum over the lanes of a block as a product of matrices, if it is one.

    `column` is the axis of the result along which neighbours are neighbours in memory.
    """
    block, (ranges, mask) = block_of(writer, writer.summed), writer.ranges()
    if block is None or mask or len(writer.shape) != 2 or writer.target.array.dtype != "float":
        return None
    trial = Emitter(set(writer.out.taken))
    trial.turned = dict(writer.out.turned)
    lane, row, along = (trial.name(wish) for wish in ("lane", "row", "column"))
    place = {**writer.place, block.dim: variable(lane)}
    bodies = Bodies(trial, writer.statement, place, writer.stored, False, writer.in_block)
    index = [variable(row), variable(row)]
    index[column] = variable(along)
    bodies.prepare()
    factors = _factors(bodies.value(writer.statement.body, tuple(index)))
    if trial.records or factors is None:
        return None
    right, left = sorted(factors, key=lambda load: along not in load.at.variables)
    names = (row, along, lane)
    places = [_steps(at, names) for at in (left.at, right.at, writer.address(tuple(index)))]
    if any(found is None for found in places):
        return None
    (begin, (row_step, across, step)), (behind, (by_row, one, right_step)), target = (
        found for found in places if found is not None
    )
    to, (out_step, next_to, by_lane) = target
    if across or by_row or by_lane or one != 1 or next_to != 1:
        return None
    lower, upper = (e.substitute(writer.place) for e in ranges[block.dim])
    product = Product(
        (left.buffer, begin + lower * step), row_step, step,
        (right.buffer, behind + lower * right_step), right_step,
        writer.shape[1 - column], upper - lower,
    )  # fmt: skip
    out = (writer.target.buffer.name, to)
    return product.invoke(out, out_step, writer.shape[column], into=bool(writer.into))


def _factors(value: Value) -> tuple[Load, Load] | None:
    """Return the factors of a product of two elements, or None."""
    if not isinstance(value, Compute) or value.operation != "multiply":
        return None
    left, right = value.arguments
    if isinstance(left, Load) and isinstance(right, Load) and left.dtype == right.dtype == "float":
        return left, right
    return None
