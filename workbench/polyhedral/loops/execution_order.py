"""Execution order: what runs at once, one after the other, in a schedule tree.

Needs no isl: the instances are listed, and grouped as the tree says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.polyhedral import tree as trees
from workbench.polyhedral.tree import Leaf, Loop, Tree, standing

Point = tuple[int, ...]
Points = Mapping[str, Sequence[Point]]


def places(
    tree: Tree, dims: Mapping[str, tuple[str, ...]], points: Points
) -> dict[tuple[str, Point], int]:
    """Return the place of each instance in the order of the tree, from 0.

    Instances of a statement that run as one array operation have one place. `dims` names the
    coordinates of each statement's points. Statements of the tree without points do not count.
    """
    order: dict[tuple[str, Point], int] = {}
    for place, (name, together) in enumerate(operations(tree, dims, points)):
        order |= {(name, point): place for point in together}
    return order


def operations(
    tree: Tree, dims: Mapping[str, tuple[str, ...]], points: Points
) -> Iterator[tuple[str, Sequence[Point]]]:
    """Yield each statement with its instances that run at once, in the order of the tree. `dims`
    names the coordinates of the points; statements without points are left out.
    """
    if isinstance(tree, Leaf):
        if points.get(tree.statement):
            yield tree.statement, points[tree.statement]
    elif isinstance(tree, trees.Block):
        for child in tree.children:
            yield from operations(child, dims, points)
    elif tree.kind == "axis":
        yield from operations(tree.child, dims, points)
    else:
        for iteration in _iterations(tree, dims, points):
            yield from operations(tree.child, dims, iteration)


def _iterations(
    loop: Loop, dims: Mapping[str, tuple[str, ...]], points: Points
) -> Iterator[dict[str, list[Point]]]:
    """Yield the instances of each iteration of a loop, in its order."""
    by_value: dict[int, dict[str, list[Point]]] = {}
    for name in trees.statements(loop):
        if not points.get(name):
            continue
        at = standing(loop, name, dims[name])
        for point in points[name]:
            value = (point[at.position] + at.shift) // at.divisor
            by_value.setdefault(value, {}).setdefault(name, []).append(point)
    for value in sorted(by_value, reverse=loop.backwards):
        yield by_value[value]
