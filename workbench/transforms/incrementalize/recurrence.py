"""A reduction over a range that grows along a dimension, as a recurrence along it.

One instance comes from its neighbour and the point that enters. With blocks the recurrence runs
over the heads of the blocks, and then within all blocks at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.moving_ranges import (
    Recurrence,
    fixed,
    single,
    split,
    with_neighbour,
)
from workbench.polyhedral.sets.relations import (
    domain_with,
    intersect,
    is_empty,
    project_out,
    subtract,
    with_dims,
)
from workbench.program.bodies import Body, Literal
from workbench.program.operations.table import COMBINES
from workbench.program.values import Array
from workbench.transforms.incrementalize.factors import (
    Bindings,
    Summand,
    call,
    scaled,
)
from workbench.transforms.incrementalize.pieces import Pieces, read


@dataclass(frozen=True)
class Reduction:
    """The reduction to lift: `array[write] = combine(over in points) summand` for each instance of
    `domain` over `dims`, along `dim`.
    """

    array: Array
    write: tuple[Expression, ...]
    dims: tuple[str, ...]
    domain: str
    points: str
    dim: str
    over: str
    summand: Summand
    combiner: str

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The dimensions along which nothing moves."""
        return tuple(d for d in self.dims if d != self.dim)

    def element(self, values: Bindings) -> Body:
        """Return the result of another instance."""
        return read(self.array, self.index(values))

    def index(self, values: Bindings) -> tuple[Expression, ...]:
        """Return the element that an instance writes."""
        return tuple(e.substitute(values) for e in self.write)

    @property
    def nothing(self) -> Body:
        """The sum of no points."""
        zero = Literal(0.0 if self.array.dtype == "float" else 0, self.array.dtype)
        shape = self.array.shape
        return call("broadcast", zero, shape=shape) if shape else zero

    def both(self, left: Body, right: Body) -> Body:
        """Combine two values."""
        return call(COMBINES[self.combiner], left, right)


def recurrence(found: Reduction, grows: Recurrence, pieces: Pieces) -> None:
    """Add the instances without neighbour, then each of the others from its neighbour."""
    t = variable(found.dim)
    base(found, grows.base, pieces)
    steps(found, grows, pieces, found.dims, (grows.entering, grows.still), t)


def steps(
    found: Reduction,
    grows: Recurrence,
    pieces: Pieces,
    dims: tuple[str, ...],
    domains: tuple[str, str],
    t: Expression,
) -> None:
    """Add instances computed from their neighbours, with and without a point that enters."""
    here, there = {found.dim: t}, {found.dim: t + grows.step}
    kept = scaled(found.summand.ratio(here, there), found.element(there))
    entering = {**here, found.over: grows.entry.substitute(here)}
    body = found.both(found.summand.at(entering), kept)
    index = found.index(here)
    pieces.add(found.array, domains[0], dims, index, body)
    pieces.add(found.array, domains[1], dims, index, kept)


def base(found: Reduction, domain: str, pieces: Pieces, at: Expression | None = None) -> None:
    """Add instances combined anew: their own points, which are few. `at` is their one place along
    the dimension, where that is known.
    """
    if is_empty(domain):
        return
    at = single(domain, found.dim) if at is None else at
    if at is not None and at.variables:  # a write at a place that moves could not be a slice
        at = None
    points = intersect(found.points, with_dims(domain, (*found.dims, found.over)))
    if at is None:
        here, dims = variable(found.dim), found.dims
    else:
        here, dims = at, found.others
        domain, points = (project_out(text, (found.dim,)) for text in (domain, points))
    values: dict[str, Expression] = {found.dim: here}
    index = found.index(values)
    if is_empty(points):
        pieces.add(found.array, domain, dims, index, found.nothing)
        return
    k = single(points, found.over)
    if k is not None and is_empty(subtract(domain, project_out(points, (found.over,)))):
        body = found.summand.at({**values, found.over: k})
        pieces.add(found.array, domain, dims, index, body)
        return
    body = found.summand.at(values)
    pieces.add(found.array, domain, dims, index, body, (found.over,), points)


def blocked(
    found: Reduction, grows: Recurrence, pieces: Pieces, size: int, names: tuple[str, str]
) -> None:
    """Add what enters in each block, a recurrence over the blocks' heads, then all blocks in step.

    The head of a block is the element that its others need last: the first where the recurrence
    runs backwards, the last where it runs forwards.
    """
    block, position = names
    head = 0 if grows.step > 0 else size - 1
    t = variable(block) * size + variable(position)
    at_head = {position: head}
    heads, carried = (
        fixed(split(text, found.dim, size, names), at_head)
        for text in (
            found.domain,
            with_neighbour(found.domain, found.dim, grows.step * size),
        )
    )
    _first_head(found, subtract(heads, carried), pieces, size, (block, head))
    if not is_empty(carried):
        _heads(found, grows, pieces, size, names, carried)
    base(found, _not_at(grows.base, found.dim, size, head), pieces)
    dims = (*found.others, block, position)
    entering, still = (
        with_dims(_without(split(text, found.dim, size, names), position, head), dims)
        for text in (grows.entering, grows.still)
    )
    steps(found, grows, pieces, dims, (entering, still), t)


def _first_head(
    found: Reduction, heads: str, pieces: Pieces, size: int, place: tuple[str, int]
) -> None:
    """Add the head that no other one precedes, combined anew."""
    if is_empty(heads):
        return
    block, head = place
    number = single(heads, block)
    t = None if number is None else number * size + head
    place_of = variable(block) * size + head
    wide = domain_with(with_dims(heads, (*found.dims, block)), [(variable(found.dim), place_of)])
    base(found, project_out(wide, (block,)), pieces, t)


def _heads(
    found: Reduction,
    grows: Recurrence,
    pieces: Pieces,
    size: int,
    names: tuple[str, str],
    carried: str,
) -> None:
    """Add each head, from what enters in its block and the head before."""
    block, position = names
    dims = (*found.others, block)
    c = variable(block) * size
    here = {found.dim: c + (0 if grows.step > 0 else size - 1)}
    there = {found.dim: here[found.dim] + grows.step * size}
    entry = grows.entry.substitute({found.dim: c + variable(position)})
    entered = found.summand.at({**here, found.over: entry})
    everything = (*dims, position)
    domain = with_dims(carried, dims)
    points = intersect(
        with_dims(split(grows.entering, found.dim, size, names), everything),
        with_dims(domain, everything),
    )
    total = pieces.array("partial", entered, domain, dims)
    own = tuple(variable(d) for d in dims)
    pieces.add(total, domain, dims, own, entered, (position,), points)
    kept = scaled(found.summand.ratio(here, there), found.element(there))
    pieces.add(found.array, domain, dims, found.index(here), found.both(read(total, own), kept))


def _not_at(domain: str, dim: str, size: int, position: int) -> str:
    """Return the instances at any other position of their block."""
    at = variable(dim)
    return subtract(domain, _where(domain, at - size * (at // size) - position))


def _without(domain: str, position: str, at: int) -> str:
    return subtract(domain, _where(domain, variable(position) - at))


def _where(domain: str, zero: Expression) -> str:
    return domain_with(domain, [(zero, expression(0))])
