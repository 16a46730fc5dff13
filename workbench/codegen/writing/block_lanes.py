"""The block whose lanes an instance has or sums over, and where in the program it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.polyhedral.expression import Expression
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.program.bodies import Read, reads

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter

Range = tuple[Expression, Expression]
Place = frozenset[tuple[str, Expression]]

WHOLE_VECTORS = 16
"""A block of a multiple of so many lanes has room for every width of vectors."""


def block_of(writer: InstanceWriter, dims: Sequence[str]) -> AxisBlock | None:
    """Return the blocks in which the only one of some dimensions runs, or None."""
    return next((b for b in writer.blocks if (b.dim,) == tuple(dims)), None)


def block_and_lanes(writer: InstanceWriter) -> tuple[AxisBlock | None, Range | None]:
    """Return the block whose lanes an instance has or sums over, and their range."""
    if not writer.summed:
        lanes = writer.common_lanes()
        return block_of(writer, writer.own), None if lanes is None else (lanes.lower, lanes.upper)
    block, (ranges, mask) = block_of(writer, writer.summed), writer.ranges()
    if block is None or mask or writer.own:
        return None, None
    lower, upper = ranges[block.dim]
    return block, (lower.substitute(writer.place), upper.substitute(writer.place))


def first_lane(writer: InstanceWriter, block: AxisBlock) -> Expression:
    """Return the first value that the dimension of a block may have in it."""
    return writer.place[block.number] * block.size - block.shift


def around(writer: InstanceWriter, block: AxisBlock) -> Place:
    """Return the dimensions' values but for the lane's."""
    return frozenset((d, e) for d, e in writer.place.items() if d != block.dim)


def depends_on_data(read: Read) -> bool:
    """Tell whether an index of a read is no affine expression."""
    return any(not isinstance(e, Expression) for e in read.index)


def sources(writer: InstanceWriter, read: Read) -> frozenset[str]:
    """Return the buffers that a read takes its elements and its indices from."""
    return frozenset(writer.stored[r.array].buffer.name for r in reads(read))
