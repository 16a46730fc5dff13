"""Errors a user can cause. Each repeats what the user wrote, says what was expected, and points at their line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's program: the file (or notebook cell), its number and its text."""

    file: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.text.strip()}    ({self.short_file}, line {self.number})"

    @property
    def short_file(self) -> str:
        """The file's last component; a notebook cell reads as `cell`."""
        if self.file.startswith("<ipython") or "ipykernel_" in self.file:
            return "cell"
        return self.file.replace("\\", "/").rsplit("/", 1)[-1]


class WorkbenchError(Exception):
    """Base of every error that a user's input can cause.

    `message` is one or more sentences, `line` the user's line where one is known.
    """

    def __init__(self, message: str, line: SourceLine | None = None) -> None:
        self.message = message
        self.line = line
        super().__init__(message if line is None else f"{message}\n  at: {line}")


class ProgramError(WorkbenchError):
    """The equations are not a program: undefined instance, overlap, cycle, shape or type mismatch."""


class SizeError(WorkbenchError):
    """A size is not positive, or a derived size does not divide."""


class RunError(WorkbenchError):
    """A run could not go on: not finite, out of memory, an index outside its range."""


class UnavailableError(WorkbenchError):
    """A backend or an optional package is not available; the message says why."""
