"""A schedule tree from its text: the inverse of `tree.text`."""

from __future__ import annotations

import re

from workbench.errors import ProgramError
from workbench.polyhedral.tree import Leaf, Loop, Tree, sequence

INDENT = 4

_LOOP = re.compile(
    r"(for|axis) (\S+?)"
    r"(?: in blocks of (\d+)(, in any order(?:, at most (\d+) chunks)?)?)?( reversed)?:"
    r"(?:\s+# shifted: (.+))?"
)
_SHIFT = re.compile(r"(\S+) ([+-]\d+)")


def parse(text: str) -> Tree:
    """The tree that prints as `text`.

    Raises ProgramError with the line that is neither a loop, nor a statement, nor indented as
    the lines above it allow.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    children, position = _children(lines, 0, 0)
    if position < len(lines) or not children:
        raise _unexpected(lines, position)
    return sequence(children)


def _children(lines: list[str], position: int, depth: int) -> tuple[list[Tree], int]:
    """The nodes at `depth` from a line on, and the first line behind them."""
    found: list[Tree] = []
    while position < len(lines) and _depth(lines, position) == depth:
        content = lines[position].strip()
        loop = _LOOP.fullmatch(content)
        if loop is None:
            if content.endswith(":") or len(content.split()) != 1:
                raise _unexpected(lines, position)
            found.append(Leaf(content))
            position += 1
            continue
        below, behind = _children(lines, position + 1, depth + 1)
        if not below:
            raise _unexpected(lines, position + 1)
        kind, dim, tile, apart, chunks, backwards, shifted = loop.groups()
        offsets = tuple((name, int(shift)) for name, shift in _SHIFT.findall(shifted or ""))
        found.append(
            Loop(
                dim,
                sequence(below),
                "loop" if kind == "for" else "axis",
                backwards is not None,
                offsets,
                None if tile is None else int(tile),
                apart is not None,
                int(chunks or 1),
            )
        )
        position = behind
    return found, position


def _depth(lines: list[str], position: int) -> int:
    line = lines[position]
    spaces = len(line) - len(line.lstrip(" "))
    if spaces % INDENT:
        raise _unexpected(lines, position)
    return spaces // INDENT


def _unexpected(lines: list[str], position: int) -> ProgramError:
    if position >= len(lines):
        return ProgramError("the schedule ends where a statement or a loop was expected")
    return ProgramError(
        f"line {position + 1} of the schedule, {lines[position]!r}: expected `for DIM:`, "
        "`for DIM reversed:`, `for DIM in blocks of SIZE:`, `axis DIM:` or a statement's name, "
        f"indented by {INDENT} spaces for each loop around it"
    )
