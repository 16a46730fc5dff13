"""Witnesses: the smallest concrete point of a set, by its sizes first, then by its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import islpy as isl

from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.as_text import context, in_context, parse_set, sizes_in


@dataclass(frozen=True)
class Witness:
    """Concrete instances that show a fact, and the element of `array` they share, at given sizes.

    `statements` and `instances` go together. An instance maps the user's dimensions (for a reader
    its reduction dimensions too) to values. Sizes that the fact does not depend on are absent.
    """

    statements: tuple[str, ...]
    instances: tuple[Mapping[str, int], ...]
    array: str
    element: tuple[int, ...]
    sizes: Mapping[str, int]


def smallest(points: isl.Set) -> tuple[dict[str, int], tuple[int, ...]] | None:
    """Return sizes (at least 1) and coordinates of a set's smallest point, or None if it is empty.

    Sizes become dimensions in front, and before them their sum, so that the lexicographic minimum
    takes the least sum of sizes first. `sample_point` alone would not be small.
    """
    points = in_context(points.drop_unused_params())
    points = points.align_params(context(sizes_in(points)).get_space())
    sizes = sizes_in(points)
    rank = len(sizes)
    points = points.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, rank)
    points = points.insert_dims(isl.dim_type.set, 0, 1)
    first = points.intersect(_summed(rank, points.dim(isl.dim_type.set))).lexmin()
    if first.is_empty():
        return None
    point = first.sample_point()
    values = [
        int(point.get_coordinate_val(isl.dim_type.set, k).to_python())
        for k in range(1, first.dim(isl.dim_type.set))
    ]
    return dict(zip(sizes, values, strict=False)), tuple(values[rank:])


@lru_cache(maxsize=1024)
def _summed(rank: int, dims: int) -> isl.Set:
    """Return `{ [s, a, b, …] : s = the sum of the `rank` coordinates after it }`."""
    names = [f"x{k}" for k in range(dims)]
    total = " + ".join(["0", *names[1 : rank + 1]])
    return parse_set(f"{{ [{', '.join(names)}] : {names[0]} = {total} }}")


def written_element(
    statement: Instances, instance: Mapping[str, int], sizes: Mapping[str, int]
) -> tuple[int, ...]:
    """Return the element that an instance writes."""
    values = {**sizes, **instance}
    return tuple(e.evaluate(values) for e in statement.write.index if isinstance(e, Expression))
