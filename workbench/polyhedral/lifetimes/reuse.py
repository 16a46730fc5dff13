"""The other side of lifetimes: who overwrites what others have used, and what keeps it behind them.

A slot of a folded dimension is used in turn, a piece of memory is handed on from array to array.
Which slots there are is known here; `windows.py` finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from workbench.polyhedral.accesses import Extent, Instances
from workbench.polyhedral.dependences.flow import instance_touches
from workbench.polyhedral.dependences.legality import PathStep, shared_steps
from workbench.polyhedral.dependences.settling import Settled, settled
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.conflicts import Use, uses, with_copies
from workbench.polyhedral.lifetimes.shared_memory import Pair, same_place
from workbench.polyhedral.sets.as_text import context, parse_map, sizes_in
from workbench.polyhedral.sets.isl_text import constraint, parameters_text
from workbench.polyhedral.tree import Path, Tree, paths


@dataclass(frozen=True, eq=False)
class Turn:
    """Instances of `use` that access elements in whose place instances of `write` write next.

    The steps are those that both share; `settled` has the ones that keep the writes behind. Pairs
    that it leaves read and write in one instance, element by element.
    """

    use: str
    write: str
    is_read: bool
    steps: tuple[PathStep, ...]
    settled: Settled


def slots_in_turn(
    array: str,
    extent: Extent,
    position: int,
    window: Expression,
    tree: Tree,
    statements: Mapping[str, Instances],
    own: int,
) -> tuple[Literal[-1, 0, 1], list[Turn]]:
    """Return who takes the place of each slice along a folded dimension: the slice `window` further
    along it, or before it, where its loop runs backwards. 1 or -1 says which; 0, without any turns,
    that it is not everywhere the same.

    Inside the first `own` of the loops whose blocks are apart, each block has its own copies.
    """
    used, at = uses({array: extent}, statements)[array], paths(tree)
    ways: tuple[Literal[1, -1], ...] = (1, -1)
    for way in ways:
        next_one = _ahead(len(extent), position, window * way)
        turns = _turns(used, used, next_one, statements, at, own)
        if turns is not None:
            return way, turns
    return 0, []


def handed_on(
    pair: Pair,
    extents: Mapping[str, Extent],
    tree: Tree,
    statements: Mapping[str, Instances],
    depth: int,
) -> tuple[list[Turn], list[Turn]]:
    """Return who writes the second array where others have used the first, in one iteration of the
    `depth` loops around both. Where elements of both take turns in a place, also who writes the
    first where others have used the second; then only pairs in this order count.
    """
    names = pair.first, pair.second
    first, second = uses({name: extents[name] for name in names}, statements).values()
    place = same_place(pair.places, (len(extents[pair.first]), len(extents[pair.second])))
    at = paths(tree)
    turns = _turns(first, second, place, statements, at, 0, depth)
    if turns is not None:
        return turns, []
    over, back = (
        _turns(used, writing, where, statements, at, 0, depth, some=True)
        for used, writing, where in ((first, second, place), (second, first, place.reverse()))
    )
    return over or [], back or []


def _turns(
    used: Sequence[Use],
    writing: Sequence[Use],
    place: isl.Map,
    statements: Mapping[str, Instances],
    at: Mapping[str, Path],
    own: int,
    depth: int = 0,
    some: bool = False,
) -> list[Turn] | None:
    """Return every use with every write that takes its place, None where one comes too early. Of
    `some` pairs it may: then those are left out.
    """
    turns = []
    for write in (w for w in writing if w.is_write):
        for use in used:
            pairs = instance_touches(use.key).apply_range(place)
            pairs = pairs.apply_range(instance_touches(write.key).reverse())
            pairs = pairs.intersect_params(context(sizes_in(pairs)))
            steps = shared_steps(statements[use.statement], statements[write.statement], at)
            steps = with_copies(steps, own)
            order = settled(pairs, steps, depth)
            if some:
                order = order.in_order
            if order.pairs.is_empty():
                continue
            if not order.whole and not (use.shares and order.by_itself):
                return None
            turns.append(Turn(use.statement, write.statement, not use.is_write, steps, order))
    return turns


def _ahead(rank: int, position: int, distance: Expression) -> isl.Map:
    """Return { element -> the one at a distance along one dimension }."""
    p, q = ([f"{letter}{k}" for k in range(rank)] for letter in "pq")
    conditions = [f"{q[k]} = {p[k]}" for k in range(rank) if k != position]
    conditions.append(constraint(f"{q[position]} - {p[position]}", "=", distance))
    sizes = parameters_text(distance.sizes)
    where = " and ".join(conditions)
    return parse_map(f"{sizes} -> {{ [{', '.join(p)}] -> [{', '.join(q)}] : {where} }}")
