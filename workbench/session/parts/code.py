"""The program as text at every level, each line with its statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from workbench.backends import backends, unknown
from workbench.backends.arrays.source import SourceText, source_lines
from workbench.lowering import text as loops
from workbench.polyhedral import tree
from workbench.program.text import listing
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class SpanView:
    """Consecutive lines of a statement, from `first` to `last` (from 0, both included)."""

    statement: str
    first: int
    last: int


@dataclass(frozen=True)
class TextView:
    """The text of one level. `language`: "python" is coloured as such; so is text that reads like
    it. Lines in no span are loops, headings and the results returned at the end. `start` is the
    line where reading starts: the first statement, after the preparations. `remark` says what the
    reader must know, "" for nothing.
    """

    name: str
    language: str
    text: str
    spans: tuple[SpanView, ...]
    start: int
    remark: str


@dataclass(frozen=True)
class CodeView:
    """Equations, order, loop program, and the source that runs (the kernels)."""

    equations: TextView
    schedule: TextView
    loops: TextView
    kernels: tuple[TextView, ...]


class Owned(NamedTuple):
    """A line and its statement."""

    text: str
    statement: str | None


def code(variant: Variant, arguments: Mapping[str, Any]) -> CodeView:
    """Return the texts of a variant, the last that of `arguments["backend"]`.

    Raises UnavailableError for an unknown backend.
    """
    program = variant.program
    lowered = variant.loop_program
    return CodeView(
        equations=_view("Equations", "", listing.lines(program.equations, program.storage.added)),
        schedule=_view("Order", "python", tree.lines(program.schedule)),
        loops=_begun("Loops", loops.lines(lowered.body)),
        kernels=(_begun("Source", source_lines(lowered), _remark(str(arguments["backend"]))),),
    )


def _remark(backend: str) -> str:
    """Return the remark on array backends: they run the same source over their own module `xp`."""
    known = backends()
    if backend not in known:
        raise unknown(backend)
    reason = known[backend]
    return "" if reason is None else f"This is what {backend} would run: {reason}."


def _begun(name: str, lines: Iterable[loops.Line | SourceText], remark: str = "") -> TextView:
    """Return the lines of generated code as a text."""
    listed = list(lines)
    start = next((number for number, line in enumerate(listed) if line.begins), 0)
    return _view(name, "python", ((line.text, line.statement) for line in listed), start, remark)


def _view(
    name: str,
    language: str,
    lines: Iterable[tuple[str, str | None]],
    start: int = 0,
    remark: str = "",
) -> TextView:
    """Return the lines as a text with the spans of each statement."""
    owned = [
        Owned(line, statement) for text, statement in lines for line in text.splitlines() or [""]
    ]
    spans = []
    for statement, run in groupby(enumerate(owned), key=lambda numbered: numbered[1].statement):
        places = [place for place, _ in run]
        if statement is not None:
            spans.append(SpanView(statement, places[0], places[-1]))
    return TextView(
        name, language, "\n".join(line.text for line in owned), tuple(spans), start, remark
    )
