"""Bodies at other elements: dimensions replaced by index expressions, or by computed integers (a
gather's positions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.polyhedral.expression import Expression, atom, expression
from workbench.polyhedral.expressions.atoms import Extremum, FloorDivision, Size, Variable
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.operations.table import OPERATIONS
from workbench.transforms.rules.rewriting import rebuilt
from workbench.transforms.rules.row import call

Substitution = Mapping[str, Expression | Body]


class NotMovable(Exception):
    """An error for a body without meaning at a computed position; `reason` says which and why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def moved(body: Body, moves: Substitution) -> Body:
    """Return the body with dimensions replaced. Raises NotMovable."""
    if isinstance(body, IndexValue):
        index = moved_index(body.expression, moves)
        if isinstance(index, Expression):
            return replace(body, expression=index)
        return index if index.dtype == body.dtype else call("cast", index, dtype=body.dtype)
    if isinstance(body, Read):
        entries = (
            moved_index(e, moves) if isinstance(e, Expression) else moved(e, moves)
            for e in body.index
        )
        return replace(body, index=tuple(entries))
    if isinstance(body, Call) and OPERATIONS[body.operation].by_instance:
        does = "draws" if OPERATIONS[body.operation].random else "is told apart"
        raise NotMovable(f"{body.operation} {does} at its own instance")
    return rebuilt(body, lambda b: moved(b, moves))


def moved_index(e: Expression, moves: Substitution) -> Expression | Body:
    """Return an index with dimensions replaced: an expression, or a body for computed positions."""
    computed = {d for d in e.variables if isinstance(moves.get(d), Body)}
    if not computed:
        plain = {d: m for d, m in moves.items() if isinstance(m, Expression)}
        return e.substitute(plain)
    total: Body | None = None
    rest = expression(e.constant)
    for a, coefficient in e.terms:
        term = atom(a)
        if not term.variables & computed:
            rest = rest + term * coefficient
            continue
        value = _moved_atom(a, moves)
        if coefficient != 1:
            value = call("multiply", value, Literal(coefficient, "int32"))
        total = value if total is None else call("add", total, value)
    assert total is not None
    rest_moved = moved_index(rest, moves)
    assert isinstance(rest_moved, Expression)
    return total if rest_moved == 0 else call("add", total, _body(rest_moved))


def _moved_atom(a: object, moves: Substitution) -> Body:
    if isinstance(a, Variable):
        return _body(moves[a.name])
    if isinstance(a, (FloorDivision, Extremum)):
        return call(a.function, *(_body(moved_index(part, moves)) for part in a.parts))
    assert not isinstance(a, Size)
    raise NotMovable(f"the index {a} has no form for computed positions")


def _body(value: Expression | Body) -> Body:
    return IndexValue(value) if isinstance(value, Expression) else value
