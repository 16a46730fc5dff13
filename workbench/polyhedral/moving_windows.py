"""Ranges that move with a dimension and have a width: `max(t - 3, 0) <= k < t + 1` has four points
at most, counted from t - 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from workbench.polyhedral.expression import Expression, atom
from workbench.polyhedral.expressions.atoms import Extremum


@dataclass(frozen=True)
class MovingWindow:
    """A range within `first <= k < first + width`; the width is of sizes alone."""

    first: Expression
    width: Expression


@lru_cache(maxsize=4096)
def moving_window(
    lower: Expression, upper: Expression, sizes: frozenset[str] = frozenset()
) -> MovingWindow | None:
    """Return the narrowest window that a range lies within; None where it does not move.

    `sizes` are those of the dimensions that it moves with: what has as many points as those moves
    as a whole, such as the last T of T + 3 points.
    """
    windows = [
        MovingWindow(first, behind - first)
        for first in _limits(lower, "max")
        for behind in _limits(upper, "min")
        if first.is_affine and not (behind - first).variables
    ]
    narrow = [
        w
        for w in windows
        if not w.width.terms or (w.first.variables and not w.width.sizes <= sizes)
    ]
    least = min(narrow, key=lambda w: (bool(w.width.terms), w.width.constant), default=None)
    return least if least is not None and least.first.variables else None


def _limits(bound: Expression, kind: str) -> Iterator[Expression]:
    """Yield the expressions whose greatest ("max") or least ("min") is the bound."""
    for a, factor in bound.terms:
        if isinstance(a, Extremum) and (a.kind == kind) == (factor > 0) and abs(factor) == 1:
            rest = bound - atom(a) * factor
            yield from _limits(rest + a.left * factor, kind)
            yield from _limits(rest + a.right * factor, kind)
            return
    yield bound
