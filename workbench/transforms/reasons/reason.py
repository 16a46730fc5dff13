"""The reason why a step is legal, and how it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal, NamedTuple

from workbench.polyhedral.tree import loop_text
from workbench.program.sizes import at_sizes, numbers
from workbench.program.values import Program
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import wrapped
from workbench.transforms.step.transform import Transform

SHOWN = 12
"""The pairs that are printed; of more the rest is counted."""

TOGETHER = "equal numbers run as one array operation"


@dataclass(frozen=True)
class Orderer:
    """What brings instances into order. A "loop" runs iteration by iteration. The "sequence" runs
    its parts one after the other, in one iteration of the loops `inside`. In "memory" each block of
    a loop has a copy of its own. In one "operation" an element is read before it is written.
    """

    kind: Literal["loop", "sequence", "memory", "operation"]
    loop: str = ""
    inside: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "loop":
            return f"the loop over {loop_text(self.loop)}"
        if self.kind == "memory":
            return f"memory of its own for each of {loop_text(self.loop)}"
        if self.kind == "operation":
            return "one operation, element by element"
        inside = ", ".join(map(loop_text, self.inside))
        return f"the sequence in one iteration of {inside}" if inside else "the sequence"


@dataclass(frozen=True)
class Ordered:
    """Instances of two statements that have to come one after the other, and what orders them.

    "reads": `sink` reads elements of `array` that `source` writes. "overwrites": `sink` writes in
    the place of elements that `source` uses. `by` is outermost first; without any there is no pair.
    """

    source: str
    sink: str
    array: str
    by: tuple[Orderer, ...]
    kind: Literal["reads", "overwrites"] = "reads"

    def __str__(self) -> str:
        if not self.by:
            return f"{self.sink} reads no other of its own results: no pair"
        what = self.source if self.kind == "reads" else f"what {self.source} uses of {self.array}"
        return f"{self.sink} {self.kind} {what}: {', '.join(map(str, self.by))}"


@dataclass(frozen=True)
class Placed:
    """A statement's instances at small sizes. `order` is each one's place in the order of the
    program after the step, from 1; instances of one place run as one array operation.
    """

    statement: str
    dims: tuple[str, ...]
    points: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]


class Pair(NamedTuple):
    """Two instances that have to come one after the other, by their coordinates."""

    ordered: Ordered
    source: tuple[int, ...]
    sink: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Reason:
    """The reason why a step is legal. `sentence` says it in one line; `str` shows all.

    `dependences` are all pairs of statements that touch what the step moves or changes, each with
    what orders it. Up to four of them, the nearest first, are `drawn` at `sizes`, the smallest at
    which each has a pair of instances and what moves has two values: `instances` has those of their
    statements, `pairs` those that belong together. A step on equations has `conditions`, and the
    equations `before` and `after`. `program` is that after the step.
    """

    step: Transform
    sentence: str
    dependences: tuple[Ordered, ...]
    sizes: Mapping[str, int]
    instances: tuple[Placed, ...]
    drawn: tuple[Ordered, ...]
    pairs: tuple[Pair, ...]
    conditions: tuple[Condition, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    program: Program = field(compare=False)

    def __str__(self) -> str:
        lines = [wrapped(f"{self.step}: legal"), wrapped(self.sentence, "  ")]
        rows = [_row(placed) for placed in self.instances]
        drawn = (self._caption(), rows)
        for title, entries in (*self._lists(), drawn):
            if entries:
                lines += [f"  {title}:", *(wrapped(entry, "    ") for entry in entries)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the reason in Jupyter."""
        parts = [f"<p><code>{escape(str(self.step))}</code>: legal</p>"]
        parts.append(f"<p>{escape(self.sentence)}</p>")
        for title, entries in self._lists():
            if entries:
                items = "".join(f"<li>{escape(entry)}</li>" for entry in entries)
                parts.append(
                    f"<details><summary>{escape(title)}</summary><ul>{items}</ul></details>"
                )
        return f"<div>{''.join(parts)}{self._grid()}</div>"

    def _grid(self) -> str:
        """Return the instances as numbers, a row a statement."""
        if not self.instances:
            return ""
        rows = []
        for placed in self.instances:
            cells = (
                f'<td title="{escape(_at(placed, point))}">{place}</td>'
                for point, place in zip(placed.points, placed.order, strict=True)
            )
            rows.append(f"<tr><th>{escape(placed.statement)}</th>{''.join(cells)}</tr>")
        caption = f"<caption>{escape(self._caption())}</caption>"
        return f"<table>{caption}{''.join(rows)}</table>"

    def _caption(self) -> str:
        """Return what the numbers of instances are, and at which sizes."""
        return ", ".join(filter(None, (at_sizes(self.sizes).strip(), TOGETHER)))

    def _lists(self) -> list[tuple[str, list[str]]]:
        """Return the parts below the sentence, each under its title."""
        return [
            ("conditions", _few([str(c) for c in self.conditions])),
            ("equations before", _few(self.before)),
            ("equations after", _few(self.after)),
            ("what orders them", _few([str(d) for d in self.dependences])),
        ]


def _few(entries: Sequence[str]) -> list[str]:
    """Return the first entries, and the number of the others."""
    more = len(entries) - SHOWN
    return [*entries[:SHOWN], f"… {more} more"] if more > 0 else list(entries)


def _row(placed: Placed) -> str:
    """Print a statement's instances: `to_go: 3 (t=0), 3 (t=1)`; dims of one value are left out."""
    entries = []
    for point, place in zip(placed.points, placed.order, strict=True):
        at = _at(placed, point)
        entries.append(f"{place} ({at})" if at else str(place))
    return f"{placed.statement}: {', '.join(entries) or 'no instance'}"


def _at(placed: Placed, point: tuple[int, ...]) -> str:
    """Return the coordinates along which the statement's instances differ."""
    varying = [k for k in range(len(placed.dims)) if len({p[k] for p in placed.points}) > 1]
    return numbers({placed.dims[k]: point[k] for k in varying})
