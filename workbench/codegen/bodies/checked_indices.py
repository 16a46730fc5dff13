"""Indices that depend on data: each is checked, and held inside what it is an index of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.codegen.bodies.kept_bodies import Kept, asked_once, fits_in_locals, free
from workbench.codegen.emitter import Index, both, flat, total
from workbench.codegen.kernel_records import (
    Compute,
    Let,
    Local,
    Number,
    Position,
    Store,
    Value,
)
from workbench.lowering.instances.operation_rules import table_name
from workbench.lowering.values.intervals import at_least
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.bodies import Body, Call, IndexValue, Read
from workbench.program.operations.table import first_index

if TYPE_CHECKING:
    from workbench.codegen.bodies.body_values import Bodies


def check_gather(bodies: Bodies, number: int, body: Read) -> None:
    """Check the data-dependent indices of a read, and keep them inside the array."""
    stored = bodies.stored[body.array]
    for position, entry in enumerate(body.index):
        if isinstance(entry, Expression):
            continue
        value = bodies.value(entry, ())
        lower, upper = stored.array.extent[position]
        bodies.indexed[number, position] = _inside(
            bodies, value, lower, upper, array=body.array, dim=stored.array.dims[position]
        )


def check_take(bodies: Bodies, number: int, body: Call) -> None:
    """Check the entries that are taken, and keep their indices inside the table."""
    table, numbering = body.arguments[0], bodies.numbering
    if not free(numbering, numbering[table]) and numbering[table] not in asked_once(numbering):
        _keep_table(bodies, table)
    check_entries(bodies, number, body)


def check_entries(bodies: Bodies, number: int, body: Call) -> None:
    """Check the indices of a lookup or an update, and keep them inside the table."""
    indices = body.arguments[first_index(body.operation) :]
    lengths = symbolic(body.arguments[0].shape)
    name = table_name(body)
    bodies.entries[number] = tuple(
        _checked(bodies, index, n, array=name, dim=f"axis {axis}")
        for axis, (index, n) in enumerate(zip(indices, lengths, strict=False))
    )


def _checked(bodies: Bodies, rows: Body, upper: Expression, **options: str) -> Kept:
    """Return an index of one axis of a table, checked, at each of its positions."""
    if isinstance(rows, IndexValue) and _surely_inside(rows.expression, upper):
        return Kept((), "int32", {(): Position(rows.expression)})
    row_numbers: dict[tuple[int, ...], Value] = {}
    shape = symbolic(rows.shape)
    elements = total(shape)
    buffer = "" if fits_in_locals(elements) else bodies.out.scratch("row", "int32", elements)

    def visit(index: Index) -> None:
        row = _inside(bodies, bodies.value(rows, index), expression(0), upper, **options)
        if buffer:
            bodies.out.add(Store(buffer, flat(index, shape), Position(row)))
        else:
            row_numbers[tuple(i.constant for i in index)] = Position(row)

    bodies.out.each(shape, visit)
    return Kept(shape, "int32", row_numbers, buffer)


def _surely_inside(e: Expression, upper: Expression) -> bool:
    """Tell whether `0 <= e < upper` at all sizes; no dimension has a known range here."""
    return not e.variables and at_least(e, 0, {}) and at_least(upper - 1 - e, 0, {})


def _keep_table(bodies: Bodies, table: Body) -> None:
    number = bodies.numbering[table]
    kept = bodies.kept.get(number)
    if kept is None or not kept.buffer:
        buffer = bodies.whole(table)
        bodies.kept[number] = Kept(symbolic(table.shape), table.dtype, buffer=buffer)


def check_within(bodies: Bodies, number: int, body: Call) -> None:
    """Check at every position that an index lies within its bounds."""

    def visit(index: Index) -> None:
        value, lower, upper = (bodies.operand(body, k, index) for k in range(3))
        inside = both(
            Compute("greater_equal", (value, lower), "bool"),
            Compute("less", (value, upper), "bool"),
        )
        bodies.require("within", inside, (value, lower, upper))

    bodies.out.each(symbolic(body.shape), visit)


def check_possible(bodies: Bodies, number: int, body: Call) -> None:
    """Check at every position that something can be drawn: the highest logarithm is finite."""

    def visit(index: Index) -> None:
        highest, lowest = bodies.operand(body, 0, index), Number(-float("inf"), "float")
        bodies.require("possible", Compute("not_equal", (highest, lowest), "bool"))

    bodies.out.each(symbolic(body.shape), visit)


def check_positive(bodies: Bodies, number: int, body: Call) -> None:
    """Check at every position that a number is above 0."""

    def visit(index: Index) -> None:
        value = bodies.operand(body, 0, index)
        bodies.require("positive", Compute("less", (Number(0.0, "float"), value), "bool"))

    bodies.out.each(symbolic(body.shape), visit)


def check_existing(bodies: Bodies, number: int, body: Call) -> None:
    """Check that a value of an episode exists: that a step of it is open."""
    opened, step = bodies.operand(body, 1, ()), bodies.operand(body, 2, ())
    options = {"array": table_name(body), "dim": body.options["dim"]}
    bodies.require("existing", opened, (step,), **options)


CHECKED = {
    "take": check_take,
    "put": check_entries,
    "add_at": check_entries,
    "within": check_within,
    "possible": check_possible,
    "positive": check_positive,
    "existing": check_existing,
}
"""The writer of an operation's checks, for those that have some."""


def _inside(
    bodies: Bodies, value: Value, lower: Expression, upper: Expression, **options: str
) -> Expression:
    """Return an index, which is checked, held within its bounds. What was checked for an array
    before is not checked again for another of the same bounds: the first failure is told.
    """
    key = (value, lower, upper)
    return bodies.out.once(key, lambda: _held_inside(bodies, value, lower, upper, **options))


def _held_inside(
    bodies: Bodies, value: Value, lower: Expression, upper: Expression, **options: str
) -> Expression:
    out = bodies.out
    value = out.let("index", value)
    if isinstance(value, Position):
        name = out.name("index")
        out.add(Let(name, value))
        value = Local(name, value.dtype)
    least, most = (Position(e, value.dtype) for e in (lower, upper - 1))
    inside = both(
        Compute("greater_equal", (value, least), "bool"),
        Compute("less_equal", (value, most), "bool"),
    )
    numbers = (value, Position(lower), Position(upper))
    bodies.require("index", inside, numbers, **options)
    at_least = Compute("maximum", (value, least), value.dtype)
    name = out.name("inside")
    out.add(Let(name, Compute("minimum", (at_least, most), value.dtype)))
    return variable(name)
