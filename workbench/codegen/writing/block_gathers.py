"""What data-dependent indices name, looked up for all lanes of a block in one loop.

One loop lets the processor wait for many places of memory at once, and what several statements read
at the same place is looked up and checked once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.kept_bodies import fits_in_locals
from workbench.codegen.emitter import Emitter, InBlock, total, unflat
from workbench.codegen.kernel_records import Store
from workbench.codegen.writing.block_lanes import (
    Place,
    Range,
    around,
    block_and_lanes,
    depends_on_data,
    sources,
)
from workbench.codegen.writing.turned_tiles import row_products, row_tile
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.program.bodies import Body, Read

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter


def gather_ahead(out: Emitter, writers: Sequence[InstanceWriter], written: frozenset[str]) -> None:
    """Look up what instances in one block will read and none of them writes."""
    together: dict[tuple[AxisBlock, Range, Place], dict[Read, InstanceWriter]] = {}
    rows: list[tuple[InstanceWriter, Read]] = []
    for writer in writers:
        block, lanes = block_and_lanes(writer)
        if block is None or lanes is None:
            continue
        for read in _small_gathers(writer):
            if not sources(writer, read) & written:
                key = (block, lanes, around(writer, block))
                together.setdefault(key, {}).setdefault(read, writer)
        for read in row_products(writer):
            if depends_on_data(read) and not sources(writer, read) & written:
                rows.append((writer, read))
    for (block, lanes, _), wanted in together.items():
        _gather(out, wanted, block, lanes)
        _prefetch_next(out, wanted, block, lanes)
    for writer, read in rows:
        row_tile(writer, read)


def gather_over(writer: InstanceWriter) -> None:
    """Look up what the points of a sum over a block read."""
    block, lanes = block_and_lanes(writer)
    if block is None or lanes is None:
        return
    known, place = writer.out.gathered, around(writer, block)
    wanted = {r: writer for r in _small_gathers(writer) if (r, lanes, place) not in known}
    if wanted:
        _gather(writer.out, wanted, block, lanes)
    take_gathered(writer)


def take_gathered(writer: InstanceWriter) -> None:
    """Let an instance use what was looked up for its block, in just its lanes."""
    wanted, known = tuple(_small_gathers(writer)), writer.out.gathered
    if not wanted or not known:
        return
    block, lanes = block_and_lanes(writer)
    if block is None:
        return
    for read in wanted:
        found = known.get((read, lanes, around(writer, block)))
        if found is not None:
            writer.in_block[read] = found


def _small_gathers(writer: InstanceWriter) -> Iterator[Read]:
    """Yield the reads of few elements whose indices depend on data."""
    for read in writer.statement.reads:
        if depends_on_data(read) and fits_in_locals(total(symbolic(read.shape))):
            yield read


def _gather(
    out: Emitter, wanted: dict[Read, InstanceWriter], block: AxisBlock, lanes: Range
) -> None:
    """Store what each read gives in each lane: the lanes innermost."""
    made: list[tuple[Read, InstanceWriter, InBlock]] = []
    for read, writer in wanted.items():
        elements = total(symbolic(read.shape)) * block.size
        tile = InBlock(out.scratch("gathered", read.dtype, elements), block, sources(writer, read))
        made.append((read, writer, tile))
    with out.loop(block.dim, *lanes, lanes=True) as lane:
        for read, writer, tile in made:
            place, shape = {**writer.place, block.dim: lane}, symbolic(read.shape)
            bodies = Bodies(out, writer.statement, place, writer.stored, False)
            bodies.check(read)
            for k in range(total(shape).constant):
                value = bodies.value(read, unflat(expression(k), shape))
                out.add(Store(tile.buffer, tile.address(expression(k), place), value))
    for read, writer, tile in made:
        out.gathered[read, lanes, around(writer, block)] = tile


def _prefetch_next(
    out: Emitter, wanted: dict[Read, InstanceWriter], block: AxisBlock, lanes: Range
) -> None:
    """Ask for what the next block looks up: it is at places that no processor foresees."""
    known = {read: w for read, w in wanted.items() if all(map(_is_known, read.index))}
    if not known:
        return
    number = next(iter(known.values())).place[block.number]
    ahead = {name: variable(name) + 1 for name in number.variables}
    lower, upper = (e.substitute(ahead) for e in lanes)
    with out.loop(block.dim, lower, upper, lanes=True) as lane:
        for read, writer in known.items():
            place = {d: e.substitute(ahead) for d, e in writer.place.items()}
            place[block.dim] = lane
            bodies = Bodies(out, writer.statement, place, writer.stored, False)
            out.add(bodies.prefetch(read))


def _is_known(index: Expression | Body) -> bool:
    """Tell whether an index is there already: an element of an array, whose place is known."""
    known = isinstance(index, Read) and all(isinstance(e, Expression) for e in index.index)
    return isinstance(index, Expression) or known
