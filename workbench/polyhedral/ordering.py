"""The order "as written": a greedy schedule that reads as the program one would write by hand.

Strongly connected components come in textual order. A component whose statements depend on each
other takes as its loop the first dimension, in the user's order, that can run forwards or
backwards; what that loop carries is dropped, and the rest is ordered inside. Where no dimension
works as it is, statements are shifted against each other by shortest paths. isl's own scheduler
takes seconds where this takes milliseconds, and fuses unrelated loops.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import islpy as isl

from workbench.polyhedral.cycles import Cycle, find_cycle
from workbench.polyhedral.dependences import (
    Dependence,
    Dependences,
    RelationKey,
    pair_order,
    relation,
)
from workbench.polyhedral.instances import Instances
from workbench.polyhedral.sets import parse_map
from workbench.polyhedral.tree import Leaf, Loop, Tree, sequence

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
    """No loop order was found for `component`; it may or may not be a cycle (`cycles.find_cycle`)."""

    def __init__(self, component: tuple[str, ...]) -> None:
        self.component = component
        super().__init__(f"no order found for {', '.join(component)}")


def order(
    statements: Sequence[Instances], dependences: Dependences, dim_order: Sequence[str]
) -> Tree:
    """The root schedule. Raises NoOrder."""
    return order_below(statements, dependences, {s.name: s.dims for s in statements}, dim_order)


def order_below(
    statements: Sequence[Instances],
    dependences: Dependences,
    dims: Mapping[str, Sequence[str]],
    dim_order: Sequence[str] = (),
) -> Tree:
    """An order of a region in which each statement has only `dims` left to loop over.

    `dependences` hold what the region must respect: what enclosing loops carry is dropped already
    (`Dependences.within`). Dimensions are tried in `dim_order`, then as they occur. Raises NoOrder.
    """
    names = [s.name for s in statements]
    everything = [*dim_order, *(d for name in names for d in dims[name])]
    ranked = list(dict.fromkeys(everything))
    left = {name: tuple(d for d in ranked if d in dims[name]) for name in names}
    return _ordered(names, dependences.among(names), left)


def components(names: Sequence[str], dependences: Iterable[Dependence]) -> list[tuple[str, ...]]:
    """Strongly connected components, sources first, ties in the order of `names`.

    A component's statements are in the order of `names` too.
    """
    position = {name: k for k, name in enumerate(names)}
    after: dict[str, list[str]] = {name: [] for name in names}
    for d in dependences:
        if d.source in position and d.sink in position:
            after[d.source].append(d.sink)
    label = _strongly_connected(names, after)
    members: dict[int, list[str]] = {}
    for name in names:
        members.setdefault(label[name], []).append(name)
    edges = {(label[a], label[b]) for a in names for b in after[a] if label[a] != label[b]}
    waiting = dict.fromkeys(members, 0)
    for _, b in edges:
        waiting[b] += 1
    followers: dict[int, list[int]] = {c: [] for c in members}
    for a, b in edges:
        followers[a].append(b)
    ready = [(position[members[c][0]], c) for c, n in waiting.items() if n == 0]
    heapq.heapify(ready)
    result = []
    while ready:
        _, c = heapq.heappop(ready)
        result.append(tuple(members[c]))
        for b in followers[c]:
            waiting[b] -= 1
            if waiting[b] == 0:
                heapq.heappush(ready, (position[members[b][0]], b))
    return result


def _strongly_connected(names: Sequence[str], after: Mapping[str, list[str]]) -> dict[str, int]:
    """A component number for each name (Tarjan 1972, with a stack instead of recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    label: dict[str, int] = {}
    path: list[str] = []
    for root in names:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        path.append(root)
        work = [(root, iter(after[root]))]
        while work:
            name, rest = work[-1]
            for following in rest:
                if following not in index:
                    index[following] = low[following] = len(index)
                    path.append(following)
                    work.append((following, iter(after[following])))
                    break
                if following not in label:
                    low[name] = min(low[name], index[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    _close(name, path, label)
    return label


def _close(name: str, path: list[str], label: dict[str, int]) -> None:
    number = len(label)
    while True:
        member = path.pop()
        label[member] = number
        if member == name:
            return


# -- the greedy recursion --------------------------------------------------------------------------

_Left = Mapping[str, tuple[str, ...]]


def _ordered(names: Sequence[str], dependences: Dependences, left: _Left) -> Tree:
    found = components(names, dependences.all)
    part = {name: k for k, component in enumerate(found) for name in component}
    inner: dict[int, list[Dependence]] = {}
    for d in dependences.all:
        if part[d.source] == part[d.sink]:
            inner.setdefault(part[d.source], []).append(d)
    children: list[Tree] = []
    for k, component in enumerate(found):
        if k not in inner:
            children.append(_nest(component[0], left[component[0]]))
        else:
            kept = {d: dependences.keys[d] for d in inner[k]}
            own = {n: dependences.statements[n] for n in component}
            children.append(_component(component, Dependences(own, tuple(kept), kept), left))
    return sequence(children)


def _nest(name: str, dims: Sequence[str]) -> Tree:
    tree: Tree = Leaf(name)
    for dim in reversed(dims):
        tree = Loop(dim, tree)
    return tree


def _component(names: tuple[str, ...], dependences: Dependences, left: _Left) -> Tree:
    shared = [d for d in left[names[0]] if all(d in left[name] for name in names)]
    for dim in shared:
        for backwards in (False, True):
            if all(not _breaks(dependences, d, dim, backwards) for d in dependences.all):
                return _loop(names, dependences, left, Loop(dim, Leaf(""), backwards=backwards))
    for dim in shared:
        for backwards in (False, True):
            found = offsets(dependences, dim, backwards)
            if found is not None:
                shifts = tuple((n, o) for n, o in found.items() if o)
                loop = Loop(dim, Leaf(""), backwards=backwards, offsets=shifts)
                return _loop(names, dependences, left, loop)
    raise NoOrder(names)


def _loop(names: tuple[str, ...], dependences: Dependences, left: _Left, loop: Loop) -> Tree:
    inside = dependences.within(loop.dim, dict(loop.offsets))
    rest = {name: tuple(d for d in left[name] if d != loop.dim) for name in names}
    child = _ordered(names, inside, rest)
    return Loop(loop.dim, child, loop.kind, loop.backwards, loop.offsets)


def _breaks(dependences: Dependences, dependence: Dependence, dim: str, backwards: bool) -> bool:
    source = dependences.statements[dependence.source].dims.index(dim)
    sink = dependences.statements[dependence.sink].dims.index(dim)
    return goes_back(dependences.keys[dependence], source, sink, backwards)


@lru_cache(maxsize=65536)
def goes_back(key: RelationKey, i: int, j: int, backwards: bool) -> bool:
    """Whether some sink comes in an earlier iteration than its source."""
    pairs = relation(key)
    sources, sinks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    sign = ">" if backwards else "<"
    return not pairs.is_disjoint(pair_order(sources, sinks, i, j, 0, sign))


def offsets(dependences: Dependences, dim: str, backwards: bool = False) -> dict[str, int] | None:
    """The least shifts under which no dependence goes back in a loop over `dim`; None if none do.

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
    found = dict.fromkeys(dependences.statements, 0)
    for _ in range(len(found) + 1):
        changed = False
        for source, sink, weight in edges:
            if found[sink] + weight < found[source]:
                found[source] = found[sink] + weight
                changed = True
        if not changed:
            least = min(sign * o for o in found.values())
            return {name: sign * o - least for name, o in found.items()}
    return None


@lru_cache(maxsize=65536)
def least_distance(key: RelationKey, i: int, j: int, backwards: bool) -> int | None:
    """The least `sink[j] - source[i]` (negated for a backward loop); None where there is none."""
    pairs = relation(key)
    sources, sinks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    left, right = (f"q{j}", f"p{i}") if not backwards else (f"p{i}", f"q{j}")
    p, q = (", ".join(f"{c}{k}" for k in range(n)) for c, n in (("p", sources), ("q", sinks)))
    between = ", ".join(part for part in (p, q) if part)
    distance = parse_map(f"{{ [{between}] -> [v] : v = {left} - {right} }}")
    least = pairs.wrap().flatten().apply(distance).dim_min_val(0)
    return int(least.to_python()) if least.is_int() else None
