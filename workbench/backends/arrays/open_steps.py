"""Steps of a loop in which no episode is open any more: their array operations are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.lowering.instances.guards import Guarded
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import HOST, Allocate, For, RuntimeCheck, walk
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class OpenSteps:
    """A loop's statements that are needed where `condition`, Python text, is true.

    `zeros` are those of which the result is 0 elsewhere.
    """

    condition: str
    statements: frozenset[str]
    zeros: frozenset[str]


def open_steps(
    program: LoopProgram, loop: For, show: Callable[[Expression], str]
) -> OpenSteps | None:
    """Return the statements in a loop's body that one open episode needs; None where all run.

    `show` writes an index as Python. Copies from host memory serve several statements: beside them
    none is left out.
    """
    if not program.guarded or _has_copies(program):
        return None
    conditions: dict[str, list[str]] = {}
    for record in loop.body:
        if isinstance(record, RuntimeCheck) and record.statement in program.guarded:
            guard = program.guarded[record.statement]
            at = dict(record.instance)
            if loop.variable in guard.step.substitute(at).variables:
                text = _condition(guard, at, show)
                conditions.setdefault(text, []).append(record.statement)
    if not conditions:
        return None
    condition, names = max(conditions.items(), key=lambda pair: len(pair[1]))
    zeros = frozenset(n for n in names if program.guarded[n].zero)
    return OpenSteps(condition, frozenset(names), zeros)


def _has_copies(program: LoopProgram) -> bool:
    return any(
        isinstance(record, Allocate) and record.buffer.space == HOST
        for record in walk(program.body)
    )


def _condition(guard: Guarded, at: dict[str, Expression], show: Callable[[Expression], str]) -> str:
    """Return whether some element is true at a step, whatever the dims that are axes."""
    entries = []
    for position in guard.open.order:
        e = guard.index[position]
        inside = e.variables <= at.keys()
        entries.append(show(guard.open.slot(position, e.substitute(at))) if inside else ":")
    while entries and entries[-1] == ":":
        entries.pop()
    name = guard.open.buffer.name
    return f"{name}[{', '.join(entries)}].any()" if entries else f"{name}.any()"
