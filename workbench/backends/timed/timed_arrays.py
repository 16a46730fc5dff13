"""Programs as generated source with timers: each run tells how long its statements took."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.timed.stamps import MOST_LAUNCHES, Logged, TimedRun, logged
from workbench.backends.timed.timed_source import BEGINS, TIMERS, TimedSource, timed_source

BATCH, BATCHES = 20, 9
"""How often all timers are made in a row to know what one takes, and how often that is tried."""


@dataclass(frozen=True)
class TimedArrays(CompiledArrays):
    """A program as source with timers."""

    timers: TimedSource = field(repr=False, kw_only=True)

    @cached_property
    def source(self) -> str:
        """The generated source text."""
        return self.timers.text

    def timed(
        self,
        sizes: Mapping[str, int] | None,
        seed: int,
        dtype: str,
        threads: int = 1,
        given: Mapping[str, Any] | None = None,
    ) -> TimedRun:
        """Run once."""
        ticks, calls, made = ([0] * len(self.timers.statements) for _ in range(3))
        ready = self._gathering(ticks, calls, made)
        cost = ready._cost(ticks) if ticks else 0.0
        for gathered in (ticks, calls, made):
            gathered[:] = [0] * len(gathered)
        execution = ready.run(sizes, seed, dtype, given=given, threads=threads)
        return TimedRun(execution, [n * 1e-9 for n in ticks], calls, made, cost)

    def begun(
        self,
        sizes: Mapping[str, int] | None,
        seed: int,
        dtype: str,
        threads: int = 1,
        given: Mapping[str, Any] | None = None,
    ) -> tuple[Logged, ...]:
        """Begin a run, and return what it does at first, one after the other."""
        count = len(self.timers.statements)
        log = _Log([0] * count)
        telling = replace(self, timers=timed_source(self.loop_program, iterations=True))
        ready = telling._gathering(log, [0] * count, [0] * count, log.iteration)
        cost = ready._cost(log) if count else 0.0
        log.begin()
        ready.run(sizes, seed, dtype, given=given, threads=threads)
        entries, now = [], 0.0
        for number, ticks in log.entries:  # of an iteration its value
            begin, now = now, now if number < 0 else now + max(ticks * 1e-9 - cost, 0.0)
            entries.append(logged(number, begin, now, ticks))
        return tuple(entries)

    def _gathering(
        self,
        ticks: list[int],
        calls: list[int],
        made: list[int],
        begins: Callable[[int, int], None] | None = None,
    ) -> TimedArrays:
        """Return the same program with timers that gather into these lists."""
        clock = time.perf_counter_ns
        table: dict[str, Any] = {"clock": clock, "ticks": ticks, "calls": calls, "made": made}
        if begins is not None:
            table[BEGINS] = begins
        return replace(self, functions=self.functions | table)

    def _cost(self, ticks: list[int]) -> float:
        """Return the seconds of a timer."""
        only_timing = self._plain.__globals__[TIMERS]
        taken = []
        for _ in range(BATCHES):
            ticks[:] = [0] * len(ticks)
            only_timing(self.functions, BATCH)
            taken.append(sum(ticks))
        return min(taken) * 1e-9 / (BATCH * len(ticks))


class _Log(list[int]):
    """Ticks by number that remember what was added to them. A run whose first ones are known ends:
    more is not asked for.
    """

    def __init__(self, ticks: list[int]) -> None:
        super().__init__(ticks)
        self.entries: list[tuple[int, int]] = []
        self._most: float = math.inf

    def begin(self) -> None:
        """Forget all so far, and end the run behind so many launches."""
        self[:] = [0] * len(self)
        self.entries.clear()
        self._most = MOST_LAUNCHES

    def __setitem__(self, number: Any, ticks: Any) -> None:
        if isinstance(number, int):
            self._enter(number, ticks - self[number])
        super().__setitem__(number, ticks)

    def iteration(self, loop: int, value: int) -> None:
        """Remember the begin of an iteration."""
        self._enter(-1 - loop, value)

    def _enter(self, number: int, given: int) -> None:
        self.entries.append((number, given))
        if len(self.entries) >= self._most:
            raise KeyboardInterrupt


def timed_arrays(compiled: CompiledArrays) -> TimedArrays:
    """Return a program as source with timers."""
    return TimedArrays(
        compiled.program,
        compiled.loop_program,
        compiled.xp,
        compiled.functions,
        compiled.around,
        timers=timed_source(compiled.loop_program),
    )
