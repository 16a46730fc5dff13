"""A whole program as a page: sizes, dimensions, equations by scope, results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from workbench.program.operations.shapes import shape_text
from workbench.program.text.infix import element_text, right_side
from workbench.program.text.ranges import domain_text
from workbench.program.values import Array, Equations, Statement

Scope = tuple[str, ...]


def listing(equations: Equations, added: Collection[str] = ()) -> str:
    """Return the equations in textual order, one line each, under the program's name and sizes.

    Points that are `added` up, and never stored, say so.
    """
    return "\n".join(line for line, _ in lines(equations, added))


def lines(equations: Equations, added: Collection[str] = ()) -> Iterator[tuple[str, str | None]]:
    """Yield the lines of the page, each with the statement that it is."""
    yield from ((line, None) for line in _header(equations))
    yield from _equations(equations, added)
    yield from ((line, None) for line in _results(equations))


def type_text(array: Array) -> str:
    """Return `float(2,)`; nothing for a float scalar."""
    if array.dtype == "float" and not array.shape:
        return ""
    return array.dtype + (shape_text(array.shape) if array.shape else "")


def _header(equations: Equations) -> Iterator[str]:
    sizes = [
        f"{p.name}={p.default}" if p.definition is None else f"{p.name}={p.definition}"
        for p in equations.parameters
    ]
    yield f"{equations.name}({', '.join(sizes)})"
    description = equations.description.strip()
    if description:
        yield f"  {description.splitlines()[0]}"
    if equations.dims:
        counts = {equations.updates: " (counts updates)"}
        dims = (f"{d.name} < {d.size}{counts.get(d.name, '')}" for d in equations.dims)
        yield "  for " + ", ".join(dims)
    for data_set in equations.data:
        yield f"  {data_set.text}"


def _equations(equations: Equations, added: Collection[str]) -> Iterator[tuple[str, str | None]]:
    introduced: set[str] = set()
    for scope, statements in _by_scope(equations):
        yield "", None
        if scope:
            yield f"  {' / '.join(scope)}:", None
        for statement in statements:
            first = statement.array not in introduced
            note = "    # added up" if statement.array in added else _guard(statement)
            yield "    " + _line(statement, equations, first) + note, statement.name
            introduced.add(statement.array)


def _by_scope(equations: Equations) -> Iterator[tuple[Scope, list[Statement]]]:
    """Yield neighbours of one scope, under one heading each.

    Scopes that take turns, as an optimizer and the parameters that it updates, have one heading
    each too. But no equation comes before one that it reads, and the user's own equations stay in
    place.
    """
    groups: list[tuple[Scope, list[Statement]]] = []
    for scope, run in groupby(equations.statements, key=lambda s: s.scope):
        statements = list(run)
        needed = {read.array for s in statements for read in s.reads}
        joined = _same_scope(groups, scope, needed)
        if joined is None:
            groups.append((scope, statements))
        else:
            joined += statements
    yield from groups


def _same_scope(
    groups: Sequence[tuple[Scope, list[Statement]]], scope: Scope, needed: set[str]
) -> list[Statement] | None:
    """Return the equations of a scope that can be continued, or None if they come too early."""
    for earlier, statements in reversed(groups):
        if earlier == scope:
            return statements
        if not scope or not earlier or needed & {s.array for s in statements}:
            return None
    return None


def _line(statement: Statement, equations: Equations, first: bool) -> str:
    left = element_text(statement.array, statement.write)
    kind = type_text(equations.array[statement.array]) if first else ""
    typed = f"{left}: {kind}" if kind else left
    return f"{typed} = {right_side(statement, equations)}{domain_text(statement, equations)}"


def _guard(statement: Statement) -> str:
    """Return where a statement is executed, if not everywhere; what is open says so itself."""
    guards = [g for g in statement.guards if g.array != statement.array]
    told = " and ".join(element_text(g.array, g.index) for g in guards)
    return f"    # if {told}" if told else ""


def _results(equations: Equations) -> Iterator[str]:
    if equations.outputs:
        yield ""
        yield "  return " + ", ".join(
            o.name if o.name == o.array else f"{o.name}={o.array}" for o in equations.outputs
        )
