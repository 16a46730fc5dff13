"""The automatic recipe: an ordinary list of steps, each visible and undoable."""

from __future__ import annotations

from workbench.polyhedral.legality import carries
from workbench.polyhedral.tree import Leaf, Loop, Tree
from workbench.polyhedral.tree import Sequence as Block
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Vectorize
from workbench.transforms.base import Transform, apply, check
from workbench.transforms.refusal import Refused


def recipe(program: Program) -> list[Transform]:
    """Steps that vectorize first what is independent, then what can be of the other dimensions, and
    at last keep of every array only what is live, and hand on the memory of what is dead.

    Left alone is a dimension that counts updates: a loop around other loops that carries an array
    without any independent dimension (parameters, not environment states). Whole-array work over
    it would hold all updates' data at once and run nothing faster.
    """
    steps: list[Transform] = []
    partly: list[Vectorize] = []
    for step in Vectorize.candidates(program):
        try:
            found = apply(program, step)
        except Refused:
            continue
        if found.notes:
            partly.append(step)
        else:
            program = found.program
            steps.append(step)
    independent = {step.dim for step in steps if isinstance(step, Vectorize)}
    for step in partly:
        if _counts_updates(program, step.dim, independent):
            continue
        if check(program, step) is None:  # an axis that came since may stand in the way
            program = apply(program, step).program
            steps.append(step)
    for last in (Contract(), Donate()):
        if check(program, last) is None:
            program = apply(program, last).program
            steps.append(last)
    return steps


def _counts_updates(program: Program, dim: str, independent: set[str]) -> bool:
    assert program.schedule is not None
    if not _has_loop_inside(program.schedule, dim):
        return False
    found = dependences(program)
    return any(
        carries(found, d, dim)
        for d in found.all
        if not independent & set(program.array[d.array].dims)
    )


def _has_loop_inside(tree: Tree, dim: str) -> bool:
    """Whether a loop over `dim` has another loop inside."""
    if isinstance(tree, Leaf):
        return False
    if isinstance(tree, Block):
        return any(_has_loop_inside(child, dim) for child in tree.children)
    if tree.kind == "loop" and tree.dim == dim and _has_loop(tree.child):
        return True
    return _has_loop_inside(tree.child, dim)


def _has_loop(tree: Tree) -> bool:
    if isinstance(tree, Leaf):
        return False
    if isinstance(tree, Loop):
        return tree.kind == "loop" or _has_loop(tree.child)
    return any(_has_loop(child) for child in tree.children)
