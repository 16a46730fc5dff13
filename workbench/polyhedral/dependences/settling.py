"""What brings pairs of instances into order: which steps of the path that both statements share.

Legality asks whether any pair is in the wrong order; here it is known that none is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl

from workbench.polyhedral.dependences.legality import PathStep, compared, together
from workbench.polyhedral.dependences.witness import smallest
from workbench.polyhedral.sets.scanning import Point
from workbench.polyhedral.sets.scanning import pairs as pairs_at


@dataclass(frozen=True, eq=False)
class Settled:
    """Pairs of instances, and the positions of the steps that bring some of them into order.

    `left` are the pairs in no order, or in the wrong one: of a legal dependence none.
    """

    pairs: isl.Map = field(repr=False)
    positions: tuple[int, ...]
    left: isl.Map = field(repr=False)

    @property
    def whole(self) -> bool:
        """Tell whether every pair is in order."""
        return bool(self.left.is_empty())

    @property
    def in_order(self) -> Settled:
        """Return only the pairs that are in order."""
        return Settled(
            self.pairs.subtract(self.left), self.positions, self.left.subtract(self.left)
        )

    @property
    def by_itself(self) -> bool:
        """Tell whether what is left are instances and themselves only."""
        if self.pairs.dim(isl.dim_type.in_) != self.pairs.dim(isl.dim_type.out):
            return False
        return bool(self.left.is_subset(isl.Map.identity(self.left.get_space())))

    def at(self, sizes: Mapping[str, int]) -> list[tuple[Point, Point]]:
        """Return the pairs at given sizes."""
        return pairs_at(self.pairs, sizes)

    @cached_property
    def least(self) -> Mapping[str, int]:
        """The smallest sizes at which there is a pair; those that do not matter are absent."""
        point = smallest(self.pairs.wrap().flatten())
        return {} if point is None else point[0]


def settled(pairs: isl.Map, steps: Sequence[PathStep], first: int = 0) -> Settled:
    """Follow {source instance -> sink instance} down the path that both statements share.

    Only pairs in one iteration of the `first` loops count.
    """
    for step in steps[:first]:
        pairs = together(pairs, step)
    positions: list[int] = []
    rest, left = pairs, isl.Map.empty(pairs.get_space())
    for position, step in enumerate(steps[first:], first):
        if rest.is_empty():
            break
        if step.kind == "before":
            positions.append(position)
            rest = isl.Map.empty(pairs.get_space())
            break
        if step.kind in ("after", "same"):
            break
        same = together(rest, step)
        wrong = _wrong(rest, same, step)
        if not rest.is_subset(same.union(wrong)):
            positions.append(position)
        rest, left = same, left.union(wrong)
    return Settled(pairs, tuple(positions), left.union(rest))


def _wrong(pairs: isl.Map, same: isl.Map, step: PathStep) -> isl.Map:
    """Return the pairs that a loop does not run in order."""
    if step.kind == "own":
        return isl.Map.empty(pairs.get_space())
    if step.kind == "apart":
        return pairs.subtract(same)
    return pairs.intersect(compared(pairs, step, "<" if step.kind == "forwards" else ">"))
