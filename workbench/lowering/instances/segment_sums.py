"""Sums over the points whose index is the element: a gather's gradient without all pairs."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lowering.instances.contractions import Letters
from workbench.lowering.instances.linearize import Linearizer
from workbench.lowering.values.intervals import total
from workbench.lowering.values.layout import Value
from workbench.polyhedral.expression import variable
from workbench.program.values import Body, Call, IndexValue, Literal


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
    points, inner = total(value.counts), total(shape)
    scratch = scope.scratch("int64", (scope.longest(points) * (inner + 4),))
    out = target
    if not target.layout.dense:
        out = scope.temporary(target.axes, shape, target.dtype)
    lower = tuple(scope.axes[a][0] for a in target.axes)
    scope.apply("segment_add", [value, *ready], out, lower=lower, scratch=scratch)
    if out is not target:
        scope.apply("copyto", [out], target)
    return True


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
