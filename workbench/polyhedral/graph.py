"""The graph of statements: strongly connected components, and components joined into groups."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.polyhedral.dependences import Dependence


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
    following: dict[int, set[int]] = {c: set() for c in members}
    for a in names:
        following[label[a]] |= {label[b] for b in after[a]} - {label[a]}
    first = {c: position[own[0]] for c, own in members.items()}
    return [tuple(members[c]) for c in _topological(following, first)]


def _topological(after: Mapping[int, Iterable[int]], rank: Mapping[int, int]) -> list[int]:
    """Every node behind those that lead to it, the least `rank` first where there is a choice."""
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


class Quotient:
    """Components as nodes that can be merged while the graph stays acyclic.

    Used by one call of the ordering and thrown away: the one mutable thing here. `inner` are the
    dependences inside a node.
    """

    def __init__(self) -> None:
        self.members: dict[int, tuple[str, ...]] = {}
        self.inner: dict[int, list[Dependence]] = {}
        self._after: dict[int, dict[int, list[Dependence]]] = {}
        self._before: dict[int, set[int]] = {}

    @staticmethod
    def of(found: Sequence[tuple[str, ...]], dependences: Iterable[Dependence]) -> Quotient:
        """One node a component, numbered in order."""
        graph = Quotient()
        part = {name: k for k, component in enumerate(found) for name in component}
        for k, component in enumerate(found):
            graph.members[k] = component
            graph.inner[k] = []
            graph._after[k] = {}
            graph._before[k] = set()
        for d in dependences:
            a, b = part[d.source], part[d.sink]
            if a == b:
                graph.inner[a].append(d)
            else:
                graph._after[a].setdefault(b, []).append(d)
                graph._before[b].add(a)
        return graph

    def edges(self, a: int, b: int) -> Sequence[Dependence]:
        """The dependences from one node to another."""
        return self._after[a].get(b, ())

    def around(self, node: int) -> Iterator[int]:
        """Neighbours that can be merged into `node`, nearest first; the caller may merge each.

        Those merged are gone on from; a node is offered again when more has been merged, since a
        path through others may have kept it apart before.
        """
        refused: set[int] = set()
        while True:
            near = (self._after[node].keys() | self._before[node]) - refused
            candidate = next((n for n in sorted(near) if self._can_merge(node, n)), None)
            if candidate is None:
                return
            yield candidate
            if candidate in self.members:
                refused.add(candidate)

    def _can_merge(self, node: int, other: int) -> bool:
        return not self._detour(node, other) and not self._detour(other, node)

    def _detour(self, start: int, end: int) -> bool:
        """Whether a path leads from one node to the other through a third."""
        queue = deque(n for n in self._after[start] if n != end)
        seen = set(queue)
        while queue:
            node = queue.popleft()
            if node == end:
                return True
            for n in self._after[node]:
                if n not in seen:
                    seen.add(n)
                    queue.append(n)
        return False

    def merge(self, node: int, other: int) -> None:
        """Make `other` part of `node`."""
        self.members[node] = self.members[node] + self.members.pop(other)
        self.inner[node] += [*self.inner.pop(other), *self.edges(node, other)]
        self.inner[node] += self.edges(other, node)
        for b, found in self._after.pop(other).items():
            self._before[b].discard(other)
            if b != node:
                self._after[node].setdefault(b, []).extend(found)
                self._before[b].add(node)
        self._after[node].pop(other, None)
        for a in self._before.pop(other) - {node}:
            found = self._after[a].pop(other)
            self._after[a].setdefault(node, []).extend(found)
            self._before[node].add(a)
        self._before[node].discard(other)

    def in_order(self, names: Sequence[str]) -> list[int]:
        """The nodes in topological order, ties by their first statement in `names`.

        The members of each node are put in the order of `names` too.
        """
        position = {name: k for k, name in enumerate(names)}
        for node, own in self.members.items():
            self.members[node] = tuple(sorted(own, key=position.__getitem__))
        rank = {node: position[own[0]] for node, own in self.members.items()}
        return _topological(self._after, rank)
