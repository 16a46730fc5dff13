"""Why a step is legal: the way from a program and a step to the reason."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.program.dependences import dependences
from workbench.program.text.infix import equation
from workbench.program.values import Program
from workbench.transforms.reasons.drawing import drawn
from workbench.transforms.reasons.links import alone, flow_links, folded, handed
from workbench.transforms.reasons.moved import moved
from workbench.transforms.reasons.reason import Reason
from workbench.transforms.reasons.sentences import (
    of_conditions,
    of_folding,
    of_handing_on,
    of_order,
    of_places,
)
from workbench.transforms.step.transform import Transform, apply


def why(program: Program, step: Transform, sizes: Mapping[str, int]) -> Reason:
    """Return the reason why a step is legal, drawn at sizes, small ones where they are left out.

    Raises Refused where it is not legal, SizeError for sizes that the program does not take.
    """
    after = apply(program, step).program
    what = moved(program, after)
    fresh = {array for array, _ in {*after.storage.swapped} - {*program.storage.swapped}}
    needs = dependences(after.equations).all
    names = set(what.statements)
    touched = {d for d in needs if names & {d.source, d.sink} or d in what.parted}
    links = flow_links(after, touched | {d for d in needs if d.array in fresh})
    if not step.equation_step:
        links += alone(after, what.statements)
    folds, hands = folded(program, after), handed(program, after)
    conditions = tuple(step.conditions(program, after))
    clauses = [of_conditions(conditions)] if conditions else []
    if not step.equation_step and after.schedule is not program.schedule:
        clauses.append(of_order(program, after, what, links))
    clauses += [*of_folding(folds), *of_handing_on(hands)]
    clauses += of_places(program.storage, after)
    links += [link for fold in folds for link in fold.links]
    links += [link for hand in hands for link in hand.links]
    picture = drawn(after, what, links, sizes)
    return Reason(
        step=step,
        sentence="; ".join(clauses),
        dependences=tuple(link.ordered for link in links),
        sizes=picture.sizes,
        instances=picture.instances,
        drawn=picture.ordered,
        pairs=picture.pairs,
        conditions=conditions,
        before=_changed(program, after),
        after=_changed(after, program),
        program=after,
    )


def _changed(program: Program, other: Program) -> tuple[str, ...]:
    """Return the equations of a program that another has not."""
    return tuple(
        equation(s, program.equations)
        for s in program.statements
        if other.statement.get(s.name) != s
    )
