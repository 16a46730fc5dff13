"""Groups of statements that always run together: they make isl's scheduler fast enough.

Neighbours in one body of the greedy order form a group if their domains are equal, in one iteration
they need each other only at the same instance, and no path leads out of the group and back. The
greedy order itself proves that groups have an order, so no solution that matters is lost. Groups
are internal: no step, name or key knows of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.tree import Leaf, Loop, Tree, statements

Group = tuple[str, ...]


@dataclass(frozen=True)
class GroupRegion:
    """Statements over the dimensions left to schedule: domains, and all pairs to be ordered."""

    domains: Mapping[str, isl.Set]
    dependences: Dependences
    free: Mapping[str, tuple[str, ...]]

    def pairs(self, dependences: Dependences) -> Iterator[tuple[str, str, isl.Map]]:
        """Yield source, sink and the relation of their free dimensions, for each dependence."""
        for d in dependences.all:
            pairs = dependences.relation(d)
            for end, side in ((d.source, isl.dim_type.in_), (d.sink, isl.dim_type.out)):
                dims = dependences.statements[end].dims
                for position in reversed(range(len(dims))):
                    if dims[position] not in self.free[end]:
                        pairs = pairs.project_out(side, position, 1)
            yield d.source, d.sink, pairs


def groups(order: Tree, region: GroupRegion) -> list[Group]:
    """Return the groups, in the order of the tree."""
    return list(_groups(order, region, region.dependences))


def _groups(tree: Tree, region: GroupRegion, left: Dependences) -> Iterator[Group]:
    if isinstance(tree, Leaf):
        yield (tree.statement,)
    elif isinstance(tree, Loop):
        yield from _groups(tree.child, region, left.within(tree))
    else:
        run: list[str] = []
        for child in (*tree.children, None):
            if isinstance(child, Leaf):
                run.append(child.statement)
                continue
            yield from _together(run, region, left.among(run))
            run = []
            if child is not None:
                below = tuple(statements(child))
                yield from _groups(child, region, left.among(below))


def _together(run: Sequence[str], region: GroupRegion, left: Dependences) -> list[Group]:
    """Return the statements of one body, in their order, as groups."""
    apart = {(p, q) for p, q, pairs in region.pairs(left) if not _is_identity(pairs)}
    needs: dict[str, set[str]] = {name: set() for name in run}
    for d in left.all:
        needs[d.sink].add(d.source)
    groups: list[list[str]] = []
    place: dict[str, int] = {}
    for name in run:
        for number in sorted({place[n] for n in needs[name] if n in place}):
            if _joins(name, number, groups, place, needs, region, apart):
                groups[number].append(name)
                place[name] = number
                break
        else:
            place[name] = len(groups)
            groups.append([name])
    return [tuple(group) for group in groups]


def _joins(
    name: str,
    number: int,
    found: Sequence[Sequence[str]],
    place: Mapping[str, int],
    needs: Mapping[str, set[str]],
    region: GroupRegion,
    apart: set[tuple[str, str]],
) -> bool:
    group = found[number]
    if region.free[group[0]] != region.free[name]:
        return False
    if not region.domains[group[0]].is_equal(region.domains[name]):
        return False
    if any((member, name) in apart for member in group):
        return False
    todo = [place[n] for n in needs[name] if place[n] != number]
    seen: set[int] = set()
    while todo:  # does something else that it needs come after the group?
        other = todo.pop()
        if other == number:
            return False
        if other not in seen:
            seen.add(other)
            todo += [place[n] for member in found[other] for n in needs[member]]
    return True


def _is_identity(pairs: isl.Map) -> bool:
    ranks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    return ranks[0] == ranks[1] and pairs.is_subset(isl.Map.identity(pairs.get_space()))
