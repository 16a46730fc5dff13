"""C names of what a program and its kernels name: like a user's, and no two the same."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workbench.codegen.kernels import KernelRecords
from workbench.names import unique

C_WORDS = """
auto break case char const continue default do double else enum extern float for goto if int long
register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while inline asm typeof
unix linux NULL
"""
"""Words of C, and of its compilers and headers."""


@dataclass
class CNames:
    """The C names in a kernel: those of the program, and its own as they come."""

    program: dict[str, str]
    taken: set[str]
    own: dict[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        """Return the C name of a name, a new one if it has none."""
        if name in self.program:
            return self.program[name]
        if name not in self.own:
            self.own[name] = unique(c_name(name), self.taken)
        return self.own[name]


def title(kernel: KernelRecords) -> str:
    """Return the name of a kernel: that of its first statement, and how many more there are."""
    first, *more = kernel.statements
    return f"{first} and {len(more)} more" if more else first


def c_name(name: str) -> str:
    """Return a C name like a user's."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"x{text}" if not text or text[0].isdigit() else text
