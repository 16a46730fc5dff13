"""Rounds of a compiled program: its environment steps per second once it runs, of the CPU or, with
threads, by the clock.

An update is an iteration of the outermost loop. The first of a run is left out: it pays for
parameters and new memory. Where nothing is learned there are no updates, but longer runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from workbench.backends.protocol import Compiled, Execution

LEAST_UPDATES = 2
"""A round has at least so many besides its first."""


class Rounds:
    """A program with updates at some sizes, run again and again for about as long as asked. Seconds
    are those of the CPU, where a number of threads is given by the clock.
    """

    def __init__(
        self, compiled: Compiled, sizes: Mapping[str, int], threads: int | None = None
    ) -> None:
        self.compiled, self.sizes, self.threads = compiled, dict(sizes), threads or 1
        self.now = time.process_time if threads is None else time.perf_counter
        compiled.prepare()
        self.last: Execution
        self.each = self._seconds(LEAST_UPDATES)

    @property
    def steps(self) -> int:
        """Return the environment steps of an update."""
        return self.sizes["B"] * self.sizes["T"]

    def update_seconds(self, seconds: float) -> float:
        """Run for about that long; return the seconds of an update."""
        return self._seconds(self._updates(seconds))

    def steps_and_seconds(self, seconds: float) -> tuple[int, float]:
        """Run for about that long; return environment steps, and the seconds that they took."""
        updates = self._updates(seconds)
        return updates * self.steps, updates * self._seconds(updates)

    def steps_per_second(self, seconds: float) -> float:
        """Run for about that long; return environment steps per second."""
        return self.steps / self.update_seconds(seconds)

    def _updates(self, seconds: float) -> int:
        return max(LEAST_UPDATES, math.ceil(seconds / self.each))

    def _seconds(self, updates: int) -> float:
        ends: list[float] = []

        def note(done: int, total: int, outputs: Mapping[str, Any]) -> None:
            ends.append(self.now())

        sizes = {**self.sizes, "I": updates + 1}
        self.last = self.compiled.run(sizes, on_progress=note, threads=self.threads)
        return (ends[-1] - ends[0]) / updates


def rollout_steps_per_second(compiled: Compiled, sizes: Mapping[str, int], seconds: float) -> float:
    """Return environment steps per CPU second of a program that learns nothing, all of whose run is
    one kernel: of what a run of twice the length takes beyond another, which lasts about `seconds`.
    """
    compiled.prepare()
    each = _run_seconds(compiled, sizes, 2) / 2
    count = math.ceil(seconds / each)
    short = _run_seconds(compiled, sizes, count)
    more = _run_seconds(compiled, sizes, 2 * count) - short
    return count * sizes["B"] * sizes["T"] / more


def _run_seconds(compiled: Compiled, sizes: Mapping[str, int], count: int) -> float:
    start = time.process_time()
    compiled.run({**sizes, "I": count})
    return time.process_time() - start
