"""Sums over the points whose index is the element: a gather's gradient without all pairs, and what
is added to the entries of a table without all of the table at every point.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.lowering.instances.contractions import Letters
from workbench.lowering.instances.linearize import Linearizer
from workbench.lowering.instances.operation_rules import check_entry
from workbench.lowering.loops.records import Symbolic
from workbench.lowering.reads import index_arrays
from workbench.lowering.values.intervals import total
from workbench.lowering.values.layout import Value
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import expression, variable
from workbench.program.bodies import Body, Call, IndexValue, Literal


def scattered(at: Linearizer, body: Body, target: Value, over: Letters) -> bool:
    """Write a sum as a scatter; tell whether it is one of those that can be."""
    return segment_sum(at, body, target, over) or table_sum(at, body, target, over)


def entry_alone(body: Body) -> Call | None:
    """Return a body that is 0 but for one entry of a table; None where it is another."""
    if not isinstance(body, Call) or body.operation != "add_at":
        return None
    table = body.arguments[0]
    while isinstance(table, Call) and table.operation == "broadcast":
        table = table.arguments[0]
    zero = isinstance(table, Literal) and not np.any(np.asarray(table.value))
    return body if zero else None


def table_sum(at: Linearizer, body: Body, target: Value, over: Letters) -> bool:
    """Write the sum of bodies that are 0 but for one entry of a table as a scatter.

    Tell whether the body is such a one.
    """
    call = entry_alone(body)
    if call is None:
        return False
    scope, (_, value, *indices) = at.scope, call.arguments
    axes, rest = scope.ordered({*target.axes, *over}), symbolic(value.shape)
    ready = scope.compact(scope.broadcast(at.value(value, target.dtype), axes, rest))
    places = [index_arrays.positions(scope, axis) for axis in target.axes]
    for k, index in enumerate(indices):
        entry, n = at.value(index), target.shape[k]
        check_entry(scope, call, k, entry, n)
        places.append(scope.cast(entry, "int64"))
    numbers = [scope.compact(scope.broadcast(place, axes, ())) for place in places]
    _added(at, target, [ready, *numbers], (expression(0),) * len(numbers), rest)
    return True


def segment_sum(at: Linearizer, body: Body, target: Value, over: Letters) -> bool:
    """Write `sum(where(index == element and …, value, 0))` as a scatter.

    Tell whether the body is such a sum.

    Every axis of the target must be compared with an index that varies over reduction axes only,
    and the value must not vary over the target's axes. Indices outside the target count for
    nothing.
    """
    matched = _matched(at, body, target, over)
    if matched is None:
        return False
    value_body, indices = matched
    scope = at.scope
    shape = target.shape
    value = scope.compact(scope.broadcast(at.value(value_body, target.dtype), over, shape))
    ready = [scope.compact(scope.broadcast(at.value(i, "int64"), over, ())) for i in indices]
    lower = tuple(scope.axes[a][0] for a in target.axes)
    _added(at, target, [value, *ready], lower, shape)
    return True


def _added(
    at: Linearizer, target: Value, operands: list[Value], lower: Symbolic, inner: Symbolic
) -> None:
    """Write the call that adds values, of an inner shape, at indices that begin with `lower`."""
    scope, value = at.scope, operands[0]
    elements = total([scope.longest(n) for n in value.counts]) * (total(inner) + 4)
    scratch, out = scope.scratch("int64", (elements,)), scope.contiguous(target)
    scope.apply("segment_add", operands, out, lower=lower, scratch=scratch)
    if out is not target:
        scope.apply("copyto", [out], target)


def _matched(
    at: Linearizer, body: Body, target: Value, over: Letters
) -> tuple[Body, list[Body]] | None:
    if not (isinstance(body, Call) and body.operation == "where") or not target.axes:
        return None
    condition, value, other = body.arguments
    nothing = isinstance(other, Literal) and not other.shape and not other.value
    if not nothing or value.shape != body.shape or not set(at.axes_of(value)) <= set(over):
        return None
    compared: dict[str, Body] = {}
    for part in _conjuncts(condition):
        pair = _comparison(at, part, target, over)
        if pair is None or pair[0] in compared:
            return None
        compared[pair[0]] = pair[1]
    if set(compared) != set(target.axes):
        return None
    return value, [compared[a] for a in target.axes]


def _conjuncts(condition: Body) -> Iterator[Body]:
    if isinstance(condition, Call) and condition.operation == "logical_and":
        for argument in condition.arguments:
            yield from _conjuncts(argument)
    else:
        yield condition


def _comparison(
    at: Linearizer, part: Body, target: Value, over: Letters
) -> tuple[str, Body] | None:
    """Return the target's axis and the index it is compared with."""
    if not (isinstance(part, Call) and part.operation == "equal") or part.shape:
        return None
    for element, index in (part.arguments, part.arguments[::-1]):
        if not isinstance(element, IndexValue) or index.dtype not in ("int32", "int64"):
            continue
        axis = next((a for a in target.axes if at.placed(element.expression) == variable(a)), None)
        if axis is not None and set(at.axes_of(index)) <= set(over):
            return axis, index
    return None
