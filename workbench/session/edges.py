"""The arrows of the dependence graph: which statement's elements another one reads, and at which index.

An arrow is there when the reader may touch an element the writer writes, judged by the index expressions;
its label is the index where that is not just the loop variables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from workbench.errors import ProgramError
from workbench.polyhedral import tree
from workbench.polyhedral.boxes import bounds
from workbench.polyhedral.expression import Choice, Expression, Size, Variable, expression, variable
from workbench.program.values import Program, Read, Statement


@dataclass(frozen=True)
class Edge:
    """`target` reads elements of `array` that `source` writes.

    `label` is the index where it is not the plain loop variables (`t + 1`, `t:T`, `i, 0, 0`), else empty.
    `carried`: a loop around both statements runs between writing and reading.
    """

    source: str
    target: str
    array: str
    label: str
    relation: str
    carried: bool


def edges(program: Program) -> tuple[Edge, ...]:
    """Every arrow of the program, by reader, in the order of its reads."""
    loops = _common_loops(program)
    found: dict[Edge, None] = {}
    for sink in program.statements:
        for read in sink.reads:
            for source in program.writers[read.array]:
                if _disjoint(program, source, read):
                    continue
                carried = any(
                    not _same_coordinate(source, read, dim) for dim in loops(source, sink)
                )
                label = _label(program, source, sink, read)
                relation = _relation(source, sink, read)
                found[Edge(source.name, sink.name, read.array, label, relation, carried)] = None
    return tuple(found)


def is_successor(statement: Statement) -> bool:
    """Whether the statement writes the lexicographic successor of its instance (an update)."""
    return any(isinstance(a, Choice) for e in statement.write for a in e.atoms())


def _common_loops(program: Program) -> Callable[[Statement, Statement], tuple[str, ...]]:
    """The loops around both of two statements; without a schedule, the dimensions they share."""
    above = {} if program.schedule is None else tree.paths(program.schedule)

    def common(source: Statement, sink: Statement) -> tuple[str, ...]:
        if source.name not in above or sink.name not in above:
            return tuple(d for d in source.dims if d in sink.dims)
        dims = []
        for one, other in zip(above[source.name], above[sink.name], strict=False):
            if one[0] is not other[0] or one[1] != other[1]:
                break
            if isinstance(one[0], tree.Loop):
                dims.append(one[0].dim)
        return tuple(dims)

    return common


def _same_coordinate(source: Statement, read: Read, dim: str) -> bool:
    """Whether an element read was surely written at the reader's own value of `dim`."""
    here = variable(dim)
    for written, index in zip(source.write, read.index, strict=True):
        if not isinstance(index, Expression) or any(isinstance(a, Choice) for a in written.atoms()):
            continue
        if written.variables == {dim} and written - here == index - here and index.variables == {dim}:
            return True
    return False


def _disjoint(program: Program, source: Statement, read: Read) -> bool:
    """Whether the written and the read index differ somewhere whatever the instances.

    Dimensions of the two sides are unrelated, so only bounds are compared: 0 <= d < size, size >= 1.
    """
    for written, index in zip(source.write, read.index, strict=True):
        if not isinstance(index, Expression):
            continue
        if _least(program, written, index) > 0 or _least(program, index, written) > 0:
            return True
    return False


def _least(program: Program, above: Expression, below: Expression) -> float:
    """A lower bound of `above - below`; minus infinity where nothing is known."""
    if any(not _top_level(e) for e in (above, below)):
        return -math.inf
    difference = above.substitute(_ends(program, above, -1)) - below.substitute(
        _ends(program, below, 1)
    )
    least = float(difference.constant)
    for a, coefficient in difference.terms:
        if not isinstance(a, Size) or coefficient < 0:
            return -math.inf
        least += coefficient
    return least


def _top_level(e: Expression) -> bool:
    """Whether dimensions occur only as terms, not inside a minimum or a division."""
    return e.variables == {a.name for a, _ in e.terms if isinstance(a, Variable)}


def _ends(program: Program, e: Expression, side: int) -> dict[str, Expression]:
    """Each dimension's least (`side` < 0) or greatest value, turned round where it is subtracted."""
    ends = {}
    for name in e.variables:
        if name in program.dim:
            low = (e.coefficient(name) > 0) == (side < 0)
            ends[name] = expression(0) if low else program.dim[name].size - 1
    return ends


def _label(program: Program, source: Statement, sink: Statement, read: Read) -> str:
    dims = program.array[read.array].dims
    shown = [_index_text(sink, index) for index in read.index]
    if shown == list(dims):
        if is_successor(source):
            return "next"
        shown = [str(e) for e in source.write]
    other = [(text, dim) for text, dim in zip(shown, dims, strict=True) if text != dim]
    if all(re.search(rf"\b{re.escape(dim)}\b", text) for text, dim in other):
        return ", ".join(text for text, _ in other)
    return ", ".join(shown)


def _index_text(sink: Statement, index: object) -> str:
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


def _relation(source: Statement, sink: Statement, read: Read) -> str:
    written = ", ".join(str(e) for e in source.write)
    index = ", ".join("*" if e is None else str(e) for e in read.access.index)
    points = ", ".join((*sink.dims, *sink.reduction_dims))
    return (
        f"{source.name}[{', '.join(source.dims)}] writes {read.array}[{written}]; "
        f"{sink.name}[{points}] reads {read.array}[{index}]"
    )
