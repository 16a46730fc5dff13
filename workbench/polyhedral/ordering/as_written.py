"""The order "as written": a greedy schedule that reads like a program written by hand.

Strongly connected components come in textual order. A component whose statements depend on each
other takes as its loop the first dimension, in the user's order, that can run forwards or
backwards. The dependences that this loop carries are dropped, and the rest is ordered inside. If no
dimension works as it is, statements are shifted against each other by shortest paths. A component
joins the loop of an earlier one if it needs nothing from a later iteration. So the work of one
update is computed, and can be forgotten, in that update. isl's own scheduler takes seconds where
this takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import islpy as isl

from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.dependences.components import components, topological
from workbench.polyhedral.dependences.cycles import Cycle, find_cycle
from workbench.polyhedral.dependences.flow import (
    Dependence,
    Dependences,
    RelationKey,
    pair_order,
    relation,
    standings,
)
from workbench.polyhedral.sets.as_text import parse_map
from workbench.polyhedral.tree import Leaf, Loop, Standing, Tree, sequence

__all__ = [
    "Cycle",
    "NoOrder",
    "components",
    "find_cycle",
    "goes_back",
    "least_distance",
    "offsets",
    "order",
    "order_below",
]


class NoOrder(Exception):
    """The error that `component` has no loop order, perhaps with a cycle (`cycles.find_cycle`)."""

    def __init__(self, component: tuple[str, ...]) -> None:
        self.component = component
        super().__init__(f"no order found for {', '.join(component)}")


def order(
    statements: Sequence[Instances], dependences: Dependences, dim_order: Sequence[str]
) -> Tree:
    """Return the root schedule. Raises NoOrder."""
    return order_below(statements, dependences, {s.name: s.dims for s in statements}, dim_order)


def order_below(
    statements: Sequence[Instances],
    dependences: Dependences,
    dims: Mapping[str, Sequence[str]],
    dim_order: Sequence[str] = (),
    blocks: Mapping[str, tuple[str, int]] | None = None,
    apart: Mapping[str, Mapping[str, int]] | None = None,
) -> Tree:
    """Order a region in which each statement has only `dims` left to loop over.

    `dependences` hold only what the region must respect: those carried by enclosing loops are
    dropped already (`Dependences.within`). Dimensions are tried in `dim_order`, then as they occur.
    `dims` may name loops over blocks; `blocks` says of what (`tree.blocks`), and they stand around
    all finer loops over the same dimension. `apart` are the loops of each statement whose blocks
    stay apart, with their chunks: such a loop holds no statement of another loop, but for a
    component that needs one.
    Raises NoOrder.
    """
    names = [s.name for s in statements]
    everything = [*dim_order, *(d for name in names for d in dims[name])]
    loops = {d: _bare(d, blocks or {}) for d in dict.fromkeys(everything)}
    left = {
        name: tuple(
            replace(loop, apart=True, chunks=apart[name][d])
            if apart and d in apart.get(name, ())
            else loop
            for d, loop in loops.items()
            if d in dims[name]
        )
        for name in names
    }
    return _ordered(names, dependences.among(names), left)


def _bare(name: str, blocks: Mapping[str, tuple[str, int]]) -> Loop:
    """Make a loop from its name, without a body."""
    dim, tile = blocks.get(name, (name, None))
    return Loop(dim, Leaf(""), tile=tile)


# -- the greedy recursion --------------------------------------------------------------------------

_Left = Mapping[str, tuple[Loop, ...]]
"""The loops of each statement that are still to be placed, without bodies."""

_Component = tuple[str, ...]


@dataclass
class _Group:
    """A group of components in one loop (None: a statement without dimensions left)."""

    loop: Loop | None
    members: list[str]


def _ordered(names: Sequence[str], dependences: Dependences, left: _Left) -> Tree:
    """Order components one after the other, and join those that can share a loop."""
    parts = components(names, dependences.all)
    within = _inner(parts, dependences)
    choices = {own: _loops(own, part, left) for own, part in within.items()}
    wanted = _wanted(choices)
    groups: list[_Group] = []
    place: dict[str, int] = {}
    for own in _in_place(parts, dependences, left, wanted):
        sources = (d.source for n in own for d in dependences.by_sink.get(n, ()))
        first = max((place[source] for source in sources if source in place), default=0)
        loop = _chosen(choices[own], wanted) if own in within else _free_loop(left[own[0]], wanted)
        for position in range(first, len(groups)):
            group = groups[position]
            if own not in within and _prefers(loop, group, wanted):
                continue
            if _joins(own, group, dependences, left):
                group.members.extend(own)
                break
        else:
            position = len(groups)
            groups.append(_Group(loop, list(own)))
        place.update(dict.fromkeys(own, position))
    inside = _within_groups(place, names, dependences, len(groups))
    return sequence([_grouped(g, own, left) for g, own in zip(groups, inside, strict=True)])


def _wanted(choices: Mapping[_Component, Sequence[Loop]]) -> tuple[str, ...]:
    """Return the dimensions that cycles at this level need: those without alternative, if any."""
    forced = [loops[0].name for loops in choices.values() if len(loops) == 1]
    return tuple(dict.fromkeys(forced or [loops[0].name for loops in choices.values()]))


def _chosen(loops: Sequence[Loop], wanted: Sequence[str]) -> Loop:
    """Return the first loop over a dimension that another cycle needs too, else the first."""
    return next((loop for loop in loops if loop.name in wanted), loops[0])


def _open(left: Sequence[Loop]) -> dict[str, Loop]:
    """Return the loops that may come next, by name: blocks come before the loops within them."""
    return {
        loop.name: loop
        for loop in left
        if not any(o.dim == loop.dim and (o.tile or 1) > (loop.tile or 1) for o in left)
    }


def _in_place(
    parts: list[_Component], dependences: Dependences, left: _Left, wanted: Sequence[str]
) -> list[_Component]:
    """Return the components in topological order, those without the wanted dimensions early.

    So they do not part components that share a loop: first those without dimensions, then those
    with other ones.
    """
    part = {name: k for k, own in enumerate(parts) for name in own}
    after: dict[int, set[int]] = {k: set() for k in range(len(parts))}
    for d in dependences.all:
        if part[d.source] != part[d.sink]:
            after[part[d.source]].add(part[d.sink])
    rank = {}
    for k, own in enumerate(parts):
        dims = {loop.name for name in own for loop in left[name]}
        rank[k] = k + len(parts) * (bool(dims) + bool(dims & set(wanted)))
    return [parts[k] for k in topological(after, rank)]


def _inner(parts: Sequence[_Component], dependences: Dependences) -> dict[_Component, Dependences]:
    """Return the dependences inside each component that has any."""
    part = {name: own for own in parts for name in own}
    inner: dict[_Component, dict[Dependence, RelationKey]] = {}
    for d in dependences.all:
        if part[d.source] == part[d.sink]:
            inner.setdefault(part[d.source], {})[d] = dependences.keys[d]
    return {
        own: Dependences({n: dependences.statements[n] for n in own}, tuple(kept), kept)
        for own, kept in inner.items()
    }


def _free_loop(left: Sequence[Loop], wanted: Sequence[str]) -> Loop | None:
    """Return a loop for a statement that may run in any order, a cycle's here if possible."""
    loop = _open(left)
    return next((loop[name] for name in (*wanted, *loop) if name in loop), None)


