"""Random programs as source text, line by line, and the programs that such a text defines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import workbench as wb
from workbench import nn, optim, rl
from workbench.program.values import Program

SIZE_OF = {"b": "B", "i": "I", "t": "T", "k": "K"}
"""The size of each dim that such programs have."""


def listed(dims: Iterable[str]) -> str:
    """A tuple of dims as source."""
    return f"({''.join(f'{d}, ' for d in dims)})".replace(", )", ",)")


def traced(text: str) -> Program:
    """The program `random` that a text defines."""
    names: dict[str, Any] = {"wb": wb, "nn": nn, "optim": optim, "rl": rl}
    exec(compile(text, "<random program>", "exec"), names)
    program: Program = names["random"]()
    return program


@dataclass(kw_only=True)
class Lines:
    """The lines of one program, as its dice decide them."""

    dice: Random
    dims: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def assign(self, letter: str, text: str) -> str:
        """A new variable that holds `text`."""
        self.count += 1
        name = f"{letter}{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self.dice.random() < probability

    def ordered(self, *groups: Iterable[str]) -> tuple[str, ...]:
        """The dims of all groups in the program's order."""
        found = {d for group in groups for d in group}
        return tuple(d for d in self.dims if d in found)

    def some(self, among: Sequence[str]) -> tuple[str, ...]:
        """Any of the dims, in order; all of them half of the time."""
        return tuple(d for d in among if self.happens(0.5)) if self.happens(0.5) else tuple(among)
