"""Products of matrices that a run-time function sums: weights times what the lanes of a block hold,
and sums over these lanes.

Whether a body is one is read off the places of its operands' elements: they are linear in the
position and in what is summed over. A trial writes them down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.codegen.bodies.addresses import address, steps_of
from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.kept_bodies import fits_in_locals, free, is_short, summed_letters
from workbench.codegen.emitter import Element, InBlock, Index
from workbench.codegen.kernel_records import Compute, Invoke, Load, Value
from workbench.codegen.writing.block_lanes import (
    WHOLE_VECTORS,
    block_of,
    depends_on_data,
    first_lane,
    sources,
)
from workbench.codegen.writing.turned_tiles import reads_rows, row_tile
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.numbering import numbered
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.program.bodies import Body, Call, Read
from workbench.program.operations.table import OPERATIONS

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter

MATRIX = 2
"""The axes of a matrix."""

FEW_ROWS = 2
"""So many rows times many cost less as sums along the lanes than as a product, for which what is on
the right is turned.
"""


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
    row: Read | None = None
    """What all lanes read in rows, if what is on the right is a tile of these."""
    sources: frozenset[str] = frozenset()
    """The buffers that what is on the right is taken from."""

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
        if call.operation == "contract" and call.dtype == "float" and not is_short(call):
            product = _block_product(writer, call, block)
            if product is not None:
                found[call] = product
    return found


def _block_product(writer: InstanceWriter, call: Call, block: AxisBlock) -> Product | None:
    inputs, output = call.options["spec"].split("->")
    summed = summed_letters(call)
    if len(output) != 1 or len(summed) != 1:
        return None
    trial = writer.out.trial()
    lane = trial.name("lane")
    place = {**writer.place, block.dim: variable(lane)}
    rows = {
        read: InBlock(trial.name("rows"), block, sources(writer, read))
        for read in reads_rows(writer, block)
    }
    bodies = Bodies(
        trial, writer.statement, place, writer.stored, False, dict[Body, InBlock](rows.items())
    )
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
    of_left, of_right = steps_of(left.at, (row, k, lane)), steps_of(right.at, (row, k, lane))
    if of_left is None or of_right is None:
        return None
    turned = next((r for r, tile in rows.items() if tile.buffer == right.buffer), None)
    tiles = {s.buffer.name for s in writer.stored.values() if isinstance(s, TileStored)}
    if turned is None and right.buffer not in tiles:
        return None
    (begin, (row_step, step, by_lane)), (behind, (by_row, right_step, along)) = of_left, of_right
    if by_lane or by_row or along != 1 or not row_step or not step:
        return None
    lengths = dict(zip(output, symbolic(call.shape), strict=True))
    for argument, part in zip(call.arguments, inputs.split(","), strict=True):
        lengths.update(zip(part, symbolic(argument.shape), strict=True))
    if all(map(fits_in_locals, (lengths[output], lengths[summed[0]]))):
        return None
    taken_from = frozenset((right.buffer,)) if turned is None else rows[turned].sources
    right_begin = (right.buffer, behind + first_lane(writer, block))
    return Product(
        (left.buffer, begin), row_step, step, right_begin, right_step, lengths[output],
        lengths[summed[0]], turned, taken_from,
    )  # fmt: skip


def _is_plain(bodies: Bodies, body: Body) -> bool:
    """Tell whether a body is elements of one array, moved about."""
    if body in bodies.in_block:
        return True
    if isinstance(body, Read):
        return not depends_on_data(body)
    if not isinstance(body, Call) or not free(bodies.numbering, bodies.numbering[body]):
        return False
    return all(_is_plain(bodies, argument) for argument in body.arguments)


def write_block_products(writer: InstanceWriter, upper: Expression, replaces: bool) -> None:
    """Write the products of a body for all lanes of the block before `upper`.

    `replaces`: nobody in the loop over these lanes needs what is where the result will be. Then a
    product is summed there if the result's elements are computed from its own one by one: a tile
    less to go through.
    """
    block = block_of(writer, writer.own)
    assert block is not None
    first = first_lane(writer, block)
    begin = _begin_of_result(writer, block) if replaces else None
    for call, product in writer.products.items():
        if product.row is not None:
            rows = writer.in_block[product.row] = row_tile(writer, product.row)
            product = replace(product, right=(rows.buffer, product.right[1]))
        if begin is not None and _are_beside(writer.statement.body, call):
            tile = InBlock(writer.target.buffer.name, block, begin=begin)
            begin = None
        else:
            writer.out.keep_turned(())  # seldom needed behind this, while its memory is
            name = writer.out.borrow("product", "float", product.rows * block.size)
            tile = InBlock(name, block)
            writer.lent.append(call)
        out = (tile.buffer, tile.begin)
        writer.out.add(product.invoke(out, block.size, upper - first, whole=True))
        writer.out.forget(*out)
        writer.in_block[call] = tile


def give_back_products(writer: InstanceWriter) -> None:
    """Let the memory of a body's products be used again."""
    for call, product in writer.products.items():
        tile = writer.in_block.pop(call)
        if call in writer.lent:
            writer.out.give_back(tile.buffer, "float", product.rows * tile.block.size)


