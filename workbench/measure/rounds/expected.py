"""The expected time of a run: predicted, and corrected by a run at small sizes.

A prediction knows how time grows with the sizes. A short run tells best how fast this machine is
right now, with its other load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.backends.protocol import Compiled
from workbench.datasets.rows import Rows
from workbench.errors import UnavailableError
from workbench.lowering.loop_program import LoopProgram
from workbench.measure.checking.check import ran
from workbench.measure.checking.report import Check
from workbench.measure.rounds.measurement import Predicted
from workbench.measure.runs.lengths import lengths_in
from workbench.planning.cost.counted import Counted, counted
from workbench.planning.cost.lengths import at_most, lengths_of
from workbench.planning.cost.prediction import Prediction, predict
from workbench.planning.machine.calibrated import machine
from workbench.program.sizes import numbers, resolve, settable
from workbench.program.text.units import seconds_text
from workbench.program.values import Program

LIMIT = 60.0
"""The most seconds of all runs of a variant that are measured without being asked."""

TWICE, MOST, SHORT = 2, 5, 0.02
"""Trial runs: the least number, the most, and the seconds of all below which one more follows:
anything delays a short run."""


NONE: Mapping[str, Any] = {}
"""The lengths of episodes of which nothing is known: they end after all steps."""


@dataclass(frozen=True)
class Expectation:
    """The prediction of a program's runs on a backend, on so many threads."""

    program: Program
    backend: str
    dtype: str
    threads: int

    @cached_property
    def _counted(self) -> Counted:
        return counted(self.program, self.backend)

    @property
    def loops(self) -> LoopProgram:
        """The loop program of a run."""
        return self._counted.loops

    def at(
        self, sizes: Mapping[str, int] | None, lengths: Mapping[str, Any] = NONE
    ) -> Predicted | None:
        """Predict a run at these sizes; None for a backend without known constants. `lengths` are
        those of episodes by dim, as `Variant.predict` takes them at these sizes or larger ones.
        """
        found = self.prediction(sizes, lengths)
        if found is None:
            return None
        return Predicted(found.seconds, dict(found.peak_bytes), found.note)

    def prediction(
        self, sizes: Mapping[str, int] | None, lengths: Mapping[str, Any] = NONE
    ) -> Prediction | None:
        """Predict the same, divided by statement."""
        try:
            constants = machine(self.backend)
        except UnavailableError:
            return None
        equations = self.program.equations
        known = resolve(equations, sizes)
        ended = lengths_of(at_most(lengths, equations, known), equations, known)
        return predict(self._counted, known, constants, self.dtype, self.threads, ended)


@dataclass(frozen=True)
class Trial:
    """A run at check sizes: its seconds, and their ratio to those predicted of it (`pace`)."""

    sizes: Mapping[str, int]
    seconds: float
    pace: float


def trial(expectation: Expectation, compiled: Compiled, check: Check, rows: Rows) -> Trial | None:
    """Run at the sizes of the check, on these rows; None where the sizes are not known, or nothing
    is predicted.
    """
    program = expectation.program
    sizes = settable(program.equations, check.sizes) if check.sizes else None
    if sizes is None or expectation.at(sizes) is None:
        return None
    runs: list[float] = []
    while len(runs) < TWICE or (len(runs) < MOST and sum(runs) < SHORT):
        done = ran(compiled, program, check.sizes, check.seed, check.dtype, rows)
        runs.append(done.seconds)
    said = expectation.at(sizes, lengths_in(program, done.outputs, check.sizes))
    assert said is not None, "it was before"
    taken = min(runs)
    return Trial(check.sizes, taken, taken / said.seconds)


def too_slow(said: Predicted | None, tried: Trial | None, runs: int) -> str:
    """Say why so many runs would take too long; "" where they do not."""
    if said is None or tried is None:
        return ""
    seconds = said.seconds * tried.pace
    if seconds * runs <= LIMIT:
        return ""
    return (
        f"not measured, since a run would take about {seconds_text(seconds)}, {runs} of them "
        f"{seconds_text(seconds * runs)} (predicted from one of {seconds_text(tried.seconds)} at "
        f"{numbers(tried.sizes)})"
    )
