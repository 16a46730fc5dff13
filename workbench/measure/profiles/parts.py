"""The parts of a profile: the seconds of a statement in what was timed as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

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


def launches_of(kernels: Iterable[KernelTime]) -> dict[str, int]:
    """Return the launches of kernels by name."""
    return {kernel.name: kernel.launches for kernel in kernels}


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
