"""Shared memory: two arrays may share it if no two live elements would lie in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import islpy as isl

from workbench.polyhedral.accesses import Extent, Instances
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.conflicts import (
    Clash,
    Conflict,
    Encounter,
    Use,
    clash,
    encounter,
    encounters,
    overwritten,
    uses,
)
from workbench.polyhedral.sets.as_text import limited, parse_map
from workbench.polyhedral.sets.isl_text import constraint, parameters_text
from workbench.polyhedral.tree import Path, Tree, paths


class SamePlace(NamedTuple):
    """A position of each of two arrays that together are one axis of their shared memory.

    Elements lie in one place along it where the first's index is `ahead` of the second's, or both
    are equal modulo `window`.
    """

    first: int
    second: int
    ahead: Expression
    window: int | None = None


class Pair(NamedTuple):
    """Two arrays, and the axes along which their memory tells elements apart."""

    first: str
    second: str
    places: tuple[SamePlace, ...] = ()


def sharing_clash(
    pair: Pair,
    extents: Mapping[str, Extent],
    tree: Tree,
    statements: Mapping[str, Instances],
    own: int = 0,
) -> Clash | None:
    """Return the smallest instances that show two live elements in one place.

    The reader is of the first array, the writer of the second. None where the arrays may share
    memory. Both live inside the first `own` of the loops whose blocks are apart.
    """
    ranks = len(extents[pair.first]), len(extents[pair.second])
    used = uses({name: extents[name] for name in (pair.first, pair.second)}, statements)
    with limited("computing lifetimes"):
        over, back, bad = _live_at_once(pair, ranks, used, statements, paths(tree), own)
        if bad.is_empty():
            return None
        sizes = sorted({n for e in extents[pair.first] for bound in e for n in bound.sizes})
        first_written = _union((o for o in back if o.use.is_write), ranks[::-1]).reverse()
        return clash(over, statements, bad.intersect(first_written), sizes) or clash(
            over, statements, bad, sizes
        )


def may_share(
    pair: Pair,
    used: Mapping[str, Sequence[Use]],
    statements: Mapping[str, Instances],
    at: Mapping[str, Path],
    own: int = 0,
) -> bool:
    """Tell whether `sharing_clash` is None, without looking for instances.

    `used` are the accesses to each array in the order of the schedule, `at` the paths of the
    statements in it. Where arrays may not share, the first writes and last uses mostly show it:
    they are asked first.
    """
    first, second = used[pair.first], used[pair.second]
    ranks = len(first[0].access.index), len(second[0].access.index)
    over = encounter(first[-1], _first_write(second), statements, at, own).conflict
    back = encounter(second[-1], _first_write(first), statements, at, own).conflict
    with limited("computing lifetimes"):
        if not _both_live((over,), (back,), pair.places, ranks).is_empty():
            return False
        *_, bad = _live_at_once(pair, ranks, used, statements, at, own)
        return bool(bad.is_empty())


def _first_write(used: Sequence[Use]) -> Use:
    return next(use for use in used if use.is_write)


def _live_at_once(
    pair: Pair,
    ranks: tuple[int, int],
    used: Mapping[str, Sequence[Use]],
    statements: Mapping[str, Instances],
    at: Mapping[str, Path],
    own: int,
) -> tuple[list[Encounter], list[Encounter], isl.Map]:
    """Return the uses of the first array with the writes of the second, those the other way round,
    and { element of the first -> element of the second in its place }, both live.
    """
    over = list(encounters(used[pair.first], used[pair.second], statements, at, own))
    forwards = _overwritten_in_place(_conflicts(over), pair.places, ranks)
    if forwards.is_empty():
        return over, [], forwards
    back = list(encounters(used[pair.second], used[pair.first], statements, at, own))
    return over, back, _both_live(_conflicts(over), _conflicts(back), pair.places, ranks)


def _conflicts(met: Sequence[Encounter]) -> tuple[Conflict, ...]:
    return tuple(dict.fromkeys(e.conflict for e in met))


@lru_cache(maxsize=4096)
def _overwritten_in_place(
    over: tuple[Conflict, ...], places: tuple[SamePlace, ...], ranks: tuple[int, int]
) -> isl.Map:
    """Return { element of the first -> element of the second in its place }, which is written
    before the first is used.
    """
    same = same_place(places, ranks)
    forwards = _empty(same)
    for conflict in over:
        forwards = forwards.union(overwritten(conflict).intersect(same))
    return forwards


@lru_cache(maxsize=4096)
def _both_live(
    over: tuple[Conflict, ...],
    back: tuple[Conflict, ...],
    places: tuple[SamePlace, ...],
    ranks: tuple[int, int],
) -> isl.Map:
    """Return { element of the first -> element of the second in its place }, both live."""
    forwards = _overwritten_in_place(over, places, ranks)
    backwards = _empty(forwards)
    for conflict in back:
        backwards = backwards.union(overwritten(conflict).reverse().intersect(forwards))
    return backwards.coalesce()


def _union(met: Iterable[Encounter], ranks: tuple[int, int]) -> isl.Map:
    union = _empty(same_place((), ranks))
    for one in met:
        union = union.union(overwritten(one.conflict))
    return union


def _empty(like: isl.Map) -> isl.Map:
    return isl.Map.empty(like.get_space())


@lru_cache(maxsize=1024)
def same_place(places: tuple[SamePlace, ...], ranks: tuple[int, int]) -> isl.Map:
    p, q = ([f"{letter}{k}" for k in range(rank)] for letter, rank in zip("pq", ranks, strict=True))
    conditions = [
        constraint(f"{p[s.first]} - {q[s.second]}", "=", s.ahead)
        if s.window is None
        else f"({p[s.first]} - {q[s.second]}) mod {s.window} = 0"
        for s in places
    ]
    sizes = parameters_text(n for s in places for n in s.ahead.sizes)
    where = f" : {' and '.join(conditions)}" if conditions else ""
    return parse_map(f"{sizes} -> {{ [{', '.join(p)}] -> [{', '.join(q)}]{where} }}")
