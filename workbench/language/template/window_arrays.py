"""Arrays of values at the points of a window: they have the window's width, not all pairs of
points.

The points of a range `x[b, wb.maximum(t - 3, 0):t + 1]` are known by their index along t. A value
that has an array of its own for them is stored by its position in the window, t - 3 being the
first: `score[b, t, t_1]` becomes `score[b, t, t_1 - t + 3]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.language.tracing.tensor import Bound, Index, Node
from workbench.language.tracing.trace import Range
from workbench.polyhedral.accesses import Extent
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.moving_windows import MovingWindow, moving_window

Windows = Mapping[str, MovingWindow]
"""The windows among the dims of a value."""


def windows_of(node: Node, dims: Mapping[str, Range]) -> Windows:
    """Return the windows along which a value is stored by position."""
    windows = {}
    for d in node.dims:
        own = dims[d]
        around = own.lower.variables | own.upper.variables
        if own.declared or not around or not all(dims[v].declared for v in around):
            continue
        sizes = frozenset(size for v in around for size in dims[v].upper.sizes)
        window = moving_window(own.lower, own.upper, sizes)
        if window is not None:
            windows[d] = window
    return windows


def moves(windows: Windows) -> dict[str, Index]:
    """Return the points in terms of positions."""
    return {d: window.first + variable(d) for d, window in windows.items()}


def positions(windows: Windows, dims: Sequence[str], index: tuple[Index, ...]) -> tuple[Index, ...]:
    """Return the index of an array by position, from one by points."""
    at = {d: e for d, e in zip(dims, index, strict=True) if isinstance(e, Expression)}
    return tuple(
        e - windows[d].first.substitute(at) if d in windows and isinstance(e, Expression) else e
        for d, e in zip(dims, index, strict=True)
    )


def by_position(windows: Windows, bounds: Sequence[Bound]) -> list[Bound]:
    """Return the ranges of points as ranges of positions."""
    to_points = {d: e for d, e in moves(windows).items() if isinstance(e, Expression)}
    moved = []
    for d, *limits in bounds:
        lower, upper = (e.substitute(to_points) for e in limits)
        first = windows[d].first if d in windows else expression(0)
        moved.append((d, lower - first, upper - first))
    return moved


def extent_by_position(windows: Windows, dims: Sequence[str], extent: Extent) -> Extent:
    """Return an array's extent: all positions of a window, those at which no step has any too."""
    return tuple(
        (expression(0), windows[d].width) if d in windows else pair
        for d, pair in zip(dims, extent, strict=True)
    )
