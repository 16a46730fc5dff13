"""Array axes: which dims of a statement can be axes, and where axes stand in a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.polyhedral.sets.relations import is_box
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, sequence, statements
from workbench.program.text.infix import element_text
from workbench.program.values import Statement


def writes_along(statement: Statement, dim: str) -> bool:
    """Tell whether the written element varies over `dim`, as it must along an array axis."""
    return any(dim in e.variables for e in statement.write)


def why_no_axis(statement: Statement, dim: str, axes: Sequence[str]) -> str | None:
    """Explain why `dim` cannot be an array axis of a statement besides its `axes`: one array cannot
    hold its results.
    """
    own = (*axes, dim)
    written = element_text(statement.array, statement.write)
    for e in statement.write:
        both = [d for d in own if d in e.variables]
        if dim in both and len(both) > 1:
            return (
                f"{statement.name} writes {written}, where {' and '.join(both)} are one dimension "
                "of the array: only one of them can be an axis"
            )
    if not writes_along(statement, dim):
        return (
            f"{statement.name} has one value of {dim} and writes {written}, where an array axis "
            f"needs a dimension that varies over {dim}"
        )
    if is_box(statement.domain, own):
        return None
    listed = ", ".join(own)
    return f"the domain of {statement.name} is not a box in {listed}, so one array cannot hold it"


def in_axes(tree: Tree, axes: Mapping[str, tuple[str, ...]]) -> Tree:
    """Put each statement inside its axes, which stand as far out as all share them."""
    return _joined(_with_axes(tree, axes))


def _with_axes(tree: Tree, axes: Mapping[str, tuple[str, ...]]) -> Tree:
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
