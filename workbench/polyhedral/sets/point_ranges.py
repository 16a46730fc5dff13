"""The points that a reduction combines, as loops: a range of each dimension, and conditions."""

from __future__ import annotations

from functools import lru_cache

from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.as_conditions import Conditions, conditions
from workbench.polyhedral.sets.relations import (
    bounds,
    dims_of,
    domain_with,
    hull,
    is_empty,
    is_equal,
    project_out,
    with_dims,
)

Ranges = dict[str, tuple[Expression, Expression]]
"""The first value of each dimension and the one behind its last, over the dimensions before it."""


@lru_cache(maxsize=4096)
def point_ranges(domain: str, points: str, over: tuple[str, ...]) -> tuple[Ranges, Conditions]:
    """Return the range of each reduction dimension over those before it and the instance's dims.

    Where values in between are no points, or there are none at some sizes, also the conditions of
    points within these ranges.
    """
    if is_empty(points):
        return {d: (expression(0), expression(0)) for d in over}, ()
    ranges: Ranges = {}
    for k, d in enumerate(over):
        known = project_out(points, over[k + 1 :])
        try:
            ranges[d] = bounds(known, [d])[0]
        except ProgramError:
            ranges[d] = hull(project_out(known, [x for x in dims_of(known) if x != d]))[0]
    limits = [
        pair
        for d, (low, high) in ranges.items()
        for pair in ((variable(d), low), (high - 1, variable(d)))
    ]
    within = domain_with(with_dims(domain, dims_of(points)), at_least=limits)
    return ranges, () if is_equal(within, points) else conditions(points, within)
