"""The values of index expressions over axes, as integer arrays."""

from __future__ import annotations

from workbench.lowering.loops.records import Range
from workbench.lowering.reads.slices import sole_axis
from workbench.lowering.values.intervals import greatest, least, length
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Prepared, Scope
from workbench.polyhedral.expression import Expression, atom, expression
from workbench.polyhedral.expressions.atoms import Atom, Choice, Named, Variable
from workbench.polyhedral.lifetimes.folding import most_slots
from workbench.polyhedral.shortest import shortest


def index_value(scope: Scope, e: Expression, dtype: str) -> Value:
    """Return the integer values of an expression over the axes it depends on."""
    key = (str(e), dtype)
    if key in scope.views:
        return scope.views[key]
    value = _front_value(scope, e, dtype) or _computed(scope, e, dtype)
    scope.views[key] = value
    return value


def _front_value(scope: Scope, e: Expression, dtype: str) -> Value | None:
    """Make the value once in front of all loops, or return None.

    None where the expression or its axes' ranges change in a loop.
    """
    axes = scope.ordered(e.variables)
    bounds = [(a, *scope.axes[a]) for a in axes]
    inside = [e, *(part for _, low, n in bounds for part in (low, n))]
    if any(part.variables & set(scope.ranges) for part in inside):
        return None
    if not axes:
        return scope.workspace.constant(e if e.terms else e.constant, dtype)
    axis = sole_axis(scope, e)
    if axis is not None:
        lower, n = scope.axes[axis]
        return scope.workspace.count(
            axis, e.substitute({axis: lower}), n, e.coefficient(axis), dtype
        )

    def make() -> Prepared:
        front = Scope(scope.workspace, "index", {a: scope.axes[a] for a in axes}, {})
        return (_computed(front, e, dtype),), front.records

    return scope.workspace.once(("front", e, dtype, tuple(bounds)), make)[0]


def _computed(scope: Scope, e: Expression, dtype: str) -> Value:
    axes = set(scope.axes)
    if not e.variables & axes:
        out = scope.temporary((), (), dtype)
        return scope.apply("fill", [], out, value=e)
    total: Value | None = None
    rest = e
    for a, c in e.terms:
        if not atom(a).variables & axes:
            continue
        rest = rest - atom(a) * c
        part = _atom_value(scope, a, c, dtype)
        total = part if total is None else binary(scope, "add", total, part)
    assert total is not None
    if rest == 0:
        return total
    return binary(scope, "add", total, index_value(scope, rest, dtype))


def _atom_value(scope: Scope, a: Atom, c: int, dtype: str) -> Value:
    if isinstance(a, Variable):
        lower, n = scope.axes[a.name]
        if (lower.variables | n.variables) & set(scope.ranges):
            if _in_turn(scope, a.name):
                return _own_range(scope, a.name, c, dtype)
            return _moving_range(scope, a.name, c, dtype)
        return scope.workspace.count(a.name, lower * c, n, c, dtype)
    assert not isinstance(a, Named), f"{a} varies over no axis"
    if isinstance(a, Choice):
        holds = condition_value(scope, [(e, True) for e in a.conditions])
        then, other = index_value(scope, a.then, dtype), index_value(scope, a.otherwise, dtype)
        axes = scope.ordered({*holds.axes, *then.axes, *other.axes})
        value = scope.temporary(axes, (), dtype)
        scope.apply("copyto", [scope.aligned(other, axes, 0)], value)
        scope.apply("copyto", [scope.aligned(then, axes, 0), scope.aligned(holds, axes, 0)], value)
    else:
        left, right = (index_value(scope, part, dtype) for part in a.parts)
        value = binary(scope, a.function, left, right)
    if c == 1:
        return value
    return binary(scope, "multiply", value, scope.workspace.constant(c, dtype))


def positions(scope: Scope, axis: str, step: int = 1, dtype: str = "int64") -> Value:
    """Return 0, 1, … along an axis, or so many steps."""
    n = scope.length(axis)
    longest = scope.longest(n)
    whole = scope.workspace.count(axis, expression(0), longest, step, dtype)
    if n == longest:
        return whole
    source = Value(whole.name, whole.buffer, (), (), (longest,), dtype, whole.layout, True)
    return scope.index(source, [Range(expression(0), n)], (axis,), ())


def _in_turn(scope: Scope, axis: str) -> bool:
    """Tell whether an axis is a block of the dimension, the next iteration's the next block.

    Then it has as many values as a block.
    """
    lower, n = scope.axes[axis]
    if axis in scope.blocked:
        return True
    most = most_slots(scope.longest(n), scope.longest(lower + n))
    moving = lower.variables & set(scope.ranges)
    return most is not None and all(abs(lower.coefficient(v)) >= most for v in moving)


def _own_range(scope: Scope, axis: str, c: int, dtype: str) -> Value:
    """Return c * axis, made from the axis' begin and the positions on it."""
    first = index_value(scope, scope.axes[axis][0] * c, dtype)
    return binary(scope, "add", positions(scope, axis, c, dtype), first)


def _moving_range(scope: Scope, axis: str, c: int, dtype: str) -> Value:
    """Return c * axis for a range that moves with a loop: a slice of the whole range's values."""
    lower, n = scope.axes[axis]
    start, stop = least(lower, scope.ranges), greatest(lower + n, scope.ranges)
    most = length(start, stop, scope.ranges)
    whole = scope.workspace.count(axis, start * c, most, c, dtype)
    source = Value(whole.name, whole.buffer, (), (), (most,), dtype, whole.layout, True)
    return scope.index(source, [Range(lower - start, shortest(lower - start + n))], (axis,), ())


def binary(scope: Scope, function: str, left: Value, right: Value, dtype: str = "") -> Value:
    """Return an elementwise operation of two values over axes, of one inner shape or of none."""
    axes, shape = scope.ordered({*left.axes, *right.axes}), left.shape or right.shape
    out = scope.temporary(axes, shape, dtype or left.dtype)
    return scope.apply(function, [scope.aligned(v, axes, len(shape)) for v in (left, right)], out)


def condition_value(scope: Scope, conditions: list[tuple[Expression, bool]]) -> Value:
    """Return where all conditions hold.

    Each is an expression that must be 0 (True) or at least 0 (False).
    """
    holding: Value | None = None
    zero = scope.workspace.constant(0, "int64")
    for e, equality in conditions:
        value = index_value(scope, e, "int64")
        test = binary(scope, "equal" if equality else "greater_equal", value, zero, "bool")
        holding = test if holding is None else binary(scope, "logical_and", holding, test)
    return holding if holding is not None else scope.workspace.constant(True, "bool")
