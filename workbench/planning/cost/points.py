"""Exact counts of how often the records of a loop program run at given sizes.

If nothing inside depends on a loop's variable, the loop multiplies. The values of the other
variables are arrays of points, equal ones once with a weight, so that a triangle of T² points costs
T.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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

Integers = npt.NDArray[np.int64]
Number = int | Integers
"""One value for all points, or one for each."""

Amount = float | npt.NDArray[Any]
"""A number that need not be whole, for all points or for each."""

AT_ONCE = 1 << 20
"""Points held at a time; more are taken in parts."""


@dataclass(frozen=True)
class PointCounts:
    """The values of loop variables at which something runs: `weight[p]` times at point p.

    Without variables that matter there is one point and all are plain integers.
    """

    sizes: Mapping[str, int]
    weight: Number = 1
    values: Mapping[str, Integers] = field(default_factory=dict)
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
            upto = np.rint(np.cumsum(weight)).astype(np.int64)  # the sum is as near as can be
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
    ) -> Iterator[PointCounts]:
        """Yield the points inside a loop, in parts; the variables `needed` matter there."""
        low, trips = self.at(lower), self.length(upper - lower)
        if variable not in needed:
            yield replace(self, weight=self.weight * trips)._merged(needed)
            return
        weight, low, trips = self._spelled(self.weight, low, trips)
        for start, stop in _parts(trips):
            yield self._expanded(variable, weight, low, trips, start, stop)._merged(needed)

    def _spelled(self, *numbers: Number) -> list[Integers]:
        n = len(next(iter(self.values.values()))) if self.values else 1
        return [np.broadcast_to(np.asarray(x, np.int64), n) for x in numbers]

    def _expanded(
        self,
        variable: str,
        weight: Integers,
        low: Integers,
        trips: Integers,
        start: int,
        stop: int,
    ) -> PointCounts:
        """Return the points of iterations `start` to `stop`, counted on over all points."""
        ends = np.cumsum(trips)
        here = np.arange(start, stop, dtype=np.int64)
        outer = np.searchsorted(ends, here, side="right")
        values = {name: v[outer] for name, v in self.values.items()}
        values[variable] = low[outer] + here - (ends - trips)[outer]
        return PointCounts(self.sizes, weight[outer], values, self.plain, lengths=self.lengths)

    def _picked(self, which: npt.NDArray[np.intp]) -> PointCounts:
        values = {name: v[which] for name, v in self.values.items()}
        weight = self.weight if isinstance(self.weight, int) else self.weight[which]
        if isinstance(weight, int):
            weight = np.full(len(which), weight, np.int64)
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
        merged = np.zeros(unique.shape[1], np.int64)
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


def _parts(trips: Integers) -> Iterator[tuple[int, int]]:
    n = int(trips.sum())
    for start in range(0, n, AT_ONCE):
        yield start, min(start + AT_ONCE, n)
