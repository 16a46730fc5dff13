"""Counts of how often the records of a loop program run at given sizes.

If nothing inside depends on a loop's variable, the loop multiplies. The values of the other
variables are arrays of points, equal ones once with a weight, so that a triangle of T² points costs
T. Counts are exact, but for a loop with more iterations than `AT_ONCE`: there one stands for those
around it, so that no count takes longer, whatever the sizes. Linear amounts still add up exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.loops.records import Symbolic
from workbench.planning.cost.lengths import UNKNOWN, Lengths, open_part
from workbench.polyhedral.conditions import Condition
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.expressions.atoms import Named
from workbench.polyhedral.expressions.evaluation import evaluated

Numbers = npt.NDArray[Any]
"""Whole numbers, one for each point: integers, but floats where an iteration stands for others, as
64 bits would not hold their products.
"""
Number = int | Numbers
"""One value for all points, or one for each."""

Amount = float | npt.NDArray[Any]
"""A number that need not be whole, for all points or for each."""

AT_ONCE = 1 << 16
"""The iterations of a loop that are all looked at; of more, about so many."""
ENDS = 64
"""The first and last iterations stand for themselves, as most conditions are about these."""
USUAL_FACTORS = 2 * 3 * 5 * 7 * 11 * 13
"""Iterations are picked at distances without any of these factors: a condition on every 64th or
every tenth iteration then holds at its share of those picked.
"""


@dataclass(frozen=True)
class PointCounts:
    """The values of loop variables at which something runs: `weight[p]` times at point p.

    Without variables that matter there is one point and all are plain integers.
    """

    sizes: Mapping[str, int]
    weight: Number = 1
    values: Mapping[str, Numbers] = field(default_factory=dict)
    plain: dict[Expression | Symbolic, Number] = field(default_factory=dict, repr=False)
    """A cache of expressions and products of sizes alone, shared by all points of a run."""
    known: dict[Expression | Symbolic, Number] = field(default_factory=dict, repr=False)
    """A cache of those that depend on the values here."""
    lengths: Lengths = UNKNOWN
    """Those of episodes that end."""

    @cached_property
    def executions(self) -> int:
        """The number of executions."""
        return total(1, self.weight)

    def at(self, e: Expression) -> Number:
        """Return the value of an expression at each point."""
        if not e.terms:
            return e.constant
        cache = self.known if self.values and e.variables else self.plain
        value = cache.get(e)
        if value is None:
            value = cache[e] = evaluated(e, self._named, self.at)
        return value

    def length(self, e: Expression) -> Number:
        """Return the length of an axis: no less than 0."""
        n = self.at(e)
        return max(n, 0) if isinstance(n, int) else np.maximum(n, 0)

    def product(self, dims: Symbolic) -> Number:
        """Return the number of elements of these lengths."""
        cache = self.known if self.values else self.plain
        elements = cache.get(dims)
        if elements is None:
            elements = cache[dims] = math.prod(map(self.length, dims))
        return elements

    def _named(self, a: Named) -> Number:
        return self.values[a.name] if a.name in self.values else self.sizes[a.name]

    # -- points inside conditions and loops ------------------------------------------------------

    def where(self, condition: Condition) -> PointCounts:
        """Return the points at which a condition holds."""
        holds = condition.holds(self.at)
        if isinstance(holds, np.ndarray):
            return self._picked(np.flatnonzero(holds))
        return self if holds else replace(self, weight=self.weight * 0)

    def during(self, step: OpenStep) -> PointCounts:
        """Return the points at which episodes are open, or closed, at a step: as often as lengths
        say on average, all where they are not known.
        """
        part = open_part(self.lengths, step, self.sizes)
        if part is None:
            return replace(self, weight=self.weight * 0) if step.closed else self
        share: Amount = part.steps / part.of
        if part.step.variables and part.step.variables <= self.values.keys():
            share = np.clip(part.steps - self.at(part.step), 0.0, 1.0)
        weight = self.weight * (1.0 - share if step.closed else share)
        if isinstance(weight, np.ndarray):
            upto = np.rint(np.cumsum(weight))  # the sum is as near as can be
            return replace(self, weight=np.diff(upto, prepend=0))
        return replace(self, weight=round(weight))

    def share(self, steps: Sequence[OpenStep]) -> float:
        """Return the share of points at which episodes are open, or closed, at all of some steps,
        as lengths say on average.
        """
        shares = [1.0]
        for step in steps:
            part = open_part(self.lengths, step, self.sizes)
            opened = 1.0 if part is None else part.steps / part.of
            shares.append(1.0 - opened if step.closed else opened)
        return math.prod(shares)

    def inside(
        self, variable: str, lower: Expression, upper: Expression, needed: frozenset[str]
    ) -> PointCounts:
        """Return the points inside a loop; the variables `needed` matter there."""
        low, trips = self.at(lower), self.length(upper - lower)
        if variable not in needed:
            return replace(self, weight=self.weight * trips)._merged(needed)
        return self._expanded(variable, *self._spelled(low, trips))._merged(needed)

    def _spelled(self, *numbers: Number) -> list[Numbers]:
        """Return numbers as arrays with a value for each point."""
        n = len(next(iter(self.values.values()))) if self.values else 1
        return [np.broadcast_to(_array(x), n) for x in numbers]

    def _expanded(self, variable: str, low: Numbers, trips: Numbers) -> PointCounts:
        """Return the points of the iterations that are looked at."""
        (weight,) = self._spelled(self.weight)
        outer, iteration, times = _iterations(trips)
        values = {name: v[outer] for name, v in self.values.items()}
        values[variable] = low[outer] + iteration
        inner = weight[outer] * times
        return PointCounts(self.sizes, inner, values, self.plain, lengths=self.lengths)

    def _picked(self, which: npt.NDArray[np.intp]) -> PointCounts:
        values = {name: v[which] for name, v in self.values.items()}
        weight = self.weight if isinstance(self.weight, int) else self.weight[which]
        if isinstance(weight, int):
            weight = np.full(len(which), _array(weight))
        return PointCounts(self.sizes, weight, values, self.plain, lengths=self.lengths)

    def _merged(self, needed: frozenset[str]) -> PointCounts:
        """Drop the variables that matter no more, and merge points that are then equal."""
        kept = {name: v for name, v in self.values.items() if name in needed}
        if len(kept) == len(self.values):
            return self
        if not kept:
            return PointCounts(self.sizes, self.executions, plain=self.plain, lengths=self.lengths)
        columns = np.stack(list(kept.values()))
        unique, place = np.unique(columns, axis=1, return_inverse=True)
        (weight,) = self._spelled(self.weight)
        merged = np.zeros(unique.shape[1], weight.dtype)
        np.add.at(merged, place.reshape(-1), weight)
        values = dict(zip(kept, unique, strict=True))
        return PointCounts(self.sizes, merged, values, self.plain, lengths=self.lengths)


def total(value: Number, weight: Number) -> int:
    """Return the sum of a value over all executions."""
    return int(summed(value, weight))


def summed(value: Amount, weight: Number) -> float:
    """Return the sum of an amount over all executions."""
    if isinstance(weight, int) and not isinstance(value, np.ndarray):
        return value * weight
    total: float = np.sum(value * np.asarray(weight)).item()
    return total


def largest(value: Number) -> float:
    """Return the largest over all points."""
    return float(value) if isinstance(value, int) else float(value.max())


def larger(left: Amount, right: Amount) -> Amount:
    """Return the larger of two at each point."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.maximum(left, right)
    return max(left, right)


