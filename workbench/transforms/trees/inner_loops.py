"""Loops inside a block that become one, so that what the one computes the other reads at once.

Each loop, in the order of the block, joins the latest loop over the same dimension from which it
reads, if dependences allow: in the direction of that one, or in the other where only that is
possible. What they hand on is then needed for few iterations. A loop that reads nothing of an
earlier one stays by itself: to join them would keep as much alive, or more. No loop is shifted.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.tree import Loop, Tree, statements
from workbench.transforms.trees.joining import Broken, fused
from workbench.transforms.trees.regions import blocks_of
from workbench.transforms.trees.sites import alike, site


def inner_joined(tree: Tree, found: Dependences) -> Tree:
    """Return the content of a block with its loops joined; `found` are the dependences in it."""
    apart: set[tuple[str, str]] = set()
    while True:
        pair = next((pair for pair in _pairs(tree, found) if pair not in apart), None)
        if pair is None:
            return tree
        at = site(tree, pair, found)
        result = None if at.caught else fused(at, (0, 0), found)
        if result is None or isinstance(result, Broken):
            apart.add(pair)
        else:
            tree, _ = result


def _pairs(tree: Tree, found: Dependences) -> Iterator[tuple[str, str]]:
    """Yield each loop and the latest one like it that it reads from, by their first statements."""
    for block in blocks_of(tree):
        loops = [part for part in block.children if isinstance(part, Loop) and part.kind == "loop"]
        for number, loop in enumerate(loops):
            read = {d.source for name in statements(loop) for d in found.by_sink[name]}
            earlier = (o for o in loops[:number] if alike(o, loop) and read & set(statements(o)))
            *_, latest = (None, *earlier)
            if latest is not None:
                yield next(statements(latest)), next(statements(loop))
