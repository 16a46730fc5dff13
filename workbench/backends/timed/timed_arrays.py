"""Programs as generated source with timers: each run tells how long its statements took."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.backends.arrays.compiled import CompiledArrays, done_at_once
from workbench.backends.timed.stamps import TimedRun
from workbench.backends.timed.timed_source import TIMERS, TimedSource, timed_source

BATCH, BATCHES = 1000, 9
"""The timers that are made in a row to know what one takes, and how often that is tried."""


@dataclass(frozen=True)
class TimedArrays(CompiledArrays):
    """A program as source with timers. Where a device works on its own, each of them waits until it
    is done.
    """

    timers: TimedSource = field(repr=False, kw_only=True)

    @cached_property
    def source(self) -> str:
        """The generated source text."""
        return self.timers.text

    def timed(
        self, sizes: Mapping[str, int] | None, seed: int, dtype: str, threads: int = 1
    ) -> TimedRun:
        """Run once."""
        count = len(self.timers.statements)
        ticks, calls, made = ([0] * count for _ in range(3))
        clock = time.perf_counter_ns if self.finish is done_at_once else self._when_done
        table = {"clock": clock, "ticks": ticks, "calls": calls, "made": made}
        ready = replace(self, functions=self.functions | table)
        cost = ready._cost(ticks) if count else 0.0
        for gathered in (ticks, calls, made):
            gathered[:] = [0] * count
        execution = ready.run(sizes, seed, dtype, threads=threads)
        return TimedRun(execution, [n * 1e-9 for n in ticks], calls, made, cost)

    def _when_done(self) -> int:
        self.finish()
        return time.perf_counter_ns()

    def _cost(self, ticks: list[int]) -> float:
        """Return the seconds of a timer."""
        only_timing = self._plain.__globals__[TIMERS]
        taken = []
        for _ in range(BATCHES):
            ticks[0] = 0
            only_timing(self.functions, BATCH)
            taken.append(ticks[0])
        return min(taken) * 1e-9 / BATCH


def timed_arrays(compiled: CompiledArrays) -> TimedArrays:
    """Return a program as source with timers."""
    return TimedArrays(
        compiled.program,
        compiled.loop_program,
        compiled.xp,
        compiled.functions,
        compiled.finish,
        compiled.around,
        timers=timed_source(compiled.loop_program),
    )
