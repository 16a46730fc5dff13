"""The storage of arrays inside a loop of blocks that are apart: their lanes lie innermost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.lowering.memory.lives import homes
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.polyhedral.loops.axis_blocks import AxisBlock, axis_blocks
from workbench.polyhedral.tree import Loop, axis_dims, loops_above, paths
from workbench.program.bodies import Call
from workbench.program.values import Program


@dataclass(frozen=True)
class TileStored(Stored):
    """An array of which one block is held at a time, its elements side by side in memory.

    `lanes` is the position of the dimension that runs in blocks; `order` is without it. The lanes
    of a block are the last axis of the buffer, behind the inner shape, however a step has laid the
    array out.
    """

    lanes: int = 0
    block: AxisBlock | None = None

    def lane(self, index: Expression, number: Expression) -> Expression:
        """Return the place of an index within its block, whose number is given."""
        assert self.block is not None
        return index + self.block.shift - number * self.block.size


WHOLE = frozenset({"permutation", "orthogonalize", "external"})
"""The operations that write the inner axes of an element one after the other."""


def tiles(
    program: Program, lifetimes: Mapping[str, Lifetime], storage: Mapping[str, Stored]
) -> dict[str, Stored]:
    """Return the storage of the arrays that live inside a loop of blocks that are apart."""
    tiled: dict[str, Stored] = {}
    for name, (position, block) in lanes_of(program, lifetimes).items():
        stored = storage[name]
        order = tuple(p for p in stored.order if p != position)
        counts, inner = [stored.count(p) for p in order], symbolic(stored.array.shape)
        buffer = replace(stored.buffer, shape=(*counts, *inner, expression(block.size)))
        lead, windows, level = len(order), stored.windows, stored.level
        tiled[name] = TileStored(stored.array, order, lead, windows, buffer, level, position, block)
    return tiled


def lanes_of(
    program: Program, lifetimes: Mapping[str, Lifetime]
) -> Mapping[str, tuple[int, AxisBlock]]:
    """Return the arrays that live inside a loop of blocks that are apart: the dimension that is
    their lanes, and the blocks.
    """
    found = {}
    for name, loops in homes(program, lifetimes).items():
        around = next((loop for loop in loops if loop.apart), None)
        lane = None if around is None else _lane(program, name, around)
        if lane is not None:
            found[name] = lane
    return found


def _lane(program: Program, array: str, around: Loop) -> tuple[int, AxisBlock] | None:
    """Return the dimension of an array that all its users run over as lanes of the blocks, and
    these blocks.
    """
    at, axes = paths(program.schedule), axis_dims(program.schedule)
    common: set[tuple[int, AxisBlock]] | None = None
    for statement in program.equations.users[array]:
        indices = [r.index for r in statement.reads if r.array == array]
        if statement.array == array:
            indices.append(statement.write)
            if isinstance(statement.body, Call) and statement.body.operation in WHOLE:
                return None
        if around not in loops_above(at[statement.name]):
            return None
        blocks = [
            b
            for b in axis_blocks(statement.name, statement.dims, at[statement.name])
            if b.loop == around.name and b.dim in axes[statement.name]
        ]
        for index in indices:
            here = {(p, b) for b in blocks for p, e in enumerate(index) if e == variable(b.dim)}
            common = here if common is None else common & here
    return min(common, key=lambda pair: pair[0]) if common else None
