"""Sums that blocks in any order would add to at once."""

from __future__ import annotations

from workbench.identity import remembered
from workbench.polyhedral.dependences.adding import Meeting, first_meeting
from workbench.polyhedral.tree import Tree, loops, paths
from workbench.program.accumulating import Adding, derived
from workbench.program.values import Equations, Program
from workbench.transforms.step.refusal import (
    Refusal,
    element_text,
    instance_texts,
    sizes_text,
)


def added_at_once(program: Program, step: str) -> Refusal | None:
    """Refuse an order in which two blocks that may run at once add to one element.

    Blocks that are dealt to chunks have a partial result for each (`chunks.py`).
    """
    seen = derived(program)
    if seen is program or not _has_apart(program.schedule):
        return None
    found = _first_meeting(seen.equations, seen.schedule)
    if found is None:
        return None
    loop, witness = found
    first, second = instance_texts(witness)
    sentence = (
        f"{step}: {first} and {second} add to {element_text(witness)}, but the loop over blocks of "
        f"{loop.tile} values of {loop.dim} runs in any order, and no chunks keep their sums apart "
        f"(smallest case: {sizes_text(witness)})"
    )
    line = program.statement[witness.statements[0]].line
    return Refusal("dependence", sentence, witness, line, attempted=program)


@remembered(64)
def _has_apart(schedule: Tree) -> bool:
    return any(loop.apart for loop in loops(schedule))


@remembered(64, same=2)
def _first_meeting(equations: Equations, schedule: Tree) -> Meeting | None:
    around = paths(schedule)
    for s in equations.statements:
        if isinstance(s, Adding):
            dealt = None if s.chunks is None else s.chunks.loop
            found = first_meeting(s.instances, around[s.name], dealt)
            if found is not None:
                return found
    return None
