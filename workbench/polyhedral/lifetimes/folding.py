"""Folding: the number of slots that each dimension of an array needs, given its conflicts.

Dimensions are folded one after the other, each given that the earlier ones already tell elements
apart (Lefebvre and Feautrier 1998, "successive moduli"). Their order matters, and all orders are
tried.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import islice, permutations
from math import prod

import islpy as isl

from workbench.polyhedral.accesses import Extent
from workbench.polyhedral.expression import Expression, minimum
from workbench.polyhedral.expressions.atoms import Extremum
from workbench.polyhedral.lifetimes.conflicts import Conflict, overwritten
from workbench.polyhedral.sets.as_text import (
    context,
    in_context,
    limited,
    parse_map,
    parse_set,
    sizes_in,
)
from workbench.polyhedral.sets.isl_text import constraint, parameters_text, to_expression

USUAL_SIZE = 100
"""The size that is assumed in comparing orders where none is given."""

MOST_ORDERS = 120


@lru_cache(maxsize=4096)
def fold(
    conflicts: tuple[Conflict, ...],
    full: frozenset[int],
    extent: Extent,
    sizes: tuple[tuple[str, int], ...],
    in_blocks: tuple[tuple[int, frozenset[int]], ...],
) -> tuple[Expression | None, ...]:
    """Return each dimension's window: none for those `full`, whole blocks for `in_blocks`.

    Of the orders of dimensions it takes the one that needs least storage at `sizes`.
    """
    rank = len(extent)
    if len(full) == rank or not conflicts:
        return (None,) * rank
    with limited("computing lifetimes"):
        distances = _distances(conflicts, full, rank)
        moving = [k for k in range(rank) if k not in full and _moves(distances, k)]
        still = [k for k in range(rank) if k not in full and k not in moving]
        folding = _Folding(distances, extent, dict(in_blocks), dict(sizes))
        best: tuple[Expression | None, ...] | None = None
        for order in islice(permutations(moving), MOST_ORDERS):
            best = folding.in_order([*order, *still]) or best
        assert best is not None
        return best


def _distances(conflicts: Sequence[Conflict], full: frozenset[int], rank: int) -> isl.Set:
    """Return the differences of conflicting elements that agree in the full dimensions.

    Quantified variables are made explicit: isl may search for the greatest distance without end
    where it quantifies over blocks and over elements read backwards.
    """
    return in_the_way(conflicts, full, rank).deltas().compute_divs().coalesce()


def in_the_way(conflicts: Sequence[Conflict], full: Collection[int], rank: int) -> isl.Map:
    """Return { element -> conflicting element that the full dimensions do not tell apart }."""
    same_slot = _equal_at(sorted(full), rank)
    ahead = isl.Map.empty(same_slot.get_space())
    for conflict in conflicts:
        ahead = ahead.union(overwritten(conflict).intersect(same_slot))
    ahead = ahead.coalesce()
    return ahead.intersect(ahead.reverse())


def _equal_at(positions: Sequence[int], rank: int) -> isl.Map:
    p = [f"p{k}" for k in range(rank)]
    q = [p[k] if k in positions else f"q{k}" for k in range(rank)]
    return parse_map(f"{{ [{', '.join(p)}] -> [{', '.join(q)}] }}")


def _moves(distances: isl.Set, position: int) -> bool:
    return not distances.is_subset(_fixed(distances, position))


def _fixed(distances: isl.Set, position: int) -> isl.Set:
    return distances.fix_val(isl.dim_type.set, position, isl.Val.zero(distances.get_ctx()))


class _Folding:
    """The windows of dimensions in any order, and the fewest slots at `sizes` so far.

    A dimension's window depends on the set of those before it, not on their order, so each set is
    asked once.
    """

    def __init__(
        self,
        distances: isl.Set,
        extent: Extent,
        in_blocks: Mapping[int, frozenset[int]],
        sizes: Mapping[str, int],
    ) -> None:
        self.extent = extent
        self.in_blocks = in_blocks
        self.sizes = sizes
        self.fewest: int | None = None
        self.left = {frozenset[int](): distances}
        self.windows: dict[tuple[frozenset[int], int], Expression | None] = {}

    def in_order(self, order: Sequence[int]) -> tuple[Expression | None, ...] | None:
        """Return the window of each dimension, of those not in `order` None. Return None where an
        order before takes no more slots: what is left of this one is not asked then.
        """
        windows: list[Expression | None] = [None] * len(self.extent)
        before = frozenset[int]()
        slots = prod(self._slots(k, None) for k in range(len(self.extent)) if k not in order)
        for position in order:
            windows[position] = self._window(before, position)
            slots *= self._slots(position, windows[position])
            if self.fewest is not None and slots >= self.fewest:
                return None
            after = before | {position}
            if after not in self.left:
                self.left[after] = _fixed(self.left[before], position)
            before = after
        self.fewest = slots
        return tuple(windows)

    def _slots(self, position: int, window: Expression | None) -> int:
        lower, upper = self.extent[position]
        length = upper - lower if window is None else window
        return length.evaluate({n: self.sizes.get(n, USUAL_SIZE) for n in length.sizes})

    def _window(self, before: frozenset[int], position: int) -> Expression | None:
        if (before, position) not in self.windows:
            blocks = self.in_blocks.get(position, frozenset())
            window = _window(self.left[before], position, self.extent[position], blocks)
            self.windows[before, position] = window
        return self.windows[before, position]


def _window(
    distances: isl.Set,
    position: int,
    bounds: tuple[Expression, Expression],
    blocks: frozenset[int],
) -> Expression | None:
    """Return one more than the greatest distance, or None where that is the extent at all sizes.

    With `blocks`, return a whole number of blocks of one of these sizes that holds as many.
    """
    length = _function(bounds[1] - bounds[0])
    one = isl.PwAff("{ [(1)] }")
    slots = one
    if not distances.is_empty():
        greatest = distances.dim_max(position).project_domain_on_params()
        slots = greatest.add_constant_val(isl.Val.one(distances.get_ctx())).union_max(one)
    known = context(sorted({*_sizes(slots), *_sizes(length)}))
    if slots.lt_set(length).intersect(known).is_empty():
        return None
    greatest_value = slots.max_val()
    if greatest_value.is_int():
        # `1 if E == 1 else 2` reads better as `min(E, 2)`.
        most = Expression(int(greatest_value.to_python()))
        if blocks:
            return _whole_blocks(most.constant, bounds, blocks)
        for simple in (most, minimum(bounds[1] - bounds[0], most)):
            if slots.ne_set(_function(simple)).intersect(known).is_empty():
                return simple
    return None if blocks else to_expression(slots, (), known)


def _whole_blocks(
    slots: int, bounds: tuple[Expression, Expression], blocks: frozenset[int]
) -> Expression | None:
    """Return the least whole number of blocks with enough slots, or the extent if less.

    None where that is the extent, or indices do not count from 0: with a smaller extent blocks
    would wrap.
    """
    lower, upper = bounds
    if lower != 0:
        return None
    window = minimum(upper, min(-(-slots // size) * size for size in blocks))
    return None if window == upper else window


def most_slots(window: Expression, length: Expression) -> int | None:
    """Return n if a window is n slots or `min(length, n)`, else None."""
    if not window.terms:
        return window.constant
    for a, factor in window.terms:
        if isinstance(a, Extremum) and factor == 1:
            for n in (a.left, a.right):
                if not n.terms and window == minimum(length, n):
                    return n.constant
    return None


@lru_cache(maxsize=4096)
def _function(e: Expression) -> isl.PwAff:
    """Return an expression over sizes as isl's function."""
    text = f"{parameters_text(e.sizes)} -> {{ [v] : {constraint('v', '=', e)} }}"
    return in_context(parse_set(text)).dim_max(0).project_domain_on_params()


def _sizes(function: isl.PwAff) -> tuple[str, ...]:
    """Return the sizes of a function's space."""
    return sizes_in(function.domain())
