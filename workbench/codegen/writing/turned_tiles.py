"""What lies the other way round in memory than it is read, turned once for all lanes of a block.

In a tile the lanes are neighbours. An array outside of the blocks has the elements of one lane side
by side: a row of them is turned into a tile, for products of matrices. A tile that is read along an
inner axis is turned into rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.codegen.bodies.addresses import address, steps_of, tile_begin
from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.kept_bodies import fits_in_locals
from workbench.codegen.emitter import Element, InBlock, Index, total, turning, unflat
from workbench.codegen.kernel_records import Store, loads_of
from workbench.codegen.writing.block_lanes import (
    WHOLE_VECTORS,
    Range,
    around,
    block_and_lanes,
    depends_on_data,
    first_lane,
    sources,
)
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.program.bodies import Read

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter


# -- rows into tiles -------------------------------------------------------------------------------


def reads_rows(writer: InstanceWriter, block: AxisBlock) -> Iterator[Read]:
    """Yield what each lane of a block reads in a row of many elements."""
    if block.size % WHOLE_VECTORS:
        return
    for read in writer.statement.reads:
        stored, elements = writer.stored[read.array], total(symbolic(read.shape))
        if isinstance(stored, TileStored) or {read.dtype, stored.array.dtype} != {"float"}:
            continue
        if elements.terms or fits_in_locals(elements):
            continue
        affine = [e for e in read.index if isinstance(e, Expression)]
        if depends_on_data(read) or any(block.dim in e.variables for e in affine):
            yield read


def row_products(writer: InstanceWriter) -> frozenset[Read]:
    """Return what products of matrices need as tiles and is in rows."""
    return frozenset(p.row for p in writer.products.values() if p.row is not None)


def row_tile(writer: InstanceWriter, read: Read) -> InBlock:
    """Return the tile that has what all lanes of the writer's block read, made now if it is not
    there.
    """
    block, lanes = block_and_lanes(writer)
    assert block is not None and lanes is not None
    out, key = writer.out, (read, lanes, around(writer, block))
    if key not in out.gathered:
        elements = total(symbolic(read.shape))
        name = out.scratch("tile", "float", elements * block.size)
        tile = InBlock(name, block, sources(writer, read))
        (_turn_gathered if depends_on_data(read) else _turn_rows)(writer, read, tile, lanes)
        out.gathered[key] = tile
    return out.gathered[key]


def _turn_rows(writer: InstanceWriter, read: Read, tile: InBlock, lanes: Range) -> None:
    """Turn rows that are equally far apart."""
    trial = writer.out.trial()
    lane, inner = trial.name("lane"), trial.name("inner")
    place = {**writer.place, tile.block.dim: variable(lane)}
    index = [e.substitute(place) for e in read.index if isinstance(e, Expression)]
    stored = writer.stored[read.array]
    found = steps_of(address(stored, index, variable(inner), place), (lane, inner))
    if found is None or found[1][1] != 1:
        _turn_gathered(writer, read, tile, lanes)
        return
    begin, (by_lane, _) = found
    lower, upper = lanes
    to = (tile.buffer, lower - first_lane(writer, tile.block))
    source, sides = (stored.buffer.name, begin + lower * by_lane), (upper - lower, _row(read))
    writer.out.add(turning(source, expression(by_lane), to, expression(tile.block.size), *sides))


def _turn_gathered(writer: InstanceWriter, read: Read, tile: InBlock, lanes: Range) -> None:
    """Copy rows that are anywhere beside each other, and turn them."""
    out, block, shape, length = writer.out, tile.block, symbolic(read.shape), _row(read)
    rows = out.borrow("rows", "float", length * block.size)
    first = first_lane(writer, block)
    with out.loop(block.dim, *lanes) as lane:
        place = {**writer.place, block.dim: lane}
        bodies = Bodies(out, writer.statement, place, writer.stored, True)
        bodies.check(read)

        def copy(index: Index) -> None:
            value = bodies.value(read, unflat(index[0], shape))
            out.add(Store(rows, (lane - first) * length + index[0], value))

        out.each((length,), copy, lanes=True)
    lower, upper = lanes
    source, to = (rows, (lower - first) * length), (tile.buffer, lower - first)
    out.add(turning(source, length, to, expression(block.size), upper - lower, length))
    out.give_back(rows, "float", length * block.size)


def _row(read: Read) -> Expression:
    return total(symbolic(read.shape))


# -- tiles into rows -------------------------------------------------------------------------------


def turn_tiles(writer: InstanceWriter, axis: int) -> None:
    """Turn the tiles of all lanes that are read along an axis of the result."""
    out = writer.out
    needed = read_along(writer, axis)
    tiles: dict[Element, tuple[Expression, Expression]] = {}
    for read in writer.statement.reads:
        stored = writer.stored[read.array]
        if not isinstance(stored, TileStored) or stored.block is None:
            continue
        index = [e.substitute(writer.place) for e in read.index if isinstance(e, Expression)]
        if _all_lanes(writer) != (stored.block.dim,) or len(index) < len(read.index):
            continue
        if read.dtype != "float" or stored.buffer.name not in needed:
            continue
        begin, _ = tile_begin(stored, index, writer.place)
        tiles[stored.buffer.name, begin] = (_row(read), expression(stored.block.size))
    out.keep_turned(tiles)
    for tile, (features, lanes) in tiles.items():
        out.turn(tile, features, lanes)


def read_along(writer: InstanceWriter, axis: int) -> frozenset[str]:
    """Return the buffers of which a value of the body reads other elements along an axis."""
    trial = writer.out.trial()
    place = {**writer.place, **{d: variable(d) for d in _all_lanes(writer)}}
    bodies = Bodies(trial, writer.statement, place, writer.stored, False, writer.in_block)
    bodies.prepare()
    index = tuple(variable(trial.name("position")) for _ in writer.shape)
    value = bodies.value(writer.statement.body, index)
    return frozenset(
        load.buffer for load in loads_of(value) if index[axis].variables & load.at.variables
    )


def _all_lanes(writer: InstanceWriter) -> tuple[str, ...]:
    """Return the dimensions over whose values a statement runs or sums in one instance."""
    return writer.summed or tuple(writer.own)
