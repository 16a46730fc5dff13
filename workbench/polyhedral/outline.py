"""The outline of a schedule tree: the text of `tree.text` with long lists cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, heading

SHOWN = 3
"""The number of names that are shown one by one."""


def outline(tree: Tree) -> str:
    """Return the tree as indented text.

    Successive parts of something (`policy.hidden_1`) are one line: the first, the last, and their
    number.
    """
    return "".join(f"{line}\n" for line in _lines(tree, ""))


def _lines(tree: Tree, indent: str) -> Iterator[str]:
    if isinstance(tree, Loop):
        yield indent + heading(tree, _shifts(tree))
        yield from _lines(tree.child, indent + "    ")
        return
    children = tree.children if isinstance(tree, Block) else (tree,)
    for part, group in groupby(children, _is_part):
        nodes = list(group)
        names = [node.statement for node in nodes if isinstance(node, Leaf)]
        if part and len(names) > SHOWN:
            yield f"{indent}{names[0]} … {names[-1]}    ({len(names)} statements)"
            continue
        for node in nodes:
            if isinstance(node, Leaf):
                yield indent + node.statement
            else:
                yield from _lines(node, indent)


def _is_part(tree: Tree) -> bool:
    """Tell whether it is a statement that a network, an optimizer or a formula has made."""
    return isinstance(tree, Leaf) and "." in tree.statement


def _shifts(loop: Loop) -> str:
    """Return the shifts of a loop: `worth +2, 38 statements +1`."""
    by_shift: dict[int, list[str]] = {}
    for name, shift in loop.offsets:
        if shift:
            by_shift.setdefault(shift, []).append(name)
    return ", ".join(
        f"{', '.join(names) if len(names) <= SHOWN else f'{len(names)} statements'} {shift:+d}"
        for shift, names in by_shift.items()
    )