def _prefers(free: Loop | None, group: _Group, wanted: Sequence[str]) -> bool:
    """Tell whether a free statement should wait for a cycle's loop and not join this group's.

    The start of every update belongs into the loop over updates, not before it.
    """
    if free is None or free.name not in wanted or group.loop is None:
        return False
    return group.loop.name not in wanted


def _joins(own: _Component, group: _Group, dependences: Dependences, left: _Left) -> bool:
    """Tell whether the component can run in the group's loop: it needs no later iteration."""
    loop = group.loop
    if loop is None or loop.offsets:
        return False
    for name in own:
        like = _open(left[name]).get(loop.name)
        if like is None or (like.apart, like.chunks) != (loop.apart, loop.chunks):
            return False
    members = {*group.members, *own}
    needed = [d for n in own for d in dependences.by_sink.get(n, ()) if d.source in members]
    return all(not _breaks(dependences, d, loop) for d in needed)


def _within_groups(
    place: Mapping[str, int], names: Sequence[str], dependences: Dependences, count: int
) -> list[Dependences]:
    """Return the statements of each group, in the order of `names`, with the dependences among
    them.
    """
    statements: list[dict[str, Instances]] = [{} for _ in range(count)]
    for name in names:
        statements[place[name]][name] = dependences.statements[name]
    kept: list[dict[Dependence, RelationKey]] = [{} for _ in range(count)]
    for d in dependences.all:
        if place[d.source] == place[d.sink]:
            kept[place[d.source]][d] = dependences.keys[d]
    return [Dependences(s, tuple(k), k) for s, k in zip(statements, kept, strict=True)]


def _grouped(group: _Group, inside: Dependences, left: _Left) -> Tree:
    if group.loop is None:
        return Leaf(group.members[0])
    return _around(group.loop, tuple(inside.statements), inside, left)


