"""The graph of statements: strongly connected components in topological order, and chains."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from workbench.polyhedral.dependences.flow import Dependence


def components(names: Sequence[str], dependences: Iterable[Dependence]) -> list[tuple[str, ...]]:
    """Return the strongly connected components, sources first, ties in the order of `names`.

    The statements of a component are in the order of `names` too.
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
    following: dict[int, set[int]] = {c: set() for c in members}
    for a in names:
        following[label[a]] |= {label[b] for b in after[a]} - {label[a]}
    first = {c: position[own[0]] for c, own in members.items()}
    return [tuple(members[c]) for c in topological(following, first)]


def shortest_chain(
    dependences: Iterable[Dependence], starts: Sequence[str], ends: Collection[str]
) -> list[str]:
    """Return a shortest chain of at least one dependence from one of `starts` to one of `ends`, as
    its statements; an empty list where there is none.
    """
    follows: dict[str, list[str]] = {}
    for d in dependences:
        follows.setdefault(d.source, []).append(d.sink)
    chains = deque([name] for name in starts)
    seen = set(starts)
    while chains:
        chain = chains.popleft()
        for name in follows.get(chain[-1], ()):
            if name in ends:
                return [*chain, name]
            if name not in seen:
                seen.add(name)
                chains.append([*chain, name])
    return []


def topological(after: Mapping[int, Iterable[int]], rank: Mapping[int, int]) -> list[int]:
    """Return all nodes in topological order, the least `rank` first where there is a choice."""
    waiting = dict.fromkeys(after, 0)
    for followers in after.values():
        for b in followers:
            waiting[b] += 1
    ready = [(rank[c], c) for c, n in waiting.items() if n == 0]
    heapq.heapify(ready)
    result = []
    while ready:
        _, c = heapq.heappop(ready)
        result.append(c)
        for b in after[c]:
            waiting[b] -= 1
            if waiting[b] == 0:
                heapq.heappush(ready, (rank[b], b))
    return result


def depth_first(after: Mapping[int, Collection[int]]) -> list[int]:
    """Return all nodes in a topological order in which each is followed by what needs it as soon as
    can be: of those that wait for nothing the one whose needs ended last, if possible one that none
    needs, else the first that is given.
    """
    waiting, place = dict.fromkeys(after, 0), {k: n for n, k in enumerate(after)}
    for followers in after.values():
        for b in followers:
            waiting[b] += 1
    ready = {c: -1 for c, n in waiting.items() if n == 0}
    result: list[int] = []
    while ready:
        c = max(ready, key=lambda c: (ready[c], not after[c], -place[c]))
        del ready[c]
        for b in after[c]:
            waiting[b] -= 1
            if waiting[b] == 0:
                ready[b] = len(result)
        result.append(c)
    return result


def _strongly_connected(names: Sequence[str], after: Mapping[str, list[str]]) -> dict[str, int]:
    """Return a component number for each name (Tarjan 1972, with a stack instead of recursion)."""
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
