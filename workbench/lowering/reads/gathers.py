"""Reads through index arrays, of elements that form no slice."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lowering.loops.records import WHOLE, Entry
from workbench.lowering.reads.index_arrays import binary, index_value
from workbench.lowering.reads.slices import whole_array
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import (
    Expression,
    expression,
)


def gathered(
    scope: Scope,
    stored: Stored,
    index: tuple[Expression | Value, ...],
    checked: Mapping[int, tuple[Expression, Expression]],
) -> Value:
    """Return a read through index arrays.

    Positions come first (a view), the remaining dimensions as one flat row number.
    """
    order = list(stored.order)
    value = whole_array(stored)
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
    assert number is not None, "a gather without index arrays"
    table = scope.reshaped(value, (rows, *inner), (), (rows, *inner))
    number = scope.compact(number)
    out = scope.temporary(number.axes, inner, stored.array.dtype)
    target = out if out.layout.dense else scope.flat_copy(out)
    scope.apply("take", [table, number], target)
    return target


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
    scope.check(
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
