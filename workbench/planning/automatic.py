"""The automatic recipe: an ordinary list of steps, each visible and undoable."""

from __future__ import annotations

from workbench.polyhedral.tree import Leaf, Loop, Tree
from workbench.polyhedral.tree import Sequence as Block
from workbench.program.values import Program
from workbench.transforms import Vectorize
from workbench.transforms.base import Transform, apply
from workbench.transforms.refusal import Refused


def recipe(program: Program) -> list[Transform]:
    """Steps that vectorize every dimension that does not count updates.

    A dimension counts updates if it is an outermost loop around other loops that some statement
    needs in order: there whole-array work would hold all updates' data at once and run nothing
    faster.
    """
    steps: list[Transform] = []
    for step in Vectorize.candidates(program):
        try:
            found = apply(program, step)
        except Refused:
            continue
        if found.notes and step.dim in _around_loops(program.schedule):
            continue
        program = found.program
        steps.append(step)
    return steps


def _around_loops(tree: Tree | None) -> set[str]:
    """Dimensions of outermost loops that have loops inside."""
    if isinstance(tree, Block):
        return {dim for child in tree.children for dim in _around_loops(child)}
    if isinstance(tree, Loop):
        if tree.kind == "axis":
            return _around_loops(tree.child)
        return {tree.dim} if _has_loop(tree.child) else set()
    return set()


def _has_loop(tree: Tree) -> bool:
    if isinstance(tree, Leaf):
        return False
    if isinstance(tree, Loop):
        return tree.kind == "loop" or _has_loop(tree.child)
    return any(_has_loop(child) for child in tree.children)
