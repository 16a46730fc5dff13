"""Times that a run gathered under numbers, beside what it took in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.backends.protocol import Execution

MOST_LAUNCHES = 20_000
"""The first launches and iterations of a run, of which a profile tells when they were."""


@dataclass(frozen=True)
class TimedLaunch:
    """What has a number in a run, a kernel or a statement, and when it was, in seconds from the
    run's begin.
    """

    number: int
    begin: float
    end: float


@dataclass(frozen=True)
class TimedIteration:
    """An iteration of a loop by the loop's number, with its value and when it began. Loops have
    numbers of their own, in text order.
    """

    loop: int
    value: int
    begin: float


Logged = TimedLaunch | TimedIteration


def logged(number: int, begin: float, end: float, value: int) -> Logged:
    """Return an entry of a log in which iterations have numbers below zero."""
    if number < 0:
        return TimedIteration(-1 - number, value, begin)
    return TimedLaunch(number, begin, end)


@dataclass(frozen=True)
class TimedRun:
    """A run with stamps: by number the seconds, how often what they belong to was called, and how
    many stamps were made.

    `execution.seconds` is all that it took, the stamps' own time too: `cost` is that of one. Of the
    first launches, and the iterations around them, the `log` tells when they were, if that was
    asked for.
    """

    execution: Execution = field(repr=False)
    seconds: Sequence[float]
    calls: Sequence[int]
    made: Sequence[int]
    cost: float
    log: tuple[Logged, ...] = field(default=(), repr=False)

    @property
    def net(self) -> list[float]:
        """The seconds without the stamps' own, by number."""
        pairs = zip(self.seconds, self.made, strict=True)
        return [max(seconds - made * self.cost, 0.0) for seconds, made in pairs]

    @property
    def total(self) -> float:
        """The seconds of the run without those of the stamps."""
        return self.execution.seconds - sum(self.made) * self.cost

    @property
    def between(self) -> float:
        """The seconds that no number has."""
        return max(self.execution.seconds - sum(self.seconds), 0.0)
