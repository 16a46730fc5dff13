"""Loops split: some of their statements in a loop of their own, or as array operations.

`vectorized` walks a schedule tree down to the loops over one dimension. There the chosen statements
have no such loop any more, all others keep theirs, and the region is ordered anew under the
dependences that the outer loops leave. A component that then has no order is a cycle that carries
the dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.ordering.as_written import NoOrder, order_below
from workbench.polyhedral.tree import (
    Block,
    Leaf,
    Loop,
    Tree,
    apart_loops,
    axis_dims,
    blocks,
    loop_dims,
    only,
    sequence,
    statements,
    with_child,
)
from workbench.transforms.trees.axes import in_axes
from workbench.transforms.trees.regions import edited, sides


def distributed(
    tree: Tree, loop: Loop, chosen: frozenset[str], dependences: Dependences, way: int = 0
) -> Tree:
    """Return the tree in which `chosen` have a loop of their own beside `loop`, legal or not.

    Statements needed on both sides stand behind with `way` 0, before with 1.
    """

    def split(node: Tree, found: Dependences) -> Tree:
        assert isinstance(node, Loop)
        members = list(statements(node))
        own = [k for k, name in enumerate(members) if name in chosen]
        at = sides([Leaf(name) for name in members], own, found)
        before = at.before | (at.caught if way else frozenset())
        if before or (not at.after and members[0] not in chosen):
            before |= at.free
        earlier = {members[k] for k in before}
        groups = (earlier, set(chosen), set(members) - chosen - earlier)
        parts = [only(node.child, group) for group in groups]
        return sequence([with_child(node, part) for part in parts if part is not None])

    return edited(tree, chosen, dependences, split, loop)


class Stuck(Exception):
    """An error: the statements of `component` need each other at different values of the dimension.

    `dependences` are those that the enclosing loops leave to be ordered.
    """

    def __init__(self, component: tuple[str, ...], dependences: Dependences) -> None:
        self.component = component
        self.dependences = dependences
        super().__init__(", ".join(component))


def vectorized(tree: Tree, dim: str, chosen: frozenset[str], dependences: Dependences) -> Tree:
    """Return the tree in which `dim` is an array axis of the chosen statements. Raises Stuck."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Block):
        parts = [
            child
            if isinstance(child, Leaf) or chosen.isdisjoint(child.below)
            else vectorized(child, dim, chosen, dependences.among(child.below))
            for child in tree.children
        ]
        return sequence(parts)
    members = tree.below
    if chosen.isdisjoint(members):
        return tree
    if tree.name != dim or tree.kind == "axis":
        inside = dependences if tree.kind == "axis" else dependences.within(tree)
        return replace(tree, child=vectorized(tree.child, dim, chosen, inside))
    if set(members) <= chosen:
        flipped = Loop(dim, tree.child, kind="axis")
        if violation(flipped, dependences) is None:
            return flipped
    return _distributed(tree, members, chosen, dependences)


def _distributed(
    loop: Loop, members: Sequence[str], chosen: frozenset[str], dependences: Dependences
) -> Tree:
    """Order the loop's statements anew, the chosen ones with the loop's dimension as an axis."""
    inner_loops, inner_axes = loop_dims(loop), axis_dims(loop)
    left = {
        name: tuple(d for d in inner_loops[name] if not (name in chosen and d == loop.name))
        for name in members
    }
    ranked = list(dict.fromkeys(d for name in members for d in inner_loops[name]))
    try:
        ordered = order_below(
            [dependences.statements[name] for name in members],
            dependences,
            left,
            ranked,
            blocks(loop),
            apart_loops(loop),
        )
    except NoOrder as failure:
        raise Stuck(failure.component, dependences) from None
    axes = {
        name: (*((loop.name,) if name in chosen else ()), *inner_axes[name]) for name in members
    }
    return in_axes(ordered, axes)
