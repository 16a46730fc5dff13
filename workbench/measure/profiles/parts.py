"""The parts of a profile: seconds of a statement in what was timed as one, and rows of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.backends.timed.peaks import Peaks
from workbench.program.values import Statement

PYTHON = "(Python between)"
"""What is in no kernel and no statement: loops of Python, the progress of a run."""
NO_SCOPE = "(no scope)"
ENVIRONMENT = "environment"
UNCERTAIN = 0.15
"""The share by which two sums differ where a split is called uncertain."""


@dataclass(frozen=True)
class Part:
    """A statement in an entry: what was timed as one. Statements of one entry share its seconds by
    counted work. `calls` are executions of the entry, `flops` and `bytes` those of all of them.
    """

    kernel: str
    entry: int
    statement: str
    scope: str
    seconds: float
    calls: int
    flops: float = 0.0
    bytes: float = 0.0


@dataclass(frozen=True)
class Division:
    """The seconds of a kernel by one thread, in the plain build and in the one that divides it."""

    plain_seconds: float
    divided_seconds: float

    @property
    def uncertain(self) -> bool:
        """Tell whether the two builds differ too much to trust the division."""
        off = abs(self.divided_seconds - self.plain_seconds)
        return off > UNCERTAIN * self.plain_seconds


@dataclass(frozen=True)
class KernelTime:
    """A compiled kernel in a run: its launches, their seconds, and how a second build divided them
    among its statements, where it has several.
    """

    name: str
    launches: int
    seconds: float
    division: Division | None = None

    @property
    def uncertain(self) -> bool:
        """Tell whether its division is uncertain."""
        return self.division is not None and self.division.uncertain


@dataclass(frozen=True)
class Row:
    """A row of a profile. `share` is of the run's seconds; `flops_share` and `bytes_share` are of
    the machine's peaks, NaN where those are not known. `approximate` ones hold seconds that were
    shared out by counted work.
    """

    name: str
    seconds: float
    share: float
    calls: int
    flops: float
    bytes: float
    flops_share: float
    bytes_share: float
    approximate: bool


def scope_of(statement: Statement) -> str:
    """Return the scope that a statement counts to: the environment, a phase of the algorithm
    (acting, learning), or else the outermost scope.
    """
    if ENVIRONMENT in statement.scope:
        return ENVIRONMENT
    return statement.phase or next(iter(statement.scope), NO_SCOPE)


KEYS: Mapping[str, Callable[[Part], str]] = {
    "scope": lambda part: part.scope,
    "kernel": lambda part: part.kernel,
    "statement": lambda part: part.statement,
}


def rows(
    parts: Sequence[Part], what: str, peaks: Peaks | None, launches: Mapping[str, int]
) -> tuple[Row, ...]:
    """Return the parts by scope, kernel or statement, the longest first. Calls of a kernel are its
    `launches`; those of others are executions of all their entries.
    """
    key = KEYS[what]
    total = sum(part.seconds for part in parts)
    groups: dict[str, list[Part]] = {}
    inside: dict[tuple[str, int], set[str]] = {}
    for part in parts:
        groups.setdefault(key(part), []).append(part)
        inside.setdefault((part.kernel, part.entry), set()).add(key(part))
    divided = {name for names in inside.values() if len(names) > 1 for name in names}
    made = [
        _row(name, group, total, peaks, name in divided, launches.get(name))
        for name, group in groups.items()
    ]
    return tuple(sorted(made, key=lambda row: -row.seconds))


def _row(
    name: str,
    group: Iterable[Part],
    total: float,
    peaks: Peaks | None,
    approximate: bool,
    launches: int | None,
) -> Row:
    group = list(group)
    seconds = math.fsum(part.seconds for part in group)
    flops, moved = (math.fsum(getattr(p, each) for p in group) for each in ("flops", "bytes"))
    entries = {(part.kernel, part.entry): part.calls for part in group}
    return Row(
        name=name,
        seconds=seconds,
        share=seconds / total if total else math.nan,
        calls=sum(entries.values()) if launches is None else launches,
        flops=flops,
        bytes=moved,
        flops_share=_of_peak(flops, seconds, peaks.flops_per_second if peaks else None),
        bytes_share=_of_peak(moved, seconds, peaks.bytes_per_second if peaks else None),
        approximate=approximate,
    )


def _of_peak(amount: float, seconds: float, peak: float | None) -> float:
    if not peak or not seconds:
        return math.nan
    return amount / seconds / peak
