"""Bodies whose elements are computed one by one, each from the elements at its own position.

They are the same over the elements of their arrays in a row, whatever the inner shape: one long
loop instead of one for each axis. It looks at bodies only.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.bodies.kept_bodies import worth_keeping
from workbench.codegen.emitter import total
from workbench.identity import remembered
from workbench.lowering.values.numbering import numbered
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, Literal, Read, Shape
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Statement


@remembered(4096)
def in_a_row(statement: Statement) -> Statement | None:
    """Return a statement over its elements in a row, with one inner axis; None where an element
    needs others than those at its position, or the same number for all.
    """
    numbering, shape = numbered(statement.body), statement.body.shape
    if not shape or not all(_own_position(b, shape) for b in numbering.bodies):
        return None
    row = (_elements(shape),)
    rows: list[Body] = []
    for body, children in zip(numbering.bodies, numbering.children, strict=True):
        if isinstance(body, Call):
            body = replace(body, arguments=tuple(rows[child] for child in children))
            if body.operation == "broadcast":
                body = replace(body, attributes=(("shape", row),))
        rows.append(replace(body, shape=row) if body.shape else body)
    return replace(statement, body=rows[numbering.root])


@remembered(4096)
def by_element(statement: Statement) -> bool:
    """Tell whether all that a statement over elements in a row computes can stand in one loop with
    others: nothing but numbers for all elements comes before it.
    """
    numbering = numbered(statement.body)
    before = worth_keeping(numbering) - {numbering.root}
    return not any(numbering.bodies[number].shape for number in before)


def _own_position(body: Body, shape: Shape) -> bool:
    """Tell whether an element of a body depends on those at its position only."""
    if body.shape not in ((), shape):
        return False
    if isinstance(body, Read):
        return all(isinstance(e, Expression) for e in body.index)
    if isinstance(body, Call):
        if body.operation == "broadcast":
            return not body.arguments[0].shape
        return OPERATIONS[body.operation].elementwise
    return not (isinstance(body, Literal) and body.shape)


def _elements(shape: Shape) -> int | Expression:
    elements = total(symbolic(shape))
    return elements if elements.terms else elements.constant
