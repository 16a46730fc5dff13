"""A plan: ordinary steps taken one after the other, each with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from workbench.program.values import Program
from workbench.transforms import Contract, Donate
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.transform import Transform, apply


class Reasoned(NamedTuple):
    """A proposed step and its reason."""

    step: Transform
    why: str


@dataclass(frozen=True)
class PlannedStep:
    """A step taken: the program after it, what it left as it was, and its reason."""

    step: Transform
    program: Program
    notes: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Plan:
    """A sequence of steps from a program on. Plans with the same beginning share it."""

    start: Program
    taken: tuple[PlannedStep, ...] = ()

    @property
    def program(self) -> Program:
        """The program after all steps."""
        return self.taken[-1].program if self.taken else self.start

    @property
    def steps(self) -> tuple[Transform, ...]:
        """The steps alone."""
        return tuple(taken.step for taken in self.taken)

    def after(self, step: Transform, why: str) -> Plan:
        """Return the plan with one step more. Raises Refused where it is not legal."""
        rewritten = apply(self.program, step)
        return replace(
            self, taken=(*self.taken, PlannedStep(step, rewritten.program, rewritten.notes, why))
        )

    def after_all(self, steps: Sequence[Reasoned]) -> Plan | None:
        """Return the plan with all these steps; None where one is not legal."""
        plan = self
        for step, why in steps:
            try:
                plan = plan.after(step, why)
            except Refused:
                return None
        return plan

    @cached_property
    def folded(self) -> Plan:
        """The plan after folding every array to its live slices."""
        return self._if_legal(Contract(), "of every array only what is live is kept")

    @cached_property
    def stored(self) -> Plan:
        """The plan with arrays folded and the memory of dead ones donated: how a plan ends."""
        return self.folded._if_legal(Donate(), "what is dead hands on its memory")

    def because(self, why: str) -> Plan:
        """Return the plan with another reason for the last step."""
        return replace(self, taken=(*self.taken[:-1], replace(self.taken[-1], why=why)))

    def _if_legal(self, step: Transform, why: str) -> Plan:
        try:
            return self.after(step, why)
        except Refused:
            return self