def _loops(names: _Component, dependences: Dependences, left: _Left) -> list[Loop]:
    """Return the loops, without bodies, that can run around a component: one per dimension.

    Statements are shifted against each other only if nothing else works.
    """
    open_loops = [_open(left[name]) for name in names]
    shared = [
        replace(
            loop,
            apart=any(o[n].apart for o in open_loops),
            chunks=max(o[n].chunks for o in open_loops),
        )
        for n, loop in open_loops[0].items()
        if all(n in o for o in open_loops)
    ]
    loops = []
    for loop in shared:
        for way in (loop,) if loop.apart else (loop, replace(loop, backwards=True)):
            if all(not _breaks(dependences, d, way) for d in dependences.all):
                loops.append(way)
                break
    return loops or [_shifted(names, dependences, shared)]


def _shifted(names: _Component, dependences: Dependences, loops: Sequence[Loop]) -> Loop:
    """Return a loop in which statements run ahead of others.

    Shifts that order instances order their blocks too.
    """
    for loop in loops:
        dims = [dependences.statements[name].dims for name in names]
        if loop.apart:
            continue
        if not all(loop.dim in own and (loop.tile is None or loop.name not in own) for own in dims):
            continue
        for backwards in (False, True):
            shift_of = offsets(dependences, loop.dim, backwards)
            if shift_of is not None:
                shifts = tuple((n, o) for n, o in shift_of.items() if o)
                return replace(loop, backwards=backwards, offsets=shifts)
    raise NoOrder(names)


def _around(loop: Loop, names: Sequence[str], dependences: Dependences, left: _Left) -> Tree:
    rest = {name: tuple(x for x in left[name] if x.name != loop.name) for name in names}
    return replace(loop, child=_ordered(names, dependences.within(loop), rest))


def _breaks(dependences: Dependences, dependence: Dependence, loop: Loop) -> bool:
    source = dependences.statements[dependence.source]
    sink = dependences.statements[dependence.sink]
    key, ends = dependences.keys[dependence], standings(loop, source, sink)
    ways = (False, True) if loop.apart else (loop.backwards,)
    return any(goes_back(key, *ends, way) for way in ways)


@lru_cache(maxsize=65536)
def goes_back(key: RelationKey, source: Standing, sink: Standing, backwards: bool) -> bool:
    """Tell whether some sink comes in an earlier iteration than its source."""
    pairs = relation(key)
    ranks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    sign = ">" if backwards else "<"
    return not pairs.is_disjoint(pair_order(*ranks, source, sink, sign))


def offsets(dependences: Dependences, dim: str, backwards: bool = False) -> dict[str, int] | None:
    """Return the least shifts so that no dependence goes back in a loop over `dim`, or None.

    Every statement has the dimension. With w the least distance of a dependence (infinitely far
    back for some range reads), source and sink need `o[source] <= o[sink] + w`: shortest paths
    (Bellman-Ford). The shifts are at least 0, as `tree.Loop` takes them.
    """
    edges = []
    for d in dependences.all:
        i = dependences.statements[d.source].dims.index(dim)
        j = dependences.statements[d.sink].dims.index(dim)
        weight = least_distance(dependences.keys[d], i, j, backwards)
        if weight is None:
            return None
        edges.append((d.source, d.sink, weight))
    sign = -1 if backwards else 1
    shifts = dict.fromkeys(dependences.statements, 0)
    for _ in range(len(shifts) + 1):
        changed = False
        for source, sink, weight in edges:
            if shifts[sink] + weight < shifts[source]:
                shifts[source] = shifts[sink] + weight
                changed = True
        if not changed:
            least = min(sign * o for o in shifts.values())
            return {name: sign * o - least for name, o in shifts.items()}
    return None


@lru_cache(maxsize=65536)
def least_distance(key: RelationKey, i: int, j: int, backwards: bool) -> int | None:
    """Return the least `sink[j] - source[i]` (negated for a backward loop), or None."""
    pairs = relation(key)
    sources, sinks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    left, right = (f"q{j}", f"p{i}") if not backwards else (f"p{i}", f"q{j}")
    p, q = (", ".join(f"{c}{k}" for k in range(n)) for c, n in (("p", sources), ("q", sinks)))
    between = ", ".join(part for part in (p, q) if part)
    distance = parse_map(f"{{ [{between}] -> [v] : v = {left} - {right} }}")
    least = pairs.wrap().flatten().apply(distance).dim_min_val(0)
    return int(least.to_python()) if least.is_int() else None
