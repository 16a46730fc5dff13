"""What views draw of a program: one immutable, JSON-able value.

Knows the names, texts and shapes that a reader sees; knows no drawing (`dot.py`, the browser) and no isl.
Field types are limited to what `protocol.py` can say in TypeScript.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Literal

from workbench.errors import SourceLine
from workbench.polyhedral import tree
from workbench.polyhedral.instances import Access
from workbench.polyhedral.names import readable
from workbench.program.operations import OPERATIONS, shape_text
from workbench.program.text import equation
from workbench.program.values import Call, IndexValue, Literal as Constant, Program, Read, Statement, walk
from workbench.session.edges import Edge, edges, is_successor

VERSION = 1
"""Raised with every change of the fields; a view says so when it is given another version."""

Kind = Literal["operation", "contraction", "reduction", "random", "recurrence", "update"]
"""What a statement is, most telling first: `update` writes the successor of its instance, `recurrence` is a
piece of an array defined in pieces or from itself, then random draws, contractions, reductions, the rest."""


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
    """An access relation as text, such as `[b, i, t] -> state[b, i, t + 1]`."""

    array: str
    relation: str


@dataclass(frozen=True)
class LineView:
    """A line of the user's program."""

    file: str
    number: int
    text: str


@dataclass(frozen=True)
class Node:
    """A statement. `title` and `summary` are the two short lines on its box."""

    id: str
    title: str
    summary: str
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


@dataclass(frozen=True)
class Snapshot:
    """All of it."""

    version: int
    name: str
    description: str
    parameters: tuple[ParameterView, ...]
    dims: tuple[DimView, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    schedule: str
    equations: str


def snapshot(program: Program) -> Snapshot:
    """What views draw of `program`."""
    return Snapshot(
        version=VERSION,
        name=program.name,
        description=program.description,
        parameters=tuple(
            ParameterView(p.name, p.default, None if p.definition is None else str(p.definition))
            for p in program.parameters
        ),
        dims=tuple(DimView(d.name, str(d.size)) for d in program.dims),
        nodes=tuple(_node(program, s) for s in program.statements),
        edges=edges(program),
        schedule="" if program.schedule is None else tree.text(program.schedule),
        equations=str(program),
    )


def to_json(value: Snapshot) -> str:
    """The snapshot as compact JSON text."""
    return json.dumps(asdict(value), ensure_ascii=False, separators=(",", ":"))


def _node(program: Program, statement: Statement) -> Node:
    array = program.array[statement.array]
    return Node(
        id=statement.name,
        title=_title(statement),
        summary=_summary(statement, shape_text(array.shape) if array.shape else ""),
        kind=_kind(program, statement),
        array=statement.array,
        scope=statement.scope,
        equation=equation(statement),
        domain=_set(statement.domain),
        reduction=_set(statement.reduction) if statement.combiner else None,
        write=_access(statement, statement.instances.write, ()),
        reads=tuple(
            _access(statement, access, statement.reduction_dims)
            for access in statement.instances.reads
        ),
        line=_line(statement.line),
        dtype=array.dtype,
        shape=shape_text(array.shape),
        outputs=tuple(o.name for o in program.outputs if o.array == statement.array),
    )


def _set(text: str) -> str:
    """A set without the list of sizes that isl prints before it."""
    return re.sub(r"^\[[^\]]*\] -> (?=\{)", "", readable(text))


def _line(line: SourceLine | None) -> LineView | None:
    return None if line is None else LineView(line.short_file, line.number, line.text)


def _title(statement: Statement) -> str:
    if is_successor(statement):
        return f"{statement.array}[next {', '.join(statement.dims)}]"
    index = ", ".join(str(e) for e in statement.write)
    return f"{statement.array}[{index}]" if index else statement.array


def _access(statement: Statement, access: Access, reduction: tuple[str, ...]) -> AccessView:
    index = ", ".join("*" if e is None else str(e) for e in access.index)
    instance = ", ".join(statement.dims)
    if reduction:
        instance += f"; {', '.join(reduction)}"
    return AccessView(access.array, f"[{instance}] -> {access.array}[{index}]")


def _kind(program: Program, statement: Statement) -> Kind:
    called = [b.operation for b in walk(statement.body) if isinstance(b, Call)]
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
    elif isinstance(body, Call):
        what = body.operation.replace("_", " ")
    elif isinstance(body, Read):
        what = "gather" if any(e is None for e in body.access.index) else "copy"
    elif isinstance(body, IndexValue):
        what = "index"
    else:
        assert isinstance(body, Constant)
        what = "constant" if isinstance(body.value, tuple) else f"= {body.value}"
    return f"{what} {shape}".strip()
