"""The automatic recipe: an ordinary list of steps, each visible and undoable, found by search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.errors import WorkbenchError, nearest
from workbench.planning.judging import Judge, Judged
from workbench.planning.machine import Machine
from workbench.planning.plan import Plan
from workbench.planning.prediction import amount
from workbench.planning.search import Search
from workbench.planning.strategies import lifted, nearer, smaller
from workbench.planning.vectorized import vectorized
from workbench.program.values import Program

Objective = Literal["time", "memory"]

SLOWER = 2.0
"""How many times as long as the fastest a run may take that holds less."""

OTHERS = 0.25
"""How much a byte that is held somewhere counts beside one of the peak."""

MOST = 2500
"""How many ideas are tried of a kind, times the statements of the program."""


@dataclass(frozen=True)
class Aim:
    """What is wanted: least time or least memory of the device, at most `capacity` bytes of it, for
    runs at these sizes.
    """

    objective: Objective
    capacity: int | None
    sizes: Mapping[str, int]
    machine: Machine
    dtype: str


def expect_aim(objective: object, capacity: object) -> None:
    """Refuse what is no objective and no number of bytes."""
    known = get_args(Objective)
    if objective not in known:
        hint = nearest(str(objective), known, "objectives")
        raise WorkbenchError(f"unknown objective {objective!r}: {hint}")
    number = isinstance(capacity, int) and not isinstance(capacity, bool)
    if capacity is not None and not (number and capacity > 0):  # type: ignore[operator]
        raise WorkbenchError(f"capacity {capacity!r}; expected a positive number of bytes")


def planned(program: Program, aim: Aim) -> Plan:
    """The steps that serve the aim best, of those that are tried.

    Raises WorkbenchError where nothing that is found fits under the capacity.
    """
    judge = Judge(aim.machine, aim.sizes, aim.dtype)
    limit = MOST // len(program.statements) + 1
    now = judge.of(vectorized(Plan(program)))
    now = Search(judge, lifted, _seconds, limit, best=True).improved(now)
    now = Search(judge, nearer, _seconds, limit, best=True).improved(now)

    def fits(judged: Judged) -> bool:
        return aim.capacity is None or judge.exactly(judged.plan.stored()).peak <= aim.capacity

    if aim.objective == "time" and fits(now):
        return now.plan.stored()
    longest = SLOWER * now.seconds if aim.capacity is None else math.inf
    now = Search(
        judge,
        smaller,
        _held,
        limit,
        allowed=lambda judged: judged.seconds <= longest,
        enough=lambda judged: aim.objective == "time" and fits(judged),
    ).improved(now)
    if not fits(now):
        least = judge.exactly(now.plan.stored())
        raise WorkbenchError(
            f"{program.name} does not fit into {amount(aim.capacity or 0, 'B')}: the least that "
            f"was found is {amount(least.peak, 'B')} on the device"
        )
    return now.plan.stored()


def _seconds(judged: Judged) -> float:
    return judged.seconds


def _held(judged: Judged) -> float:
    """The peak, and a little of what is held elsewhere: of two peaks one must be lowered first."""
    return judged.peak + OTHERS * sum(judged.stored.values())
