"""Loops split: some statements of a loop as array operations, the others in loops where they must
be.

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
    sequence,
    statements,
)


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
            vectorized(child, dim, chosen, dependences.among(tuple(statements(child))))
            for child in tree.children
        ]
        return sequence(parts)
    members = tuple(statements(tree))
    if not chosen & set(members):
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


def in_axes(tree: Tree, axes: dict[str, tuple[str, ...]]) -> Tree:
    """Put each statement inside its axes, which stand as far out as all share them."""
    return _joined(_with_axes(tree, axes))


def _with_axes(tree: Tree, axes: dict[str, tuple[str, ...]]) -> Tree:
    """Put each leaf inside its axes; an axis that all statements of a loop share stands outside the
    loop, but inside one over its blocks, or whose blocks are apart.
    """
    if isinstance(tree, Leaf):
        inside: Tree = tree
        for dim in reversed(axes[tree.statement]):
            inside = Loop(dim, inside, kind="axis")
        return inside
    if isinstance(tree, Block):
        return sequence([_with_axes(child, axes) for child in tree.children])
    below = list(statements(tree))
    outside = [d for d in axes[below[0]] if tree.tile is None or (d != tree.dim and not tree.apart)]
    shared = tuple(d for d in outside if all(d in axes[name] for name in below))
    inner = {name: tuple(d for d in axes[name] if d not in shared) for name in below}
    inside = replace(tree, child=_with_axes(tree.child, inner))
    for dim in reversed(shared):
        inside = Loop(dim, inside, kind="axis")
    return inside


def _joined(tree: Tree) -> Tree:
    """Join neighbours with the same axis under one axis node, which orders nothing."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Loop):
        return replace(tree, child=_joined(tree.child))
    children: list[Tree] = []
    for child in map(_joined, tree.children):
        last = children[-1] if children else None
        if _same_axis(last, child):
            assert isinstance(last, Loop) and isinstance(child, Loop)
            children[-1] = replace(last, child=_joined(sequence([last.child, child.child])))
        else:
            children.append(child)
    return sequence(children)


def _same_axis(a: Tree | None, b: Tree) -> bool:
    return (
        isinstance(a, Loop)
        and isinstance(b, Loop)
        and a.kind == b.kind == "axis"
        and a.dim == b.dim
    )
