"""The time that a profile would take, tried before it is begun: what is too long is refused."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.backends.protocol import Compiled, Execution, Outputs, Progress
from workbench.errors import TooLongError
from workbench.lowering.loop_program import LoopProgram
from workbench.measure.rounds.expected import LIMIT, Expectation
from workbench.program.sizes import resolve, settable_in
from workbench.program.text.units import seconds_text
from workbench.program.values import Program

TRIAL = 1.0
"""The seconds after which a trial ends: behind the iteration of the outermost loop that lasts then.
"""
LEAST_ROUNDS, MOST_ROUNDS = 3, 15
LEAST_RUNS = 3 * LEAST_ROUNDS
"""The least number of runs: each round has one of each of three builds."""
ENOUGH = 2.0
"""The seconds of a build's runs after which no more are needed."""


ANYWAY = "force=True profiles it all the same"


@dataclass(frozen=True)
class RunRequest:
    """What is run: the sizes that are not derived, the seed, the dtype, threads, values from
    outside.
    """

    sizes: Mapping[str, int]
    seed: int
    dtype: str
    threads: int
    given: Mapping[str, Any] = field(default_factory=dict)

    def run(self, compiled: Compiled, on_progress: Progress | None = None) -> Execution:
        """Run once."""
        arguments = self.sizes, self.seed, self.dtype, on_progress
        return compiled.run(*arguments, given=self.given, threads=self.threads)


def rounds(seconds: float) -> int:
    """Return how often each build is run, where a run takes so many seconds."""
    return min(max(math.ceil(ENOUGH / max(seconds, 1e-9)), LEAST_ROUNDS), MOST_ROUNDS)


def expect_iterations(
    expectation: Expectation, sizes: Mapping[str, int], lengths: Mapping[str, Any]
) -> None:
    """Raise TooLongError where one iteration of the outermost loop, with episodes of these lengths,
    is predicted to take so long that it is not even tried.
    """
    said = expectation.at(sizes, lengths)
    known = resolve(expectation.program.equations, sizes)
    if said is not None and said.seconds / _iterations(expectation.loops, known) > LIMIT:
        raise TooLongError(
            f"not profiled, since a run is predicted to take {seconds_text(said.seconds)}", ANYWAY
        )


def tried(compiled: Compiled, program: Program, request: RunRequest, force: bool) -> float:
    """Run for a while, and return the seconds that a whole run takes. Unless told to `force` it,
    raise TooLongError where a profile would take too long.
    """
    ending = _Ending(time.perf_counter() + TRIAL)
    execution = request.run(compiled, ending)
    if execution.completed < execution.total and not ending.ended:
        raise KeyboardInterrupt
    seconds = execution.seconds * execution.total / max(execution.completed, 1)
    if force or seconds * LEAST_RUNS <= LIMIT:
        return seconds
    fewer = int(execution.total * LIMIT / 2 / (seconds * LEAST_RUNS))
    raise TooLongError(
        f"not profiled, since a run would take about {seconds_text(seconds)}, and a profile, which "
        f"is {LEAST_RUNS} runs, {seconds_text(seconds * LEAST_RUNS)} (predicted from "
        f"{execution.completed} of {execution.total} {_called(program)} in "
        f"{seconds_text(execution.seconds)})",
        f"{_advice(program, fewer)}{ANYWAY}",
    )


def _iterations(loops: LoopProgram, sizes: Mapping[str, int]) -> int:
    """Return the iterations of the outermost loop; one where nothing is counted."""
    if loops.main_loop is None:
        return 1
    low, high = (bound.evaluate(sizes) for bound in loops.main_loop.range)
    return max(high - low, 1)


class _Ending:
    """A listener that ends a run behind the first iteration after a moment."""

    def __init__(self, moment: float) -> None:
        self.moment = moment
        self.ended = False

    def __call__(self, done: int, total: int, outputs: Outputs) -> None:
        if done < total and time.perf_counter() > self.moment:
            self.ended = True
            raise KeyboardInterrupt


def _called(program: Program) -> str:
    return "updates" if program.updates else "iterations"


def _advice(program: Program, fewer: int) -> str:
    """Return which number of updates is soon profiled; "" where they are no size of their own."""
    dim = program.dim.get(program.updates)
    if dim is None or fewer < 1:
        return ""
    names = settable_in(program.equations, [dim.size])
    return f"sizes={{{min(names)!r}: {fewer}}} is soon profiled; " if len(names) == 1 else ""
