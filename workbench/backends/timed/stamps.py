"""Times that a run gathered under numbers, beside what it took in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.backends.protocol import Execution

MOST_LAUNCHES = 20_000
"""The first launches of a run, of which a profile tells when they were."""


@dataclass(frozen=True)
class TimedLaunch:
    """What has a number in a run, a kernel or a statement, and when it was, in seconds from the
    run's begin.
    """

    number: int
    begin: float
    end: float


@dataclass(frozen=True)
class TimedRun:
    """A run with stamps: by number the seconds, how often what they belong to was called, and how
    many stamps were made.

    `execution.seconds` is all that it took, the stamps' own time too: `cost` is that of one. Of the
    first launches there is when they were, if that was asked for.
    """

    execution: Execution = field(repr=False)
    seconds: Sequence[float]
    calls: Sequence[int]
    made: Sequence[int]
    cost: float
    launches: tuple[TimedLaunch, ...] = field(default=(), repr=False)

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
