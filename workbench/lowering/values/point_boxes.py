"""The axes of a statement's instance: the box of its points, and the mask that it needs if any.

A reduction dimension whose range is a window that moves with an axis (`max(t - 3, 0) <= k <= t`)
becomes an axis of the window's width, counted from each instance's own first point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.errors import ProgramError
from workbench.lowering.values.intervals import Ranges, length
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock, with_blocks
from workbench.polyhedral.moving_windows import MovingWindow, moving_window
from workbench.polyhedral.sets.as_text import is_empty
from workbench.polyhedral.sets.relations import (
    bounds,
    box,
    dims_of,
    domain_with,
    intersect,
    is_box,
    is_equal,
    project_out,
    with_dims,
)
from workbench.program.values import Statement

Axes = dict[str, tuple[Expression, Expression]]
"""Lower bound and length by axis, in the global order."""

Bounds = tuple[tuple[str, tuple[Expression, Expression]], ...]
"""Lower and exclusive upper bound by reduction dimension."""


@dataclass(frozen=True)
class Points:
    """A statement's instances, and its reduction points, with the numbers of their blocks."""

    domain: str
    reduction: str


@dataclass(frozen=True)
class PointBox:
    """The axes of an instance; `exact` says that its points fill their box.

    `inner` are the bounds of the reduction dimensions, in the statement's own terms. `places` has
    those whose axis counts from 0, in terms of loops and axes.
    """

    axes: Axes
    inner: Bounds
    exact: bool
    places: Mapping[str, Expression]


def points_of(statement: Statement, blocks: tuple[AxisBlock, ...]) -> Points:
    """Return a statement's points, with the numbers of the blocks of its axes."""
    reduction = with_blocks(statement.reduction, blocks) if statement.reduction_dims else ""
    return Points(with_blocks(statement.domain, blocks), reduction)


def sole_positions(
    statement: Statement,
    points: Points,
    axes: Sequence[str],
    values: Mapping[str, Expression],
    ranges: Ranges,
) -> dict[str, Expression]:
    """Return the positions of a statement's own axes with one position at all sizes, in terms of
    the loop dimensions `values`: an index may take such a position as it takes a loop's.
    """
    own = [d for d in statement.dims if d in axes]
    if not own or not is_box(points.domain, own):
        return {}
    boxes = dict(zip(own, bounds(points.domain, own), strict=True))
    placed = _placed(boxes, values, ranges)
    return {d: low for d, (low, n) in placed.items() if n == expression(1)}


def point_box(
    statement: Statement,
    points: Points,
    axes: Sequence[str],
    values: Mapping[str, Expression],
    ranges: Ranges,
    ranks: Mapping[str, int],
    stored: Mapping[str, Stored],
) -> PointBox:
    """Return the box of a statement's points. Loop dimensions are `values`."""
    own = [d for d in statement.dims if d in axes]
    if own and not is_box(points.domain, own):
        raise ProgramError(
            f"{statement.name}: its instances are not a box in {', '.join(own)}", statement.line
        )
    boxes = dict(zip(own, bounds(points.domain, own), strict=True)) if own else {}
    lengths, exact = _placed(boxes, values, ranges), True
    inner, places = dict[str, tuple[Expression, Expression]](), dict[str, Expression]()
    if statement.reduction_dims:
        inner, exact = reduction_box(statement, points, own)
        lengths |= _placed(inner, values, ranges)
    if not exact:
        for d, window in _windows(points.reduction, statement.reduction_dims, boxes):
            inner[d] = window.first, window.first + window.width
            lengths[d] = expression(0), window.width
            places[d] = window.first.substitute(dict(values)) + variable(d)
        exact = bool(places) and _is_box(points, tuple(inner.items()))
    order = sorted(lengths, key=lambda d: _rank(statement, d, ranks, stored))
    return PointBox({d: lengths[d] for d in order}, tuple(inner.items()), exact, places)


def _placed(
    boxes: Mapping[str, tuple[Expression, Expression]],
    values: Mapping[str, Expression],
    ranges: Ranges,
) -> Axes:
    """Return lower bounds and lengths in terms of loop variables."""
    placed = {
        d: (low.substitute(dict(values)), high.substitute(dict(values)))
        for d, (low, high) in boxes.items()
    }
    return {d: (low, length(low, high, ranges)) for d, (low, high) in placed.items()}


