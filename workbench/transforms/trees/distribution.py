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
    axis_dims,
    blocks,
    loop_dims,
    sequence,
    statements,
)
from workbench.transforms.trees.axes import in_axes


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
        )
    except NoOrder as failure:
        raise Stuck(failure.component, dependences) from None
    axes = {
        name: (*((loop.name,) if name in chosen else ()), *inner_axes[name]) for name in members
    }
    return in_axes(ordered, axes)
