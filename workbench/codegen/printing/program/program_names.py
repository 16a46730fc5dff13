"""The names of a program's sizes, loop variables and buffers in its C text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench.codegen.kernels import ProgramKernels
from workbench.codegen.printing.c_expressions import expression_text
from workbench.codegen.printing.c_names import C_WORDS, c_name
from workbench.codegen.printing.program.equal_kernels import COMMENT, PLACES
from workbench.codegen.printing.program.stamping import NAMES
from workbench.codegen.printing.value_text import KINDS, STORED
from workbench.codegen.runtime import HEADERS, header
from workbench.lowering.loops.records import For, walk
from workbench.names import unique
from workbench.polyhedral.expression import Expression

WORD = re.compile(r"[A-Za-z_]\w*")
_USED = f"""
{C_WORDS}
run scratch lanes active lane r at step part_of_group begin iteration end ended main
outer first_block behind_blocks lasting some_open memset {PLACES}
"""
"""Words of C, and names that the text uses itself."""


def _words_of(text: str) -> list[str]:
    """Return the words of a C text, without its comments."""
    return WORD.findall(COMMENT.sub(" ", text))


def slots(made: ProgramKernels) -> dict[str, int]:
    """Return the number of each buffer."""
    return {name: n for n, name in enumerate(made.buffers)}


@dataclass
class ProgramNames:
    """The names of things in a program's text; `real` is the kind of its floats. Where it is
    `stamped`, the names of the stamps are taken too.
    """

    made: ProgramKernels
    real: str
    stamped: bool
    taken: set[str] = field(init=False)
    """The words that no other thing may be called."""
    names: dict[str, str] = field(init=False)
    """The name in C of each size, variable and buffer."""

    def __post_init__(self) -> None:
        """Name all that several functions speak of."""
        self.taken = {
            *_USED.split(),
            *(NAMES if self.stamped else ()),
            *(w for name in HEADERS for w in _words_of(header(name)) if len(w) > 1),
        }
        self.names = {}
        for parameter in self.made.program.parameters:
            self.add(parameter.name)
        for record in walk(self.made.loops.body):
            if isinstance(record, For):
                self.add(record.variable)
        for name in self.made.buffers:
            self.add(name)

    @cached_property
    def slots(self) -> dict[str, int]:
        """The number of each buffer."""
        return slots(self.made)

    def add(self, name: str) -> None:
        """Give something a name, if it has none."""
        if name not in self.names:
            self.names[name] = unique(c_name(name), self.taken)

    def of(self, name: str) -> str:
        """Return what something is called."""
        return self.names[name]

    def show(self, e: Expression) -> str:
        """Return an expression as C."""
        return expression_text(e, self.of)

    def kind(self, dtype: str) -> str:
        """Return the kind of a dtype's values."""
        return KINDS.get(dtype, self.real)

    def stored(self, dtype: str) -> str:
        """Return the C type of a dtype's values in memory."""
        return STORED[self.kind(dtype)]

    def sizes_in(self, lines: Sequence[str]) -> Iterator[str]:
        """Yield the lines that find the sizes of which some lines speak."""
        words = {word for line in lines for word in WORD.findall(line)}
        for k, parameter in enumerate(self.made.program.parameters):
            name = self.names[parameter.name]
            if name in words:
                yield f"    const int64_t {name} = run->sizes[{k}];"
