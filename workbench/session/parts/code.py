"""The program as text at every level, down to each kernel; each line has its statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from workbench.backends import backends, unknown
from workbench.backends.arrays.source import SourceText, source_lines
from workbench.errors import WorkbenchError, nearest
from workbench.lowering import text as loops
from workbench.polyhedral import tree
from workbench.program.text import listing
from workbench.variants.variant import Variant

LANGUAGES = {"native": "C", "cuda": "CUDA"}
"""The languages of kernels, by the backend that compiles them."""


@dataclass(frozen=True)
class SpanView:
    """Consecutive lines of a statement, from `first` to `last` (from 0, both included)."""

    statement: str
    first: int
    last: int


@dataclass(frozen=True)
class TextView:
    """The text of one level. `language`: "c", "python", also of what reads like it, or "" for text
    that is not coloured. Lines in no span are loops, headings and the results returned at the end.
    `start` is the line where reading starts: the first statement, after the preparations. `remark`
    says what the reader must know, "" for nothing.
    """

    name: str
    language: str
    text: str
    spans: tuple[SpanView, ...]
    start: int
    remark: str


@dataclass(frozen=True)
class CodeView:
    """Equations, order, the loop program from which a backend launches its operations, and the
    source that runs on array backends.
    """

    equations: TextView
    schedule: TextView
    loops: TextView
    source: TextView


@dataclass(frozen=True)
class KernelView:
    """A compiled kernel without its text, which has `lines` lines. Amounts are formulas in sizes:
    `tile_bytes` are the bytes of a block's own arrays and scratch memory, `flops` the operations of
    arithmetic of a launch, `bytes` those that it loads and stores.
    """

    name: str
    statements: tuple[str, ...]
    lines: int
    loads: tuple[str, ...]
    stores: tuple[str, ...]
    private: tuple[str, ...]
    tile_bytes: str
    flops: str
    bytes: str


@dataclass(frozen=True)
class KernelsView:
    """Compiled kernels in the order of their text. `remark` is that of a text."""

    kernels: tuple[KernelView, ...]
    remark: str


class Owned(NamedTuple):
    """A line and its statement."""

    text: str
    statement: str | None


def code(variant: Variant, arguments: Mapping[str, Any]) -> CodeView:
    """Return the texts of a variant, loops and source those of `arguments["backend"]`.

    Raises UnavailableError for an unknown backend.
    """
    program, backend = variant.program, arguments["backend"]
    if backend not in backends():
        raise unknown(backend)
    return CodeView(
        equations=_view("Equations", "", listing.lines(program.equations, program.storage.added)),
        schedule=_view("Order", "python", tree.lines(program.schedule)),
        loops=_begun("Loops", loops.lines(variant.loops_on(backend).body)),
        source=_begun("Python", source_lines(variant.loop_program), _remark_on_source(backend)),
    )


def kernels(variant: Variant, arguments: Mapping[str, Any]) -> KernelsView:
    """Return the compiled kernels of a variant on `backend` in `dtype`.

    Raises WorkbenchError for a backend that compiles none and an unknown dtype, ProgramError for a
    statement that it cannot compile.
    """
    compiled = variant.kernels(arguments["backend"], arguments["dtype"])
    return KernelsView(
        tuple(
            KernelView(
                name=kernel.name,
                statements=kernel.statements,
                lines=len(kernel.lines),
                loads=kernel.loads,
                stores=kernel.stores,
                private=kernel.private,
                tile_bytes=str(kernel.tile_bytes),
                flops=str(kernel.flops),
                bytes=str(kernel.bytes),
            )
            for kernel in compiled
        ),
        _remark(arguments["backend"]),
    )


def kernel(variant: Variant, arguments: Mapping[str, Any]) -> TextView:
    """Return the text of the kernel `name`, as `kernels` has it.

    Raises WorkbenchError where there is none of this name.
    """
    name = arguments["name"]
    compiled = {k.name: k for k in variant.kernels(arguments["backend"], arguments["dtype"])}
    if name not in compiled:
        raise WorkbenchError(f"unknown kernel {name!r}: {nearest(name, compiled, 'kernels')}")
    lines = compiled[name].lines
    start = next((n for n, (_, statement) in enumerate(lines) if statement is not None), 0)
    return _view(name, "c", lines, start)


def _remark_on_source(backend: str) -> str:
    """Return the remark on the source that array backends run."""
    if backend in LANGUAGES:
        return f"{backend} does not run this, but the kernels under {LANGUAGES[backend]}."
    return _remark(backend)


def _remark(backend: str) -> str:
    """Return the remark on a backend that is not available here."""
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
