"""The program as text on every level, each line with the statement it belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TextLine:
    """A line and the statement that it comes from; null for loops and headings."""

    text: str
    statement: str | None


@dataclass(frozen=True)
class TextView:
    """A text of one level. `language`: "python" is coloured as such; `remark` says what cannot be
    shown, and why.
    """

    name: str
    language: str
    lines: tuple[TextLine, ...]
    remark: str


@dataclass(frozen=True)
class CodeView:
    """Equations, order, loop program, and the source that runs (the kernels)."""

    equations: TextView
    schedule: TextView
    loops: TextView
    kernels: tuple[TextView, ...]
