"""The author of a random program, and the text that it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from tests.soundness.lines import SIZE_OF, Lines, listed

LENGTHS = {"B": (1, 2, 3, 5, 9), "I": (1, 2, 3), "T": (1, 2, 3, 5, 9), "K": (1, 2, 4)}


@dataclass(frozen=True)
class Source:
    """A program in the language: its dims, its lines, the names it returns, those of its draws."""

    dims: tuple[str, ...]
    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    draws: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole text."""
        sizes = ", ".join(f"{SIZE_OF[d]}: int = 3" for d in self.dims)
        ranges = ", ".join(f"{d}={SIZE_OF[d]}" for d in self.dims)
        names = ", ".join(f'"{name}": {name}' for name in dict.fromkeys(self.outputs))
        lines = [
            f"{listed(self.dims)[1:-1]} = wb.dims({ranges})",
            *self.lines,
            f"return {{{names}}}",
        ]
        body = "\n    ".join(lines)
        return f"@wb.program\ndef random({sizes}):\n    {body}\n"

    def sizes(self, dice: Random) -> Mapping[str, int]:
        """Sizes to try it at."""
        return {SIZE_OF[d]: dice.choice(LENGTHS[SIZE_OF[d]]) for d in self.dims}


@dataclass(frozen=True)
class Along:
    """An array of a program in the text of its readers: `{x}` is read in place, `{x:t + 1}` at
    another place along one of its dims.
    """

    name: str
    over: tuple[str, ...]
    dim: str

    def __format__(self, place: str) -> str:
        """The text of a read."""
        if not place:
            return self.name
        return f"{self.name}[{', '.join(place if d == self.dim else d for d in self.over)}]"


@dataclass(kw_only=True)
class Author(Lines):
    """Writes one program, as its dice decide."""

    outputs: list[str] = field(default_factory=list)
    draws: list[str] = field(default_factory=list)

    def output(self, letter: str, text: str) -> str:
        """A new variable that is returned."""
        self.outputs.append(self.assign(letter, text))
        return self.outputs[-1]

    def draw(self, over: Iterable[str], shape: tuple[int, ...] = ()) -> str:
        """A new draw."""
        self.draws.append(self.assign("u", f"wb.uniform(shape={shape}, over={listed(over)})"))
        return self.draws[-1]

    def position(self, over: Iterable[str], low: str, high: str) -> str:
        """A new draw of an integer from `low` to below `high`."""
        length = f"wb.cast(wb.index({high}) - wb.index({low}), float)"
        drawn = self.draw(over)
        return self.assign("j", f"wb.index({low}) + wb.cast({drawn} * {length}, int)")

    def recurrent(self, name: str, over: tuple[str, ...], dim: str, rest: str = "()") -> Along:
        """A new recurrent tensor; `rest` is its shape and whatever else it is made with."""
        self.lines.append(f'{name} = wb.recurrent("{name}", {rest}, over={listed(over)})')
        return Along(name, over, dim)

    def source(self) -> Source:
        """The program as it is written by now."""
        return Source(self.dims, tuple(self.lines), tuple(self.outputs), tuple(self.draws))
