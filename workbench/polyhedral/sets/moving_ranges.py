"""Ranges that move with a dimension: the points that enter and leave between neighbours.

A range is a set over the dimensions of a statement and, last, the dimension it runs over. Sets come
and go as text. Blocks of instances are here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression, ExpressionLike, expression, variable
from workbench.polyhedral.sets.as_text import (
    dims_of,
    domain_with,
    intersect,
    is_empty,
    is_equal,
    parse_map,
    parse_set,
    project_out,
    subtract,
    to_text,
    with_dims,
)
from workbench.polyhedral.sets.boxes import bounds
from workbench.polyhedral.sets.isl_names import dim_name
from workbench.polyhedral.sets.isl_text import dims_text


@dataclass(frozen=True)
class Recurrence:
    """A range that only grows from the neighbour at `step` (1 or -1), by at most one point.

    `base` are the instances without that neighbour. Of the others, `entering` are those where a
    point enters, `still` those where none does. `entry` is the point that enters.
    """

    step: int
    base: str
    entering: str
    still: str
    entry: Expression


@dataclass(frozen=True)
class Window:
    """A range `start <= k - t < start + length` within the limits `lower <= k < upper`."""

    start: int
    length: int
    limits: str
    """The readable points: a set over the other dimensions and the one that is read along."""
    lower: Expression
    upper: Expression


def shifted(text: str, dim: str, by: int) -> str:
    """Return the points whose neighbour `by` further along `dim` is in the set."""
    dims = dims_of(text)
    moved = [f"{dim_name(d)} - {by}" if d == dim else dim_name(d) for d in dims]
    relation = parse_map(f"{{ [{dims_text(dims)}] -> [{', '.join(moved)}] }}")
    return to_text(parse_set(text).apply(relation), dims)


def with_neighbour(domain: str, dim: str, by: int) -> str:
    """Return the instances that have a neighbour `by` further along `dim`."""
    return intersect(domain, shifted(domain, dim, by))


def moves(domain: str, points: str, dim: str) -> bool:
    """Tell whether the range differs between some neighbours along `dim`."""
    now, then = _now_and_then(domain, points, dim, 1)
    return not is_equal(now, then)


def recurrence(domain: str, points: str, dim: str) -> Recurrence | None:
    """Return the range's growth along `dim`, forwards or backwards; None where it does not grow."""
    for step in (1, -1):
        now, then = _now_and_then(domain, points, dim, step)
        if not is_empty(subtract(then, now)):
            continue
        enter = subtract(now, then)
        over = dims_of(points)[-1]
        entry = None if is_empty(enter) else single(enter, over)
        if entry is None:
            continue
        ahead, entering = with_neighbour(domain, dim, step), project_out(enter, (over,))
        still, base = subtract(ahead, entering), subtract(domain, ahead)
        return Recurrence(step, base, entering, still, entry)
    return None


def window(domain: str, points: str, dim: str) -> Window | None:
    """Return the range as a sliding window of fixed length, cut at fixed limits, or None."""
    dims = dims_of(points)
    over = dims[-1]
    distance = parse_map(
        f"{{ [{dims_text(dims)}] -> [v] : v = {dim_name(over)} - {dim_name(dim)} }}"
    )
    distances = parse_set(points).apply(distance)
    least, most = distances.dim_min_val(0), distances.dim_max_val(0)
    if not (least.is_int() and most.is_int()):
        return None
    start, end = int(least.to_python()), int(most.to_python())
    limits = project_out(points, (dim,))
    ahead = variable(over) - variable(dim)
    whole = intersect(with_dims(domain, dims), with_dims(limits, dims))
    wide = [(ahead, expression(start)), (expression(end), ahead)]
    if not is_equal(points, domain_with(whole, at_least=wide)):
        return None
    try:
        ((lower, upper),) = bounds(limits, (over,))
    except ProgramError:
        return None
    return Window(start, end - start + 1, limits, lower, upper)


def _now_and_then(domain: str, points: str, dim: str, step: int) -> tuple[str, str]:
    """Return the ranges of the instances that have a neighbour, and the neighbour's."""
    ahead = with_dims(with_neighbour(domain, dim, step), dims_of(points))
    return intersect(points, ahead), intersect(shifted(points, dim, step), ahead)


# -- points and blocks -----------------------------------------------------------------------------


def single(text: str, dim: str) -> Expression | None:
    """Return the single value of `dim` as a function of the other dimensions, or None."""
    try:
        ((lower, upper),) = bounds(text, (dim,))
    except ProgramError:
        return None
    return lower if upper - lower == 1 else None


def fixed(text: str, values: Mapping[str, ExpressionLike]) -> str:
    """Return the points with the given values (over others) of some dimensions, without these."""
    equal = [(variable(name), expression(e)) for name, e in values.items()]
    return project_out(domain_with(text, equal), tuple(values))


def split(text: str, dim: str, size: int, names: tuple[str, str]) -> str:
    """Split `dim` into the number of a block of `size` values and the position in it.

    `names` are the names of the two.
    """
    dims = dims_of(text)
    block, position = map(dim_name, names)
    new = [n for d in dims for n in (names if d == dim else (d,))]
    relation = parse_map(
        f"{{ [{dims_text(dims)}] -> [{dims_text(new)}] : "
        f"{dim_name(dim)} = {size}*{block} + {position} and 0 <= {position} < {size} }}"
    )
    return to_text(parse_set(text).apply(relation), new)


def apart(points: str, dim: str, others: Sequence[str]) -> bool:
    """Tell whether the set of `others` is the same for all values of `dim`."""
    everything = dims_of(points)
    alone, without = project_out(points, tuple(others)), project_out(points, (dim,))
    return is_equal(points, intersect(with_dims(alone, everything), with_dims(without, everything)))
