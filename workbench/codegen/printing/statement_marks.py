"""Marks in C text: comments from which on lines are the code of a statement."""

from __future__ import annotations

import re
from itertools import takewhile

_MARK = re.compile(r"/\* statement: (.+?) \*/")

Marked = tuple[str, str | None]
"""A line, and the statement whose code it is, or None."""


def mark(statement: str) -> str:
    """Return the comment that stands above the code of a statement."""
    return f"/* statement: {statement} */"


def marked_lines(text: str) -> list[Marked]:
    """Return the lines of a text. One has the statement of the last mark up to it; what stands
    above the first mark of a function has none, nor has the function's end.
    """
    statement = None
    lines: list[Marked] = []
    for line in text.splitlines():
        marks = _MARK.findall(line)
        statement = marks[-1] if marks else None if line.startswith("}") else statement
        lines.append((line, statement))
    return lines


def statements_around(lines: list[Marked], place: int) -> list[str]:
    """Return the statements of the function that a line (from 0) is in; none outside of one."""
    above = list(takewhile(lambda n: not _ends(lines, n), range(place - 1, -1, -1)))
    begins = next((n for n in (place, *above) if _begins(lines, n)), None)
    if begins is None:
        return []
    inside = takewhile(lambda n: not _ends(lines, n), range(begins, len(lines)))
    return list(dict.fromkeys(s for n in inside if (s := lines[n][1]) is not None))


def _begins(lines: list[Marked], place: int) -> bool:
    line = lines[place][0]
    return not line.startswith((" ", "}")) and line.endswith("{")


def _ends(lines: list[Marked], place: int) -> bool:
    return lines[place][0].startswith("}")
