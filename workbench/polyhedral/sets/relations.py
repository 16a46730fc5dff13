"""Relations between points and elements, and the one door to everything about sets.

An access is a relation from a statement's points to the elements of an array; domains and extents
are sets. Other packages import from here; the parts live in `as_text`, `boxes`, `counting` and
`isl_text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from workbench.errors import ProgramError
from workbench.polyhedral.accesses import AccessEntry, Between, Extent, Tied
from workbench.polyhedral.expression import Expression, maximum
from workbench.polyhedral.sets.as_text import (
    box,
    dims_of,
    domain_with,
    in_context,
    intersect,
    is_empty,
    is_equal,
    is_subset,
    parse_map,
    parse_set,
    pieces,
    possible,
    project_out,
    sizes_satisfying,
    subtract,
    to_text,
    union,
    universe,
    with_dims,
)
from workbench.polyhedral.sets.boxes import bounds, hull, is_box
from workbench.polyhedral.sets.counting import count, points
from workbench.polyhedral.sets.isl_text import constraint, dims_text, parameters_text

__all__ = [
    "bounds",
    "box",
    "count",
    "dims_of",
    "domain_with",
    "extent_of",
    "hull",
    "image",
    "index_text",
    "intersect",
    "is_box",
    "is_empty",
    "is_equal",
    "is_subset",
    "parse_set",
    "pieces",
    "points",
    "possible",
    "project_out",
    "sizes_satisfying",
    "subtract",
    "union",
    "universe",
    "with_dims",
]


def index_text(
    dims: Sequence[str], index: Sequence[AccessEntry], extent: Extent | None = None
) -> str:
    """Return isl text of the relation from points over `dims` to the elements an index touches.

    An index of None touches every position within `extent` along that dimension.
    """
    conditions, sizes = [], set[str]()
    for position, e in enumerate(index):
        out = f"o{position}"
        if e is None or isinstance(e, Tied):
            if extent is None:
                raise ProgramError("a data-dependent index needs the array's extent")
            lower, upper = extent[position]
            conditions += [constraint(out, ">=", lower), constraint(out, "<", upper)]
            sizes |= lower.sizes | upper.sizes
        if isinstance(e, Expression):
            conditions.append(constraint(out, "=", e))
        elif isinstance(e, Between):
            conditions += [constraint(out, ">=", e.lower), constraint(out, "<", e.upper)]
        elif e is not None:
            conditions += _tied(e, out)
        sizes |= set() if e is None else e.sizes
    outs = ", ".join(f"o{position}" for position in range(len(index)))
    where = f" : {' and '.join(conditions)}" if conditions else ""
    return f"{parameters_text(sizes)} -> {{ [{dims_text(dims)}] -> [{outs}]{where} }}"


def _tied(e: Tied, out: str) -> list[str]:
    """Return the constraints of an index that is bounded where entries before it have values."""
    conditions = []
    for known, relation in ((e.lower, ">="), (e.upper, "<")):
        if known is not None:
            values, bound = known
            there = (constraint(f"o{p}", "=", value) for p, value in zip(e.at, values, strict=True))
            held = constraint(out, relation, bound)
            conditions.append(f"(not ({' and '.join(there)}) or {held})")
    return conditions


def image(
    domain: str,
    dims: Sequence[str],
    index: Sequence[AccessEntry],
    extent: Extent | None,
    out_dims: Sequence[str],
) -> str:
    """Return the elements, named by `out_dims`, that `domain` touches through `index`."""
    relation = parse_map(index_text(dims, index, extent))
    return to_text(parse_set(domain).apply(relation), out_dims)


def is_one_to_one(domain: str, dims: Sequence[str], index: Sequence[Expression]) -> bool:
    """Tell whether no two points of `domain` have one index, at any sizes (each at least 1)."""
    points = in_context(parse_set(domain))
    return parse_map(index_text(dims, index)).intersect_domain(points).is_injective()


@lru_cache(maxsize=4096)
def extent_of(elements: str) -> Extent:
    """Return the smallest box over sizes that holds the set: an array's extent.

    At sizes where the set is empty the box has no element, but never fewer.
    """
    return tuple(_length_at_least_0(lower, upper) for lower, upper in hull(elements))


def _length_at_least_0(lower: Expression, upper: Expression) -> tuple[Expression, Expression]:
    fewer = domain_with(universe(()), at_least=[(lower - 1, upper)])
    return lower, upper if is_empty(fewer) else maximum(lower, upper)
