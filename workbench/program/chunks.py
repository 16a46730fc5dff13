"""Chunks: the runs of consecutive blocks in which the blocks of a loop add up their points.

The blocks of a loop run in any order, or at once. So that a sum has one value all the same, each
run of blocks has a partial sum of its own, to which its blocks add in their order; the partial sums
are combined in the order of the runs. Which block is in which run depends on sizes and the step
alone, not on what runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.polyhedral.expression import Expression, expression, maximum, minimum
from workbench.polyhedral.sets.relations import extent_of
from workbench.polyhedral.tree import Loop, Path, Standing, loops_above, standing
from workbench.program.bodies import Body, Call, IndexValue, Read
from workbench.program.values import Statement


@dataclass(frozen=True)
class Chunks:
    """At most `count` runs of the blocks of the loop called `loop`.

    `first` is the number of the first block, `blocks` how many there are; a run has one at least.
    An instance of the points stands in the loop by its dimension `dim`, at
    `(dim + shift) // size`.
    """

    count: int
    loop: str
    dim: str
    shift: int
    size: int
    first: Expression
    blocks: Expression

    def run_of(self, values: Mapping[str, Expression]) -> Expression:
        """Return the run in which an instance adds, from 0, by its dimensions' values.

        An axis in blocks has the block's number among them (`axis_blocks`).
        """
        number = values.get(f"@{self.loop}")
        if number is None:
            number = (values[self.dim] + self.shift) // self.size
        return (number - self.first) * self.runs // maximum(self.blocks, 1)

    @property
    def runs(self) -> Expression:
        """The number of runs."""
        return minimum(maximum(self.blocks, 1), self.count)

    @property
    def room(self) -> int | Expression:
        """The partial results that are kept: one for each run, as many as there may be where their
        number is not the same everywhere.
        """
        return self.count if self.runs.variables else self.runs


def chunks_of(points: Statement, added: frozenset[str], path: Path) -> Chunks | None:
    """Return the chunks of points that are added up over the dimensions `added`; None for one.

    They are those of the outermost loop in any order whose blocks add to one element.
    """
    for loop in loops_above(path):
        stands = standing(loop, points.name, points.dims)
        if loop.chunks > 1 and points.dims[stands.position] in added:
            return _chunks(loop, points, stands)
    return None


def _chunks(loop: Loop, points: Statement, stands: Standing) -> Chunks:
    lower, upper = extent_of(points.domain)[stands.position]
    first = (lower + stands.shift) // stands.divisor
    blocks = (upper - 1 + stands.shift + stands.divisor) // stands.divisor - first
    dim = points.dims[stands.position]
    return Chunks(loop.chunks, loop.name, dim, stands.shift, stands.divisor, first, blocks)


def combined(partial: Read, by: str) -> Body:
    """Return the partial results along the first inner axis, combined one after the other."""
    dtype, (runs, *shape) = partial.dtype, partial.shape
    if by != "sum":  # in any order
        return Call(by, (partial,), dtype, tuple(shape), (("axis", 0),))
    running = Call("cumsum", (partial,), dtype, partial.shape, (("axis", 0),))
    return Call("take", (running, IndexValue(expression(runs) - 1)), dtype, tuple(shape))
