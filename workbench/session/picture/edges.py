"""The arrows of the dependence graph: the statements between which elements flow, and the index.

Arrows are the exact flow dependences of `polyhedral/`; the label is the index where that is not
just the loop variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from workbench.errors import ProgramError
from workbench.polyhedral import tree
from workbench.polyhedral.accesses import Access, AccessEntry
from workbench.polyhedral.dependences.flow import flow
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.expressions.atoms import Choice
from workbench.polyhedral.sets.boxes import bounds
from workbench.polyhedral.sets.isl_names import readable
from workbench.program.values import Program, Statement
from workbench.session.picture.dot_boxes import shortened


@dataclass(frozen=True)
class Edge:
    """`target` reads elements of `array` that `source` writes.

    `label` is the index where it is not the plain loop variables (`t + 1`, `t:T`, `i, 0, 0`), else
    empty; `mark` is as much of it as stands on an arrow. `carried`: a loop around both statements
    runs between writing and reading.
    """

    source: str
    target: str
    array: str
    label: str
    mark: str
    relation: str
    carried: bool


def edges(program: Program) -> tuple[Edge, ...]:
    """Return every arrow of the program, by reader, in the order of its reads."""
    extents = {a.name: a.extent for a in program.arrays}
    dependences = flow([s.instances for s in program.statements], extents)
    loops = _common_loops(program)
    arrows: dict[Edge, None] = {}
    for d in dependences.all:
        source, sink = program.statement[d.source], program.statement[d.sink]
        read = sink.instances.reads[d.access]
        carried = not _same_instance(source, read) and any(
            not _same_coordinate(source, read, dim) for dim in loops(source, sink)
        )
        label = _label(program, source, sink, read)
        relation = set_text(str(dependences.relation(d).remove_redundancies()))
        arrows[Edge(d.source, d.sink, d.array, label, shortened(label, 18), relation, carried)] = (
            None
        )
    return tuple(arrows)


def is_successor(statement: Statement) -> bool:
    """Tell whether the statement writes the lexicographic successor of its instance (an update)."""
    return any(isinstance(a, Choice) for e in statement.write for a in e.atoms())


def _common_loops(program: Program) -> Callable[[Statement, Statement], tuple[str, ...]]:
    """Return a function of the loops around both of two statements."""
    above = tree.paths(program.schedule)

    def common(source: Statement, sink: Statement) -> tuple[str, ...]:
        dims = []
        for one, other in zip(above[source.name], above[sink.name], strict=False):
            if one[0] is not other[0] or one[1] != other[1]:
                break
            if isinstance(one[0], tree.Loop):
                dims.append(one[0].name)
        return tuple(dims)

    return common


def _same_instance(source: Statement, read: Access) -> bool:
    """Tell whether an element read was written by the instance at the reader's own coordinates, as
    a write is injective.
    """
    return source.write == read.index


def _same_coordinate(source: Statement, read: Access, dim: str) -> bool:
    """Tell whether an element read was surely written at the reader's own value of `dim`."""
    here = variable(dim)
    for written, index in zip(source.write, read.index, strict=True):
        if not isinstance(index, Expression) or any(isinstance(a, Choice) for a in written.atoms()):
            continue
        if (
            written.variables == {dim}
            and written - here == index - here
            and index.variables == {dim}
        ):
            return True
    return False


def _label(program: Program, source: Statement, sink: Statement, read: Access) -> str:
    dims = program.array[read.array].dims
    shown = [_index_text(sink, index) for index in read.index]
    if shown == list(dims):
        if is_successor(source):
            return "next"
        shown = [str(e) for e in source.write]
    if is_successor(source) and source.write == read.index:
        return "next"
    other = [(text, dim) for text, dim in zip(shown, dims, strict=True) if text != dim]
    if all(re.search(rf"\b{re.escape(dim)}\b", text) for text, dim in other):
        return ", ".join(text for text, _ in other)
    return ", ".join(shown) if len(other) > 1 else f"{other[0][1]}={other[0][0]}"


def _index_text(sink: Statement, index: AccessEntry) -> str:
    if not isinstance(index, Expression):
        return "gather"
    ranged = [d for d in sink.reduction_dims if index == variable(d)]
    if not ranged:
        return str(index)
    try:
        ((lower, upper),) = bounds(sink.reduction, ranged)
    except ProgramError:
        return str(index)
    return f"{lower}:{upper}"


def set_text(text: str) -> str:
    """Return a set or relation in the user's names, without isl's list of sizes before it."""
    return re.sub(r"^\[[^\]]*\] -> (?=\{)", "", readable(text))
