"""The points of a set at given sizes, and their number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import islpy as isl

from workbench.polyhedral.sets.as_text import parse_set, sizes_in


def points(text: str, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return all points at the given sizes, in lexicographic order."""
    fixed = at_sizes(parse_set(text), sizes)
    rank = fixed.dim(isl.dim_type.set)
    all_points: list[tuple[int, ...]] = []

    def add(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(rank))
        all_points.append(tuple(int(v) for v in values))

    fixed.foreach_point(add)
    return sorted(all_points)


def count(text: str, sizes: Mapping[str, int]) -> int:
    """Return the number of points at the given sizes, exactly.

    isl counts by walking all but the innermost dimension, so dimensions that share no constraint
    are counted apart and multiplied.
    """
    used = sizes_in(parse_set(text))
    return _count(text, tuple((name, sizes[name]) for name in used))


@lru_cache(maxsize=4096)
def _count(text: str, sizes: tuple[tuple[str, int], ...]) -> int:
    total = 0

    def add(piece: isl.BasicSet) -> None:
        nonlocal total
        total += _count_convex(isl.Set.from_basic_set(piece), _independent(piece))

    at_sizes(parse_set(text), dict(sizes)).make_disjoint().foreach_basic_set(add)
    return total


def at_sizes(points: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """Return the set with every size fixed, and without parameters."""
    for position, name in enumerate(sizes_in(points)):
        points = points.fix_val(
            isl.dim_type.param, position, isl.Val.int_from_si(points.get_ctx(), sizes[name])
        )
    return points.project_out_all_params()


def _independent(piece: isl.BasicSet) -> list[set[int]]:
    """Return the dimensions of a convex set in groups that share no constraint."""
    rank = piece.dim(isl.dim_type.set)
    if piece.dim(isl.dim_type.div):
        return [set(range(rank))]  # a stride hides which dimensions it ties together
    groups = [{position} for position in range(rank)]
    for c in piece.get_constraints():
        tied = {k for k in range(rank) if c.involves_dims(isl.dim_type.set, k, 1)}
        together = [g for g in groups if g & tied]
        groups = [g for g in groups if not g & tied]
        if together:
            groups.append(set[int]().union(*together))
    return groups


def _count_convex(piece: isl.Set, groups: list[set[int]]) -> int:
    if piece.is_empty():
        return 0
    product = 1
    for group in groups:
        part = piece
        for position in reversed(range(piece.dim(isl.dim_type.set))):
            if position not in group:
                part = part.project_out(isl.dim_type.set, position, 1)
        product *= int(part.count_val().to_python())
    return product
