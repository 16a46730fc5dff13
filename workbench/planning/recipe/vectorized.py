"""The first plans: whole arrays over all possible dimensions, or only over independent ones."""

from __future__ import annotations

from workbench.planning.recipe.plan import Plan
from workbench.polyhedral.dependences.carrying import carries
from workbench.polyhedral.tree import Loop, Tree, has_loop, loops, statements
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms import Accumulate, Reschedule, Vectorize
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.transform import Transform, check
from workbench.transforms.trees.regions import blocks_of


def vectorized(plan: Plan) -> Plan:
    """Vectorize independent dimensions first, then the others as far as possible.

    A dimension that counts updates stays a loop: it has other loops inside and carries an array
    without any independent dimension (parameters, not environment states). Whole-array work over it
    would hold all updates' data at once and run nothing faster.
    """
    plan, partly = _independent(plan)
    for step in partly:
        # an axis that came since may stand in the way
        why = f"what does not need its own results along {step.dim} runs over all of it at once"
        plan = _if_legal(plan, step, why) or plan
    return plan


def in_order(plan: Plan) -> Plan | None:
    """Vectorize only independent dimensions. Along each other dimension sums are carried and all
    statements stand in as few loops as possible, so that each result is used soon. None where no
    other dimension could become an axis.
    """
    plan, partly = _independent(plan)
    if not partly:
        return None
    for dim in dict.fromkeys(step.dim for step in partly):
        why = f"sums over {dim} add each value when it is there"
        plan = _if_legal(plan, Accumulate(dim), why) or plan
    for block in blocks_of(plan.program.schedule):
        neighbours = [child for child in block.children if isinstance(child, Loop)]
        if len(neighbours) > 1:
            names = (next(statements(neighbours[0])), list(statements(block))[-1])
            plan = _joined(plan, Reschedule(names)) or plan
            break  # what is inside has its order with it
    return plan


def _joined(plan: Plan, step: Reschedule) -> Plan | None:
    """Return the plan with isl's order, after the steps that make that legal."""
    refusal = check(plan.program, step)
    if refusal is not None:
        for repair in refusal.repairs[:1]:
            why = "it has a place in the loops that are to be joined"
            plan = _if_legal(plan, repair, why) or plan
    return _if_legal(plan, step, "each result is used as soon as it can be")


def _independent(plan: Plan) -> tuple[Plan, list[Vectorize]]:
    """Return the plan with arrays over independent dimensions, and further steps to try."""
    independent: set[str] = set()
    partly: list[Vectorize] = []
    for step in Vectorize.candidates(plan.program):
        after = _if_legal(plan, step, f"nothing along {step.dim} needs anything else along it")
        if after is None:
            continue
        if after.taken[-1].notes:
            partly.append(step)
        else:
            plan = after
            independent.add(step.dim)
    own = [s for s in partly if not _counts_updates(plan.program, s.dim, independent)]
    return plan, own


def _if_legal(plan: Plan, step: Transform, why: str) -> Plan | None:
    try:
        return plan.after(step, why)
    except Refused:
        return None


def _counts_updates(program: Program, dim: str, independent: set[str]) -> bool:
    if not _has_loop_inside(program.schedule, dim):
        return False
    needs = dependences(program.equations)
    return any(
        carries(needs, d, dim)
        for d in needs.all
        if not independent & set(program.array[d.array].dims)
    )


def _has_loop_inside(tree: Tree, dim: str) -> bool:
    """Tell whether a loop over `dim` has another loop inside."""
    over = (loop for loop in loops(tree) if loop.kind == "loop" and loop.dim == dim)
    return any(has_loop(loop.child) for loop in over)
