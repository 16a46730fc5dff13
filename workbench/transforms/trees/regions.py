"""Parts of a schedule tree that steps split and join again.

They answer which node holds some statements, which dependences are left to be ordered there, and
whether the other parts of a sequence can stand before or behind the chosen ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.tree import (
    Block,
    Leaf,
    Loop,
    Tree,
    loop_dims,
    nodes,
    sequence,
    statements,
)
from workbench.program.values import Program

Edit = Callable[[Tree, Dependences], Tree]


def edited(
    tree: Tree, names: Collection[str], dependences: Dependences, edit: Edit, at: Tree | None = None
) -> Tree:
    """Apply `edit` to the innermost node that holds all `names`, or to `at` above it.

    `edit` takes the node and the dependences among its statements that the loops around it leave to
    be ordered.
    """
    if tree is at or isinstance(tree, Leaf):
        return edit(tree, dependences)
    if isinstance(tree, Loop):
        inside = dependences if tree.kind == "axis" else dependences.within(tree)
        return replace(tree, child=edited(tree.child, names, inside, edit, at))
    for position, child in enumerate(tree.children):
        held = tuple(statements(child))
        if set(names) <= set(held):
            children = list(tree.children)
            children[position] = edited(child, names, dependences.among(held), edit, at)
            return sequence(children)
    return edit(tree, dependences)


def blocks_of(tree: Tree) -> Iterator[Block]:
    """Yield the sequences of a tree."""
    return (node for node in nodes(tree) if isinstance(node, Block))


def own_loops(program: Program) -> dict[str, tuple[str, ...]]:
    """Return for each statement its own dims that are loops, without counters of blocks."""
    return {
        name: tuple(d for d in loops if d in program.statement[name].dims)
        for name, loops in loop_dims(program.schedule).items()
    }


def loops_around(tree: Tree, names: Collection[str]) -> list[Loop]:
    """Return the loops and axes that hold all `names`, outermost first."""
    if isinstance(tree, Leaf):
        return []
    if isinstance(tree, Loop):
        return [tree, *loops_around(tree.child, names)]
    for child in tree.children:
        if set(names) <= set(statements(child)):
            return loops_around(child, names)
    return []


@dataclass(frozen=True)
class Sides:
    """The positions of a sequence's parts: those needed before the chosen ones, those that need
    them, those on a way from one of them to another, and the unrelated ones.
    """

    before: frozenset[int]
    after: frozenset[int]
    caught: frozenset[int]
    free: frozenset[int]


def sides(parts: Sequence[Tree], chosen: Collection[int], dependences: Dependences) -> Sides:
    """Return where the other parts can stand once the chosen ones stand together."""
    owner = {name: k for k, part in enumerate(parts) for name in statements(part)}
    follows: dict[int, set[int]] = {k: set() for k in range(len(parts))}
    leads: dict[int, set[int]] = {k: set() for k in range(len(parts))}
    for d in dependences.all:
        if d.source in owner and d.sink in owner:
            follows[owner[d.source]].add(owner[d.sink])
            leads[owner[d.sink]].add(owner[d.source])
    reached, needed = (_reached(ways, chosen) - set(chosen) for ways in (follows, leads))
    rest = set(range(len(parts))) - set(chosen) - reached - needed
    return Sides(
        before=frozenset(needed - reached),
        after=frozenset(reached - needed),
        caught=frozenset(reached & needed),
        free=frozenset(rest),
    )


def _reached(ways: Mapping[int, set[int]], start: Collection[int]) -> set[int]:
    seen, todo = set(start), list(start)
    while todo:
        for following in ways[todo.pop()] - seen:
            seen.add(following)
            todo.append(following)
    return seen