def reduction_box(
    statement: Statement, points: Points, own: Sequence[str]
) -> tuple[dict[str, tuple[Expression, Expression]], bool]:
    """Return the ranges of the reduction dimensions (over sizes and loop dimensions).

    And whether they fill a box.
    """
    inner = {}
    over = statement.reduction_dims
    for d in over:
        bounds_of = _range(points.reduction, tuple(x for x in (*own, *over) if x != d), d)
        if bounds_of is None:
            raise ProgramError(
                f"{statement.name}: the points of {d} have gaps, which array axes cannot have",
                statement.line,
            )
        inner[d] = bounds_of
    return inner, _is_box(points, tuple(inner.items()))


@lru_cache(maxsize=16384)
def _range(
    reduction: str, others: tuple[str, ...], dim: str
) -> tuple[Expression, Expression] | None:
    """Return the range of one dimension for all values of the others; None where it has gaps."""
    if is_empty(reduction):  # at all sizes: nothing is combined
        return expression(0), expression(0)
    return _bounds(reduction, others, dim)


def _windows(
    reduction: str, over: Sequence[str], own: Mapping[str, tuple[Expression, Expression]]
) -> Iterator[tuple[str, MovingWindow]]:
    """Yield the reduction dimensions whose range is a window that moves with an axis."""
    sizes = frozenset(size for pair in own.values() for e in pair for size in e.sizes)
    for d in over:
        window = _window(reduction, tuple(x for x in over if x != d), d, sizes)
        if window is not None and not window.first.variables.isdisjoint(own):
            yield d, window


@lru_cache(maxsize=16384)
def _window(
    reduction: str, others: tuple[str, ...], dim: str, sizes: frozenset[str]
) -> MovingWindow | None:
    """Return the window that one reduction dimension's range is, where it moves."""
    limits = None if is_empty(reduction) else _bounds(reduction, others, dim)
    return None if limits is None else moving_window(*limits, sizes)


def _bounds(
    reduction: str, others: tuple[str, ...], dim: str
) -> tuple[Expression, Expression] | None:
    try:
        return bounds(project_out(reduction, others), [dim])[0]
    except ProgramError:
        return None


@lru_cache(maxsize=16384)
def _is_box(points: Points, inner: Bounds) -> bool:
    return is_equal(bounding_box(points, inner), points.reduction)


def is_masked(statement: Statement, axes: Sequence[str]) -> bool:
    """Tell whether the reduction set is not a box with the dimensions `axes` as array axes."""
    if not statement.reduction_dims:
        return False
    own = [d for d in statement.dims if d in axes]
    return not reduction_box(statement, points_of(statement, ()), own)[1]


def bounding_box(points: Points, inner: Bounds) -> str:
    """Return all points of the instances within the bounds."""
    wide = with_dims(points.domain, dims_of(points.reduction))
    if not any(e.variables for _, pair in inner for e in pair):
        filled = box([(d, *pair) for d, pair in inner])
        return intersect(wide, with_dims(filled, dims_of(points.reduction)))
    limits = [
        pair for d, (low, high) in inner for pair in ((variable(d), low), (high - 1, variable(d)))
    ]
    return domain_with(wide, at_least=limits)


def _rank(
    statement: Statement, d: str, ranks: Mapping[str, int], stored: Mapping[str, Stored]
) -> tuple[float, int]:
    """Return a dimension's place in the global order.

    A reduction dimension stands beside the dimension that it indexes, positions in a block behind
    the block.
    """
    block = _block_of(statement, d)
    if block in ranks:
        return ranks[block] + 0.5, 0
    if d in ranks:
        return ranks[d], 0
    for read in statement.reads:
        for e, name in zip(read.index, stored[read.array].array.dims, strict=True):
            if isinstance(e, Expression) and e.coefficient(d) and name in ranks:
                return ranks[name] + 0.5, 0
    return len(ranks), 0


def _block_of(statement: Statement, d: str) -> str:
    """Return the dimension of the blocks in which a reduction dimension is the position."""
    if d not in statement.reduction_dims:
        return ""
    entries = (e for read in statement.reads for e in read.index if isinstance(e, Expression))
    counts = (x for e in entries if e.coefficient(d) == 1 for x in e.variables - {d})
    return next((x for x in counts if x in statement.dims), "")
