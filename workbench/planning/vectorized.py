"""Where every plan begins: whole arrays over all dimensions that can be array axes."""

from __future__ import annotations

from workbench.planning.plan import Plan
from workbench.polyhedral.legality import carries
from workbench.polyhedral.tree import Leaf, Loop, Tree
from workbench.polyhedral.tree import Sequence as Block
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms import Vectorize
from workbench.transforms.refusal import Refused


def vectorized(plan: Plan) -> Plan:
    """First what is independent, then what can be of the other dimensions.

    Left alone is a dimension that counts updates: a loop around other loops that carries an array
    without any independent dimension (parameters, not environment states). Whole-array work over
    it would hold all updates' data at once and run nothing faster.
    """
    independent: set[str] = set()
    partly: list[Vectorize] = []
    for step in Vectorize.candidates(plan.program):
        found = _if_legal(plan, step, f"nothing along {step.dim} needs anything else along it")
        if found is None:
            continue
        if found.taken[-1].notes:
            partly.append(step)
        else:
            plan = found
            independent.add(step.dim)
    for step in partly:
        if _counts_updates(plan.program, step.dim, independent):
            continue
        # an axis that came since may stand in the way
        why = f"what does not need its own results along {step.dim} runs over all of it at once"
        plan = _if_legal(plan, step, why) or plan
    return plan


def _if_legal(plan: Plan, step: Vectorize, why: str) -> Plan | None:
    try:
        return plan.after(step, why)
    except Refused:
        return None


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
