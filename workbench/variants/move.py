"""Moves: the steps that could come next on a variant, and why others could not."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.transforms.step.refusal import WIDTH, Refusal, wrapped
from workbench.transforms.step.transform import Transform


@dataclass(frozen=True, repr=False)
class Move:
    """A step that could come next. `refusal` says why it cannot; it is None where it can.

    `notes` are what a legal step would leave as it is, and why. `str` shows them whole.
    """

    step: Transform
    refusal: Refusal | None
    notes: tuple[str, ...] = ()

    @property
    def legal(self) -> bool:
        """Tell whether the step can be applied."""
        return self.refusal is None

    def __str__(self) -> str:
        if self.refusal is not None:
            reason = self.refusal.sentence.removeprefix(f"{self.step}: ")
            return f"{wrapped(f'{self.step}: refused')}\n{self.refusal.shown(reason, '  ')}"
        notes = (wrapped(note, "  ") for note in self.notes)
        return "\n".join([wrapped(f"{self.step}: legal"), *notes])

    def __repr__(self) -> str:
        if self.refusal is not None:
            return f"{self.step}: refused ({self.refusal.kind})"
        count = len(self.notes)
        noted = f", {count} note{'s' if count > 1 else ''}" if count else ""
        return f"{self.step}: legal{noted}"


class Moves(list[Move]):
    """A list of moves, shown by transform; `print(*moves, sep="\\n")` shows all of them."""

    def __repr__(self) -> str:
        legal = sum(move.legal for move in self)
        count = f"{len(self)} move{'' if len(self) == 1 else 's'}"
        lines = [f"{count}, {legal} legal; print(*moves, sep='\\n') shows all"]
        names = dict.fromkeys(type(move.step).__name__ for move in self)
        for name in sorted(names):
            own = [move for move in self if type(move.step).__name__ == name]
            for word, chosen in (
                ("legal", [m for m in own if m.legal]),
                ("refused", [m for m in own if not m.legal]),
            ):
                if chosen:
                    steps = ", ".join(str(move.step) for move in chosen)
                    line = f"  {name:<14} {len(chosen):>3} {word:<7}  {steps}"
                    lines.append(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…")
        return "\n".join(lines)

    __str__ = __repr__
