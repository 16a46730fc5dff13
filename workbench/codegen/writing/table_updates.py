"""Updates of tables where they are: of a table only the entries that change are written.

A table that is stored elsewhere is copied, as any other body is computed (`position_rules.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.codegen.bodies.addresses import address
from workbench.codegen.bodies.body_values import Bodies
from workbench.codegen.bodies.position_rules import named_entry
from workbench.polyhedral.expression import Expression, expression
from workbench.program.bodies import Body, Call, Read
from workbench.program.operations.table import COMBINES, OPERATIONS

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter


def updates_in_place(writer: InstanceWriter) -> tuple[Call, ...]:
    """Return the updates that a statement makes, the first one first; none where the table that
    they are of is not in the result's own place.
    """
    body: Body = writer.statement.body
    updates: list[Call] = []
    while isinstance(body, Call) and OPERATIONS[body.operation].updates:
        updates.insert(0, body)
        body = body.arguments[0]
    if not updates or not isinstance(body, Read):
        return ()
    index = [e.substitute(writer.place) for e in body.index if isinstance(e, Expression)]
    table, first = writer.stored[body.array], (expression(0),) * len(writer.shape)
    if len(index) < len(body.index) or table.buffer.name != writer.target.buffer.name:
        return ()
    there = address(table, index, expression(0), writer.place)
    return tuple(updates) if there == writer.address(first) else ()


def write_update(writer: InstanceWriter, bodies: Bodies, update: Call) -> None:
    """Write an update at its entry. Its value is known before: it is kept, or of other arrays."""
    entry = named_entry(bodies, update, ())
    joins = COMBINES["sum"] if update.operation == "add_at" else ""
    bodies.positions(update.arguments[1], lambda i, v: writer.store((*entry, *i), v, joins))
