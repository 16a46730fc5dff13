"""The data that views draw of a program: one immutable, JSON-able value.

Knows the names, texts and shapes that a reader sees; lays nothing out (`dot.py`, the browser) and
knows no isl. Field types are limited to those that `protocol.py` can write in TypeScript.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from workbench.errors import SourceLine
from workbench.polyhedral import tree
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, IndexValue, Read, walk
from workbench.program.bodies import Literal as Constant
from workbench.program.operations.shapes import shape_text
from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import element_text, equation
from workbench.program.values import Program, Statement
from workbench.session.picture.dot_boxes import BoxText, ScopeText, box_text, scope_texts
from workbench.session.picture.edges import Edge, edges, is_successor, set_text
from workbench.session.picture.scopes import Scope, closed_at_first
from workbench.session.picture.storing import storage_marks, storage_text

Kind = Literal[
    "operation", "contraction", "reduction", "random", "recurrence", "update", "external"
]
"""The kind of a statement, most telling first. `external` calls an object outside of the program
(an environment of Gymnasium), `update` writes the successor of its instance, `recurrence` is a
piece of an array defined in pieces or from itself; then random draws, contractions, reductions, the
rest."""


@dataclass(frozen=True)
class ParameterView:
    """A size: its default, and the expression that defines it where it is derived."""

    name: str
    default: int
    definition: str | None


@dataclass(frozen=True)
class DimView:
    """A dimension `0 <= name < size`."""

    name: str
    size: str


@dataclass(frozen=True)
class AccessView:
    """An access relation as text, such as `[b, i, t] → state[b, i, t + 1]`."""

    array: str
    relation: str


@dataclass(frozen=True)
class LineView:
    """A line of the user's program. `file` is "cell" for a notebook's cell; `place` locates the
    line: `cell 3, line 26`.
    """

    file: str
    number: int
    text: str
    place: str


@dataclass(frozen=True)
class LoopView:
    """A loop of the schedule over a dimension: `for t reversed`, `axis b`. `mark` is its form on a
    box: `t`, `←t` backwards, `t/64` over blocks of 64, `▮b/64` over such blocks that run at once,
    `[b]` as an array axis, all of it at once.
    """

    text: str
    dim: str
    mark: str


@dataclass(frozen=True)
class Node:
    """A statement: the element it writes (`title`), its operation (`summary`), the text on its
    box.
    """

    id: str
    title: str
    summary: str
    box: BoxText
    kind: Kind
    array: str
    scope: tuple[str, ...]
    equation: str
    domain: str
    reduction: str | None
    write: AccessView
    reads: tuple[AccessView, ...]
    line: LineView | None
    dtype: str
    shape: str
    outputs: tuple[str, ...]
    """Names of the program's outputs that this statement writes."""
    loops: tuple[int, ...]
    """The loops around it, outermost first: positions in `Snapshot.loops`."""
    storage: str
    """The storage of the array that it writes."""
    kept: tuple[str, ...]
    """What is kept of that array, and where, as steps left it: `2 of T + 1`, `host`."""