def _array(number: Number) -> Numbers:
    """Return a number as an array: of floats where it is too large for 64 bits."""
    if isinstance(number, np.ndarray):
        return number
    return np.asarray(number, np.int64 if abs(number) < 1 << 62 else np.float64)


def _iterations(trips: Numbers) -> tuple[npt.NDArray[np.int64], Numbers, Number]:
    """Return the iterations that are looked at of loops with so many `trips`: the loop's position,
    the iteration, and for how many it stands.
    """
    if trips.sum(dtype=np.float64) > AT_ONCE:
        return _picked_iterations(trips.astype(np.float64))
    outer, place = _places(trips)
    return outer, place, 1


def _picked_iterations(trips: Numbers) -> tuple[npt.NDArray[np.int64], Numbers, Numbers]:
    """Return the same where there are too many: groups of an odd number lie behind each other
    between both ends of a loop, and the iteration in the middle stands for all of its group.
    """
    every = _distance(trips.sum() / AT_ONCE)
    front = np.minimum(min(ENDS, AT_ONCE // (4 * len(trips))), trips)
    back = np.minimum(front, trips - front)
    between = trips - front - back
    groups = np.ceil(between / every)
    last = between - every * (groups - 1)
    back = back + ((groups > 0) & (last % 2 == 0))  # a group of an even number has no middle
    outer, place = _places(front + groups + back)
    group = place - front[outer]
    behind = group - groups[outer]
    start = np.where(group < 0, place, front[outer] + group * every)
    start = np.where(behind >= 0, (trips - back)[outer] + behind, start)
    grouped = np.minimum(every, (trips - back)[outer] - start)
    times = np.where((group < 0) | (behind >= 0), 1.0, grouped)
    return outer, start + (times - 1) // 2, times


def _places(counts: Numbers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the position of each of so many things in a row, and its place among those there."""
    each = counts.astype(np.int64)
    outer = np.repeat(np.arange(len(each)), each)
    return outer, np.arange(len(outer)) - (np.cumsum(each) - each)[outer]


def _distance(least: float) -> int:
    """Return the least odd distance from there on without usual factors."""
    every = math.ceil(least)
    while math.gcd(every, USUAL_FACTORS) != 1:
        every += 1
    return every
