"""Boxes: sets with a lower and upper bound per dimension, for extents, axes and loop ranges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from workbench.errors import ProgramError
from workbench.polyhedral.accesses import Extent
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.as_text import dims_of, in_context, parse_map, parse_set
from workbench.polyhedral.sets.isl_names import readable
from workbench.polyhedral.sets.isl_text import dims_text, to_expression


def is_box(text: str, axis: Sequence[str]) -> bool:
    """Tell whether the set is a box in `axis`, for fixed sizes and other dimensions."""
    return _boxes(text, tuple(axis))


def bounds(text: str, dims: Sequence[str]) -> list[tuple[Expression, Expression]]:
    """Return lower and exclusive upper bounds of `dims`, over sizes and other dimensions.

    Raises ProgramError where the set is not a box in `dims`, or is empty.
    """
    return list(_bounds(text, tuple(dims)))


@lru_cache(maxsize=4096)
def _bounds(text: str, dims: tuple[str, ...]) -> Extent:
    if not _boxes(text, dims):
        raise ProgramError(f"{readable(text)} is not a box in {', '.join(dims)}")
    others = tuple(d for d in dims_of(text) if d not in dims)
    return tuple(_interval(_onto(text, others, (dim,)), others) for dim in dims)


@lru_cache(maxsize=4096)
def hull(elements: str) -> Extent:
    """Return the smallest box over sizes that holds the set, at sizes at which it is not empty.

    Raises ProgramError for an empty set and for one without a bound.
    """
    return tuple(_interval(_onto(elements, (), (dim,)), ()) for dim in dims_of(elements))


@lru_cache(maxsize=4096)
def _boxes(text: str, axis: tuple[str, ...]) -> bool:
    if not axis:
        return True
    others = tuple(d for d in dims_of(text) if d not in axis)
    product = _filled(_onto(text, others, axis[:1]))
    for dim in axis[1:]:
        product = product.flat_range_product(_filled(_onto(text, others, (dim,))))
    return product.is_subset(_onto(text, others, axis))


def _onto(text: str, others: tuple[str, ...], axis: tuple[str, ...]) -> isl.Map:
    """Return the set, every size at least 1, as a relation from `others` to `axis`."""
    pick = f"[[{dims_text(others)}] -> [{dims_text(axis)}]]"
    select = parse_map(f"{{ [{dims_text(dims_of(text))}] -> {pick} }}")
    return in_context(parse_set(text)).apply(select).unwrap()


def _filled(row: isl.Map) -> isl.Map:
    """Fill every gap between the least and greatest value of a relation's one output."""
    everything = isl.Map.universe(row.get_space()).intersect_domain(row.domain())
    return everything.lower_bound_multi_pw_aff(row.min_multi_pw_aff()).upper_bound_multi_pw_aff(
        row.max_multi_pw_aff()
    )


def _interval(row: isl.Map, others: Sequence[str]) -> tuple[Expression, Expression]:
    """Return lower and exclusive upper bound of a relation's output, over `others` and sizes."""
    if row.is_empty():
        raise ProgramError("an empty set has no bounds")
    try:
        lower, upper = row.dim_min(0), row.dim_max(0)
    except isl.Error as error:
        raise ProgramError(f"{readable(str(row))} has no bound") from error
    known = row.domain()
    if not others:
        known = known.params()
    return _expression(lower, others, known), _expression(upper, others, known) + 1


def _expression(function: isl.PwAff, others: Sequence[str], known: isl.Set) -> Expression:
    if not others:
        function = function.project_domain_on_params()
    return to_expression(function, others, known)