def _begin_of_result(writer: InstanceWriter, block: AxisBlock) -> Expression | None:
    """Return the place of the first element of the result's tile, if its elements and lanes lie as
    those of a product.
    """
    target, statement = writer.target, writer.statement
    if not isinstance(target, TileStored) or target.block != block:
        return None
    if target.array.dtype != "float":
        return None
    lane, row = (writer.out.trial().name(wish) for wish in ("lane", "row"))
    place = {**writer.place, block.dim: variable(lane)}
    write = tuple(e.substitute(place) for e in statement.write)
    found = steps_of(address(target, write, variable(row), place), (row, lane))
    if found is None or found[1] != [block.size, 1]:
        return None
    return found[0] + first_lane(writer, block)


def _are_beside(body: Body, call: Call) -> bool:
    """Tell whether each element of a body is computed from the same element of a call alone, of all
    that the call has.
    """
    numbering = numbered(body)
    holding = {numbering[call]}
    for number, part in enumerate(numbering.bodies):  # operands before what needs them
        below = holding.intersection(numbering.children[number])
        if not below:
            continue
        if not isinstance(part, Call) or not OPERATIONS[part.operation].elementwise:
            return False
        if any(numbering.bodies[child].shape != part.shape for child in below):
            return False
        holding.add(number)
    return True


# -- over a block ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Factor:
    """An element of each row, column and lane: the first, and how far the next row's, the next
    column's and the next lane's are from it.
    """

    buffer: str
    begin: Expression
    row: int
    column: int
    lane: int

    def at(self, lane: Expression) -> Element:
        """Return the first one in a lane."""
        return self.buffer, self.begin + lane * self.lane


@dataclass(frozen=True)
class OuterSum:
    """A sum over the lanes of a block, from `lower` to `upper`: out += left * right in each row and
    column. Without `left` it is that of `right`.
    """

    left: Factor | None
    right: Factor
    out: Factor
    lower: Expression
    upper: Expression


