"""A long reduction as partial results of blocks, and their combination."""

from __future__ import annotations

from workbench.polyhedral.expression import variable
from workbench.polyhedral.sets.relations import domain_with, project_out, with_dims
from workbench.program.values import Statement
from workbench.transforms.incrementalize.pieces import Pieces, read


def partial(old: Statement, dim: str, size: int, block: str, pieces: Pieces) -> None:
    """`s.partial` combines the points of one block of `dim`, `s` the blocks."""
    array = pieces.program.array[old.array]
    dims = (*old.dims, block)
    at, first = variable(dim), variable(block) * size
    points = domain_with(
        with_dims(old.reduction, (*dims, *old.reduction_dims)),
        at_least=[(at, first), (first + (size - 1), at)],
    )
    domain = project_out(points, old.reduction_dims)
    held = pieces.array("partial", read(array, old.write), domain, dims)
    own = tuple(variable(d) for d in dims)
    pieces.add(held, domain, dims, own, old.body, old.reduction_dims, points)
    pieces.add(array, old.domain, old.dims, old.write, read(held, own), (block,), domain)
