"""Reads through index arrays, of elements that form no slice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

from workbench.lowering.loops.records import WHOLE, Entry, Symbolic
from workbench.lowering.reads import slices
from workbench.lowering.reads.index_arrays import binary, index_value
from workbench.lowering.values.intervals import total
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import (
    Expression,
    expression,
)

INSIDE = -1
"""The stand-in for the inner axes among the positions of dimensions."""


def gathered(
    scope: Scope,
    stored: Stored,
    index: tuple[Expression | Value, ...],
    checked: Mapping[int, tuple[Expression, Expression]],
) -> Value:
    """Return a read through index arrays.

    Positions come first (a view), the remaining dimensions as one flat row number. Where inner axes
    are not innermost, each element has a number of its own.
    """
    if not stored.together:
        return _one_by_one(scope, stored, index, checked)
    order = list(stored.order)
    value = slices.whole_array(scope, stored)
    lead: list[Entry] = []
    while order:
        e = index[order[0]]
        if isinstance(e, Value) or e.variables & set(scope.axes):
            break
        lead.append(stored.slot(order.pop(0), e))
    inner = symbolic(stored.array.shape)
    if lead:
        rest = value.shape[len(lead) :]
        value = scope.index(value, [*lead, *[WHOLE] * len(rest)], (), rest)
    rows = expression(1)
    number: Value | None = None
    for position in reversed(order):
        place = _place(scope, stored, index[position], position, checked)
        if rows != 1:
            place = binary(scope, "multiply", place, index_value(scope, rows, "int64"))
        number = place if number is None else binary(scope, "add", number, place)
        rows = rows * stored.count(position)
    if number is None:  # one element is held
        number = index_value(scope, expression(0), "int64")
    number = _over_all(scope, number, index)
    return _taken(scope, scope.reshaped(value, (rows, *inner), (), (rows, *inner)), number, inner)


def _over_all(scope: Scope, number: Value, index: tuple[Expression | Value, ...]) -> Value:
    """Return row numbers over all axes of an index: where one slot is kept, they do not vary."""
    axes = (e.axes if isinstance(e, Value) else e.variables for e in index)
    return scope.broadcast(number, scope.ordered({a for some in axes for a in some}), number.shape)


def _taken(scope: Scope, table: Value, number: Value, inner: Symbolic) -> Value:
    """Return the numbered rows of a table, of an inner shape over the numbers' axes."""
    number = scope.compact(number)
    out = scope.temporary(number.axes, inner, table.dtype)
    target = out if out.layout.dense else scope.flat_copy(out)
    scope.apply("take", [table, number], target)
    return target


def _one_by_one(
    scope: Scope,
    stored: Stored,
    index: tuple[Expression | Value, ...],
    checked: Mapping[int, tuple[Expression, Expression]],
) -> Value:
    """Return a read of elements by their places in memory."""
    inner = symbolic(stored.array.shape)
    many = total(inner)
    parts: list[Value] = []
    step = expression(1)
    for position in reversed(stored.arranged(stored.order, (INSIDE,))):
        if position == INSIDE:
            count = scope.workspace.count("", expression(0), many, 1, "int64")
            whole = replace(count, axes=(), counts=(), shape=(many,))
            place = scope.reshaped(whole, inner, (), inner)
        else:
            place = _place(scope, stored, index[position], position, checked)
        parts.append(binary(scope, "multiply", place, index_value(scope, step, "int64")))
        step = step * (many if position == INSIDE else stored.count(position))
    number = reduce(lambda one, other: binary(scope, "add", one, other), parts)
    number = _over_all(scope, number, index)
    table = scope.reshaped(slices.memory(stored), (step,), (), (step,))
    return _taken(scope, table, number, inner)


def _place(
    scope: Scope,
    stored: Stored,
    e: Expression | Value,
    position: int,
    checked: Mapping[int, tuple[Expression, Expression]],
) -> Value:
    if isinstance(e, Expression):
        return index_value(scope, stored.slot(position, e), "int64")
    lower, upper = checked[position]
    scope.check_values(
        "check_index",
        e,
        lower=lower,
        upper=upper,
        array=stored.array.name,
        dim=stored.array.dims[position],
    )
    value = scope.cast(e, "int64")
    window = stored.windows[position]
    if window is not None:
        return binary(scope, "remainder", value, index_value(scope, window, "int64"))
    if lower == 0:
        return value
    return binary(scope, "subtract", value, index_value(scope, lower, "int64"))
