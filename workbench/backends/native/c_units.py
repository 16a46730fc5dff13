"""Units of C text: the headers they include, and the marks by which a line has its statement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MARK = re.compile(r"/\* statement: (.+?) \*/")
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
        """Return the statement of the last mark up to this line (from 1), or None."""
        marks = _MARK.findall("\n".join(self.text.split("\n")[:line]))
        return marks[-1] if marks else None


def mark(statement: str) -> str:
    """Return the comment that stands above the code of a statement."""
    return f"/* statement: {statement} */"


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
