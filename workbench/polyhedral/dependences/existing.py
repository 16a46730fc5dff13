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
from workbench.polyhedral.sets.as_text import parse_map, parse_set, possible
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
    rank, unknown = len(write.guard), _needed(read, write, along)
    for place in read.open:
        held = parse_map(index_text(read.dims, place, None))
        unknown = unknown.subtract(held.apply_range(_up_to(rank, along)))
    point = smallest(possible(unknown.wrap().flatten(), known))
    return None if point is None else (point[0], point[1][: len(read.dims)])


@lru_cache(maxsize=1024)
def missing_at_each(
    ends: str, read: PointRead, write: GuardedWrite, along: int, known: str
) -> bool:
    """Tell whether an episode with any of these last steps, elements of `open`, has a point that is
    executed and reads an element which does not exist.
    """
    up_to = _up_to(len(write.guard), along)
    before = up_to.subtract(up_to.reverse())
    failing = _needed(read, write, along).apply_range(before)
    for place in read.open:
        held = parse_map(index_text(read.dims, place, None))
        failing = failing.intersect(held.apply_range(up_to.reverse()))
    return bool(possible(parse_set(ends), known).is_subset(failing.range()))


def _needed(read: PointRead, write: GuardedWrite, along: int) -> isl.Map:
    """Return {point -> element of `open`, behind the first step, that must be true}."""
    reads = touches(AccessKey(index_text(read.dims, read.element, None), read.points, 0))
    writes = touches(AccessKey(index_text(write.dims, write.element, None), write.domain, 0))
    needed = reads.apply_range(writes.reverse())
    needed = needed.apply_range(parse_map(index_text(write.dims, write.guard, None)))
    return needed.subtract_range(_first_steps(len(write.guard), along).range())


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
