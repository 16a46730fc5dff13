"""Units of C text: the headers they include, and the statements of their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.codegen.printing.statement_marks import marked_lines, statements_around

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Unit:
    """A C text that is compiled on its own. `name` is its file's name without `.c`."""

    name: str
    text: str

    @property
    def file(self) -> str:
        """The name of its source file."""
        return f"{self.name}.c"

    @property
    def object(self) -> str:
        """The name of its object file."""
        return f"{self.name}.o"

    def statement_at(self, line: int) -> str | None:
        """Return the statement whose code a line (from 1) is. A line of no statement, as where a
        function declares its arrays, has that of its function if that is a single one.
        """
        lines = marked_lines(self.text)
        place = min(line, len(lines)) - 1
        if place < 0:
            return None
        around = statements_around(lines, place)
        return lines[place][1] or (around[0] if len(around) == 1 else None)

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements whose code it has, in order."""
        marked = (statement for _, statement in marked_lines(self.text) if statement is not None)
        return tuple(dict.fromkeys(marked))


def included(text: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that a text includes, directly or through others, by name."""
    needed: dict[str, str] = {}
    names = _INCLUDE.findall(text)
    while names:
        name = names.pop()
        if name in headers and name not in needed:
            needed[name] = headers[name]
            names += _INCLUDE.findall(headers[name])
    return dict(sorted(needed.items()))
