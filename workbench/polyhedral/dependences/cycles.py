"""Cycles of instances that wait for each other: the shortest, at the smallest sizes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.sets.as_text import sizes_in
from workbench.polyhedral.sets.counting import at_sizes

CycleNode = tuple[str, tuple[int, ...]]

LARGEST = 6
"""The limit of the sizes that are tried: the sum of what they exceed 1 by."""
MOST_PAIRS = 20_000
"""The limit of the pairs of instances that are searched for one choice of sizes."""


@dataclass(frozen=True)
class Cycle:
    """A cycle of pairs (statement, instance): each needs the next, and the last the first."""

    instances: tuple[tuple[str, Mapping[str, int]], ...]
    sizes: Mapping[str, int]


def find_cycle(
    statements: Sequence[Instances],
    dependences: Dependences,
    component: Sequence[str] | None = None,
) -> Cycle | None:
    """Return the shortest cycle among `statements` (or a `component`) at the smallest sizes.

    None means that small sizes have no cycle, which proves nothing for larger ones.
    """
    names = component or [s.name for s in statements]
    part = dependences.among(names)
    relations = [(d, part.relation(d).wrap().flatten()) for d in part.all]
    sizes_used = sorted({name for _, pairs in relations for name in sizes_in(pairs)})
    for sizes in _growing(sizes_used):
        needs: dict[CycleNode, list[CycleNode]] = {}
        budget = MOST_PAIRS
        for d, pairs in relations:
            rank = len(part.statements[d.source].dims)
            for pair in _points(at_sizes(pairs, sizes)):
                needs.setdefault((d.sink, pair[rank:]), []).append((d.source, pair[:rank]))
                budget -= 1
            if budget < 0:
                return None
        cycle = _shortest(_trimmed(needs))
        if cycle:
            dims = {name: s.dims for name, s in part.statements.items()}
            steps = [(name, dict(zip(dims[name], at, strict=True))) for name, at in cycle]
            return Cycle(tuple(steps), sizes)
    return None


def _growing(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yield all sizes from (1, …, 1) by their sum."""

    def spread(extra: int, places: int) -> Iterator[tuple[int, ...]]:
        if places <= 1:
            yield (extra,) * places
            return
        for first in range(extra + 1):
            yield from ((first, *rest) for rest in spread(extra - first, places - 1))

    for extra in range(LARGEST + 1 if names else 1):
        for extras in spread(extra, len(names)):
            yield {name: 1 + more for name, more in zip(names, extras, strict=True)}


def _points(pairs: isl.Set) -> list[tuple[int, ...]]:
    rank = pairs.dim(isl.dim_type.set)
    members: list[tuple[int, ...]] = []

    def add(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(rank))
        members.append(tuple(int(v) for v in values))

    pairs.foreach_point(add)
    return sorted(members)


def _trimmed(needs: dict[CycleNode, list[CycleNode]]) -> dict[CycleNode, list[CycleNode]]:
    """Remove instances without needs, again and again. Any that remain include a cycle."""
    while True:
        kept = {n: [m for m in ms if m in needs] for n, ms in needs.items()}
        kept = {n: ms for n, ms in kept.items() if ms}
        if len(kept) == len(needs):
            return kept
        needs = kept


def _shortest(needs: Mapping[CycleNode, list[CycleNode]]) -> list[CycleNode]:
    best: list[CycleNode] = []
    for start in sorted(needs):
        came: dict[CycleNode, CycleNode] = {}
        queue = deque([start])
        while queue and start not in came:
            node = queue.popleft()
            for following in needs[node]:
                if following not in came:
                    came[following] = node
                    queue.append(following)
        if start in came:
            steps = [start]
            while came[steps[-1]] != start:
                steps.append(came[steps[-1]])
            steps = [start, *reversed(steps[1:])]
            if not best or len(steps) < len(best):
                best = steps
        if len(best) == 1:
            break
    return best
