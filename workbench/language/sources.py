"""Reads, points and elements of what a reverse pass differentiates."""

from __future__ import annotations

from workbench.errors import ProgramError
from workbench.language.inverse import SourceRead
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Bound, Node
from workbench.language.tracing.trace import current, user_line
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.as_conditions import conditions
from workbench.polyhedral.sets.relations import (
    box,
    domain_with,
    hull,
    image,
    intersect,
    pieces,
    union,
    universe,
)

Source = Node | Recurrent
Part = tuple[tuple[Bound, ...], tuple[tuple[Expression, Expression], ...], tuple[Expression, ...]]
"""Points: bounds of their dims, expressions that must be equal, and some that must be at least 0.
"""


def reads_of(source: Source) -> list[SourceRead]:
    """Return the reads of an array's pieces, or of an operation's operands, with their points."""
    if isinstance(source, Recurrent):
        return [SourceRead(piece.value, bounds_of(piece.dims)) for piece in source.pieces]
    bounds = (*source.ranges, *source.over)
    return [SourceRead(x, bounds, source.equal, source.at_least) for x in source.operands]


def bounds_of(dims: tuple[str, ...]) -> tuple[Bound, ...]:
    """Return dims with their own ranges."""
    trace = current()
    return tuple((d, trace.dims[d].lower, trace.dims[d].upper) for d in dims)


def parts_of(dims: tuple[str, ...], domain: str) -> list[Part]:
    """Return a set over dims in disjoint parts, each as bounds and further constraints. A second
    derivative goes through the pieces of a first one, which have domains of their own.
    """
    parts: list[Part] = []
    for piece in pieces(domain):
        limits = zip(dims, hull(piece), strict=True)
        bounds = tuple((d, low, high) for d, (low, high) in limits)
        for each in conditions(piece, box(bounds)):
            equal = tuple((e, expression(0)) for e, equality in each if equality)
            parts.append((bounds, equal, tuple(e for e, equality in each if not equality)))
    return parts


def elements_of(source: Source, seeds: tuple[str, ...]) -> str:
    """Return the elements of a source (with the seed dims, where the loss has them) as a set."""
    dims = current().ordered({*source.dims, *seeds})
    if isinstance(source, Node):
        own = {bound[0]: bound for bound in source.ranges}
        return box([own.get(bound[0], bound) for bound in bounds_of(dims)])
    extent: str | None = None
    seen = domain_with(
        universe(dims),
        at_least=[
            pair
            for d, low, high in bounds_of(seeds)
            for pair in ((variable(d), low), (high - 1, variable(d)))
        ],
    )
    for piece in source.pieces:
        extra = tuple(s for s in seeds if s not in piece.dims)
        domain = piece.domain or box(bounds_of((*piece.dims, *extra)))
        at = dict(zip(source.dims, piece.index, strict=True))
        index_of = [at.get(d, variable(d)) for d in dims]
        part = intersect(image(domain, (*piece.dims, *extra), index_of, None, dims), seen)
        extent = part if extent is None else union(extent, part)
    if extent is None:
        raise ProgramError(
            f"the gradient goes through {source.name}, which nothing defines yet: write "
            f"{source.name}[…] = … before it, of a recurrence its first elements at least",
            user_line(),
        )
    return extent


def name_of(source: Source) -> str | None:
    """Return the name that a derivative of the source gets, where there is one."""
    return source.name or (source.hint if isinstance(source, Node) else None)