def _outer_sum(writer: InstanceWriter, column: int) -> OuterSum | None:
    """Return the sum that a body is, if it is one. `column` is the axis of the result for columns,
    of which what is on the right has one each.
    """
    block, (ranges, mask) = block_of(writer, writer.summed), writer.ranges()
    axes = len(writer.shape)
    if block is None or mask or axes > MATRIX or writer.target.array.dtype != "float":
        return None
    trial = writer.out.trial()
    trial.turned = dict(writer.out.turned)
    lane, row, along = (trial.name(wish) for wish in ("lane", "row", "column"))
    place = {**writer.place, block.dim: variable(lane)}
    bodies = Bodies(trial, writer.statement, place, writer.stored, False, writer.in_block)
    index = [variable(row)] * axes
    index[column] = variable(along)
    bodies.prepare()
    loads = _factors(bodies.value(writer.statement.body, tuple(index)))
    if trial.records or loads is None:
        return None
    of_loads = sorted(loads, key=lambda load: along in load.at.variables)
    places = [(load.buffer, load.at) for load in of_loads]
    places.append((writer.target.buffer.name, writer.address(tuple(index))))
    found = []
    for buffer, at in places:
        steps = steps_of(at, (row, along, lane))
        if steps is None:
            return None
        found.append(Factor(buffer, steps[0], *steps[1]))
    *more, right, out = found
    if right.row or out.lane or any(left.column for left in more):
        return None
    lower, upper = (e.substitute(writer.place) for e in ranges[block.dim])
    return OuterSum(more[0] if more else None, right, out, lower, upper)


def write_lane_sums(writer: InstanceWriter, column: int) -> bool:
    """Write a sum over the lanes of a block as one of few rows times many, whose lanes are all
    neighbours in memory; tell whether it is one. `column` is the axis of the result for the many.
    """
    if len(writer.shape) != MATRIX:
        return False
    rows, columns = writer.shape[1 - column], writer.shape[column]
    found = _outer_sum(writer, column)
    if found is None or found.left is None or rows.terms or rows.constant > FEW_ROWS:
        return False
    left, right, out = found.left, found.right, found.out
    if left.lane != 1 or right.lane != 1:
        return False
    options = (
        ("row_step", left.row),
        ("right_step", right.column),
        ("out_step", out.row),
        ("next", out.column),
        ("rows", rows),
        ("columns", columns),
        ("times", found.upper - found.lower),
        ("into", bool(writer.into)),
    )
    element = (out.buffer, out.begin)
    operands = (left.at(found.lower), right.at(found.lower))
    writer.out.add(Invoke("lane_sums", element, operands, options))
    writer.out.forget(*element)
    return True


def write_outer_product(writer: InstanceWriter, column: int) -> bool:
    """Write the sum over the lanes of a block as a product of matrices; tell whether it is one.

    `column` is the axis of the result along which what is summed has neighbours in memory. A vector
    has one row. Where the result has its neighbours along the other axis, the product is summed in
    memory of its own and goes from there.
    """
    found = _outer_sum(writer, column)
    if found is None or found.right.column != 1:
        return False
    left, right, to, out = found.left, found.right, found.out, writer.out
    matrix = len(writer.shape) == MATRIX
    product = Product(
        left.at(found.lower) if left else (out.table("one", "float", (1.0,)), expression(0)),
        left.row if left else 0,
        left.lane if left else 0,
        right.at(found.lower),
        right.lane,
        writer.shape[1 - column] if matrix else expression(1),
        found.upper - found.lower,
    )
    columns = writer.shape[column]
    if to.column == 1:
        element = (to.buffer, to.begin)
        out.add(product.invoke(element, to.row, columns, into=bool(writer.into)))
        out.forget(*element)
        return True
    elements = product.rows * columns
    name = out.borrow("product", "float", elements)
    out.add(product.invoke((name, expression(0)), columns.constant, columns))

    def store(index: Index) -> None:
        at = (index[1 - column] if matrix else expression(0)) * columns + index[column]
        writer.store(index, Load(name, at, "float"), writer.into)

    out.each(writer.shape, store)
    out.give_back(name, "float", elements)
    return True


def _factors(value: Value) -> tuple[Load, ...] | None:
    """Return the factors of a product of two elements, or one element; None for anything else."""
    product = isinstance(value, Compute) and value.operation == "multiply"
    found = value.arguments if isinstance(value, Compute) and product else (value,)
    loads = tuple(load for load in found if isinstance(load, Load) and load.dtype == "float")
    return loads if len(loads) == len(found) else None
