"""Reads of elements that need not exist, because the instance that writes them may be left out.

An element of an episode exists where an element of `open`, over some outer dimensions and the steps
of the episode, is true. It is true from step 0 on up to some step. So what is open at a step was
open at all before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import islpy as isl

from workbench.polyhedral.dependences.flow import AccessKey, touches
from workbench.polyhedral.dependences.witness import smallest
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.as_text import parse_map, possible
from workbench.polyhedral.sets.relations import index_text

Place = tuple[Expression, ...]


class GuardedWrite(NamedTuple):
    """A write by instances over `dims` of a domain, and the element of `open` that guards them."""

    dims: tuple[str, ...]
    domain: str
    element: Place
    guard: Place


class PointRead(NamedTuple):
    """A read by points over `dims`, at which the elements `open` of the same array are true."""

    dims: tuple[str, ...]
    points: str
    element: Place
    open: tuple[Place, ...]


@lru_cache(maxsize=16384)
def missing(
    read: PointRead, write: GuardedWrite, along: int, known: str
) -> tuple[dict[str, int], tuple[int, ...]] | None:
    """Return sizes and the smallest point that reads an element which need not exist; None where
    all do. Steps are position `along` of an index of `open`.
    """
    reads = touches(AccessKey(index_text(read.dims, read.element, None), read.points, 0))
    writes = touches(AccessKey(index_text(write.dims, write.element, None), write.domain, 0))
    needed = reads.apply_range(writes.reverse())
    needed = needed.apply_range(parse_map(index_text(write.dims, write.guard, None)))
    rank = len(write.guard)
    needed = needed.subtract_range(_first_steps(rank, along).range())
    for place in read.open:
        held = parse_map(index_text(read.dims, place, None))
        needed = needed.subtract(held.apply_range(_up_to(rank, along)))
    point = smallest(possible(needed.wrap().flatten(), known))
    return None if point is None else (point[0], point[1][: len(read.dims)])


@lru_cache(maxsize=64)
def _up_to(rank: int, along: int) -> isl.Map:
    """Return {element -> element : of the same episode, at the same step or an earlier one}."""
    a, b = [f"a{k}" for k in range(rank)], [f"b{k}" for k in range(rank)]
    same = [f"a{k} {'>=' if k == along else '='} b{k}" for k in range(rank)]
    return parse_map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {' and '.join(same)} }}")


@lru_cache(maxsize=64)
def _first_steps(rank: int, along: int) -> isl.Map:
    a = [f"a{k}" for k in range(rank)]
    return parse_map(f"{{ [{', '.join(a)}] -> [{', '.join(a)}] : a{along} <= 0 }}")
