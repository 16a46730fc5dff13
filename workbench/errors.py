"""Errors a user can cause: what the user wrote, what was expected, and the line it stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


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
    """The equations are not a program: undefined instance, overlap, cycle, shape or type."""


class SizeError(WorkbenchError):
    """A size is not positive, or a derived size does not divide."""


class RunError(WorkbenchError):
    """A run could not go on: not finite, out of memory, an index outside its range."""


class UnavailableError(WorkbenchError):
    """A backend or an optional package is not available; the message says why."""


def nearest(name: str, known: Iterable[str], kind: str = "names") -> str:
    """What to offer for an unknown name: "did you mean T? (sizes: B, T)"."""
    listed = list(known)
    if not listed:
        return f"there are no {kind}"
    folded = {n.casefold(): n for n in listed}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    offered = f"did you mean {folded[close[0]]}? " if close else ""
    shown = listed if len(listed) <= 12 else [*listed[:11], "…"]
    return f"{offered}({kind}: {', '.join(shown)})"
