"""Refusals of illegal steps: a sentence, and for a dependence two concrete instances."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Literal

from workbench.errors import SourceLine, TooComplexError, WorkbenchError
from workbench.polyhedral.dependences.witness import Witness
from workbench.program.sizes import numbers

if TYPE_CHECKING:
    from workbench.program.values import Program
    from workbench.transforms.step.transform import Transform

Kind = Literal["dependence", "capability", "no effect", "cost", "input"]

TITLES: Mapping[Kind, str] = {
    "dependence": "A dependence would be violated",
    "capability": "This cannot be done",
    "no effect": "This would change nothing",
    "cost": "This would take too long to decide",
    "input": "This is no step of this program",
}
"""The headings of refusals in Jupyter."""


WIDTH = 100
"""The width of printed text in columns."""


def wrapped(text: str, indent: str = "") -> str:
    """Wrap a text to indented lines; further lines of a long one are indented by two columns more.
    Words and names stay whole.
    """
    return "\n".join(
        textwrap.fill(
            line,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.split("\n")
    )


@dataclass(frozen=True)
class Help:
    """Steps that help a refused one. After one of `repairs` it is legal, or what its refusal then
    has `instead` is; what is `instead` does itself what the refused one wanted.
    """

    repairs: tuple[Transform, ...] = ()
    instead: tuple[Transform, ...] = ()


@dataclass(frozen=True, repr=False)
class Refusal:
    """A reason why a step is not legal. `sentence` names what was expected and found, in one line;
    `str` shows all in lines of at most 100 columns. `witness` shows a dependence; `line` is the
    user's.

    `repairs` and `instead` are the steps that help (`Help`); `help` finds them when asked.
    `attempted` is the refused program in its new order or storage, which breaks at the witness,
    where the step had one to try. Where no order was found, `axes` are the statements that were
    each to be one array operation. `argument` names the argument that bad input is about.
    """

    kind: Kind
    sentence: str
    witness: Witness | None = None
    line: SourceLine | None = None
    argument: str | None = None
    attempted: Program | None = field(default=None, compare=False)
    axes: frozenset[str] = field(default=frozenset(), compare=False)
    help: Callable[[], Help] = field(default=Help, compare=False)

    @cached_property
    def _help(self) -> Help:
        try:
            return self.help()
        except TooComplexError:  # what would help is not known: the refusal stands without it
            return Help()

    @property
    def repairs(self) -> tuple[Transform, ...]:
        """Steps after which the refused one is legal."""
        return self._help.repairs

    @property
    def instead(self) -> tuple[Transform, ...]:
        """Steps that do what the refused one wanted."""
        return self._help.instead

    def __str__(self) -> str:
        return self.shown(self.sentence)

    __repr__ = __str__

    def shown(self, sentence: str, indent: str = "") -> str:
        """Print a sentence, the user's line and the steps that help, each in lines of its own."""
        lines = [wrapped(sentence, indent)]
        if self.line is not None:
            lines.append(wrapped(f"at: {self.line}", f"{indent}  "))
        for title, steps in self._helping():
            lines.append(f"{indent}  {title}:")
            lines += [wrapped(str(step), f"{indent}    ") for step in steps]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the refusal in Jupyter: the two instances of a witness, then the sentence."""
        parts = [f"<p><b>{TITLES[self.kind]}</b></p>"]
        if self.witness is not None:
            parts.append(_instances(self.witness))
        parts.append(f"<p>{escape(self.sentence)}</p>")
        if self.line is not None:
            text, place = escape(self.line.text.strip()), escape(self.line.place)
            parts.append(f"<p><code>{text}</code> <small>{place}</small></p>")
        for title, steps in self._helping():
            items = "".join(f"<li><code>{escape(str(step))}</code></li>" for step in steps)
            parts.append(f"<p>{title}</p><ul>{items}</ul>")
        return f"<div>{''.join(parts)}</div>"

    def _helping(self) -> list[tuple[str, tuple[Transform, ...]]]:
        """Return the steps that help, under titles."""
        both = [
            ("possible first (.repairs)", self.repairs),
            ("possible instead (.instead)", self.instead),
        ]
        return [(title, steps) for title, steps in both if steps]


class Refused(WorkbenchError):
    """An error: a step was applied that is not legal; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.sentence, refusal.line)

    def __str__(self) -> str:
        return str(self.refusal)

    def _repr_html_(self) -> str:
        return self.refusal._repr_html_()


def _instances(witness: Witness) -> str:
    """Return the two instances as a table; the element that they share is in its caption."""
    cells = ' style="text-align: left; white-space: nowrap"'
    rows = "".join(
        f"<tr><th{cells}>{letter}</th><td{cells}><code>{escape(text)}</code></td></tr>"
        for letter, text in zip("AB", instance_texts(witness), strict=True)
    )
    shared, sizes = escape(element_text(witness)), escape(sizes_text(witness))
    caption = f"both use <code{cells}>{shared}</code>; smallest case: {sizes}"
    return f"<table><caption{cells}>{caption}</caption>{rows}</table>"


def few(names: Sequence[str]) -> str:
    """Print names; of many the first three and a count."""
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} others"]
    return ", ".join(shown)


def instance_text(name: str, instance: Mapping[str, int]) -> str:
    """Print `gain[b=0, t=1]`, of one piece of an array `state[t+1] at b=0, t=1`."""
    inside = numbers(instance)
    if not inside:
        return name
    return f"{name} at {inside}" if name.endswith("]") else f"{name}[{inside}]"


def instance_texts(witness: Witness) -> tuple[str, str]:
    """Print the two instances, the source first."""
    source, sink = map(instance_text, witness.statements, witness.instances)
    return source, sink


def sizes_text(witness: Witness) -> str:
    """Print `at B=1, T=2`: the smallest sizes at which the witness exists."""
    return numbers(witness.sizes) or "any sizes"


def element_text(witness: Witness) -> str:
    """Print `state[0, 0, 1]`: the element that the two instances share."""
    index = ", ".join(str(value) for value in witness.element)
    return f"{witness.array}[{index}]" if index else witness.array


def dependence_text(witness: Witness) -> str:
    """Print `total[t+1] at t=1 reads total[1], which … writes (smallest case: T=2)`."""
    source, sink = instance_texts(witness)
    element, sizes = element_text(witness), sizes_text(witness)
    return f"{sink} reads {element}, which {source} writes (smallest case: {sizes})"