@dataclass(frozen=True)
class Snapshot:
    """A program as views draw it."""

    name: str
    description: str
    parameters: tuple[ParameterView, ...]
    dims: tuple[DimView, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    loops: tuple[LoopView, ...]
    """The loops of the schedule in its order."""
    schedule: str
    equations: str
    closed: tuple[tuple[str, ...], ...]
    """Scopes drawn as one box at first."""
    scopes: Mapping[str, ScopeText]
    """The text of each scope, by its name."""


def snapshot(program: Program) -> Snapshot:
    """Return the data that views draw of `program`."""
    drawn = _drawn_scopes(program)
    paths = list(drawn.values())
    loops, around = _loops(program)
    kept = storage_marks(program)
    return Snapshot(
        name=program.name,
        description=_unbroken(program.description),
        parameters=tuple(
            ParameterView(p.name, p.default, None if p.definition is None else str(p.definition))
            for p in program.parameters
        ),
        dims=tuple(DimView(d.name, str(d.size)) for d in program.dims),
        nodes=tuple(
            _node(program, s, drawn[s.name], around.get(s.name, ()), loops, kept.get(s.array, ()))
            for s in program.statements
        ),
        edges=edges(program),
        loops=loops,
        schedule=tree.text(program.schedule),
        equations=str(program),
        closed=closed_at_first(paths),
        scopes=scope_texts(paths),
    )


def _unbroken(text: str) -> str:
    """Return the text without the line breaks behind hyphens: as white space they would part a
    word.
    """
    return re.sub(r"(?<=\w-)\n\s*(?=\w)", "", text)


def _loops(program: Program) -> tuple[tuple[LoopView, ...], dict[str, tuple[int, ...]]]:
    """Return every loop of the schedule, and for each statement the positions of the loops around
    it.
    """
    positions: dict[int, int] = {}
    views: list[LoopView] = []
    around: dict[str, tuple[int, ...]] = {}
    for name, path in tree.paths(program.schedule).items():
        above = [step for step, _ in path if isinstance(step, tree.Loop)]
        for loop in above:
            if id(loop) not in positions:
                positions[id(loop)] = len(views)
                text = tree.heading(loop, "").removesuffix(":")
                views.append(LoopView(text, loop.dim, _mark(loop)))
        around[name] = tuple(positions[id(loop)] for loop in above)
    return tuple(views), around


def _mark(loop: tree.Loop) -> str:
    way = "▮" if loop.apart else "←" if loop.backwards else ""
    text = f"{way}{tree.loop_text(loop.name)}"
    return f"[{text}]" if loop.kind == "axis" else text


def _node(
    program: Program,
    statement: Statement,
    scope: Scope,
    around: tuple[int, ...],
    loops: tuple[LoopView, ...],
    kept: tuple[str, ...],
) -> Node:
    array = program.array[statement.array]
    outputs = tuple(o.name for o in program.outputs if o.array == statement.array)
    summary = _summary(statement, shape_text(array.shape) if array.shape else "")
    marks = [loops[position].mark for position in around]
    short = _short(program, statement)
    return Node(
        id=statement.name,
        title=title(statement),
        summary=summary,
        box=box_text(title(statement), summary, short, marks, bool(outputs), kept),
        kind=_kind(program, statement),
        array=statement.array,
        scope=scope,
        equation=equation(statement, program.equations),
        domain=set_text(statement.domain),
        reduction=set_text(statement.reduction) if statement.combiner else None,
        write=_access(statement, statement.array, statement.write, ()),
        reads=tuple(
            _access(statement, read.array, read.index, statement.reduction_dims)
            for read in statement.reads
        ),
        line=line_view(statement.line),
        dtype=array.dtype,
        shape=shape_text(array.shape),
        outputs=outputs,
        loops=around,
        storage=storage_text(program, statement.array),
        kept=kept,
    )


def _drawn_scopes(program: Program) -> dict[str, Scope]:
    """Return the scopes that statements are drawn in. Where arrays of a scope are named after it,
    one that the user gave another name, as `state` in an environment, stands outside: so it is seen
    although the scope is closed.
    """
    naming = {s.scope for s in program.statements if _named_after(s) == s.scope}
    return {s.name: _named_after(s) if s.scope in naming else s.scope for s in program.statements}


def _named_after(statement: Statement) -> Scope:
    """Return the scopes that a statement's array is named after, outermost first."""
    *parts, _ = statement.array.split(".")
    pairs = zip(statement.scope, parts, strict=False)
    return tuple(name for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def line_view(line: SourceLine | None) -> LineView | None:
    """Describe a line of the user's program."""
    return None if line is None else LineView(line.short_file, line.number, line.text, line.place)


def title(statement: Statement) -> str:
    """Return the written element, without the names of the scopes that are drawn around it."""
    if is_successor(statement):
        return f"{_name(statement)}[next {', '.join(statement.dims)}]"
    return element_text(_name(statement), statement.write)


def _name(statement: Statement) -> str:
    return statement.array.removeprefix(".".join(statement.scope) + ".")


def _short(program: Program, statement: Statement) -> str:
    """Return the name; of an array in several pieces also the part of the index that tells them
    apart.
    """
    pieces = program.writers[statement.array]
    if len(pieces) == 1:
        return _name(statement)
    if is_successor(statement):
        return f"{_name(statement)}[next]"
    telling = [
        e
        for position, e in enumerate(statement.write)
        if any(piece.write[position] != e for piece in pieces)
    ]
    return element_text(_name(statement), telling or statement.write)


def _access(
    statement: Statement,
    array: str,
    index: Sequence[Expression | Body],
    reduction: tuple[str, ...],
) -> AccessView:
    point = ", ".join(statement.dims) + (f"; {', '.join(reduction)}" if reduction else "")
    return AccessView(array, f"[{point}] → {element_text(array, index)}")


def _kind(program: Program, statement: Statement) -> Kind:
    called = [b.operation for b in walk(statement.body) if isinstance(b, Call)]
    if any(OPERATIONS[name].external for name in called):
        return "external"
    if is_successor(statement):
        return "update"
    if len(program.writers[statement.array]) > 1 or any(
        r.array == statement.array for r in statement.reads
    ):
        return "recurrence"
    if any(OPERATIONS[name].random for name in called):
        return "random"
    if "contract" in called:
        return "contraction"
    return "reduction" if statement.combiner else "operation"


def _summary(statement: Statement, shape: str) -> str:
    body = statement.body
    if statement.combiner:
        what = f"{statement.combiner} over {', '.join(statement.reduction_dims)}"
    elif isinstance(body, Call) and OPERATIONS[body.operation].external:
        what = f"call {body.options['name']}.{body.options['method']}"
    elif isinstance(body, Call) and OPERATIONS[body.operation].given:
        what = "data"
    elif isinstance(body, Call):
        what = body.operation.replace("_", " ")
    elif isinstance(body, Read):
        what = "gather" if any(not isinstance(e, Expression) for e in body.access.index) else "copy"
    elif isinstance(body, IndexValue):
        what = "index"
    else:
        assert isinstance(body, Constant)
        what = "constant" if isinstance(body.value, tuple) else f"= {body.value}"
    return f"{what} {shape}".strip()
