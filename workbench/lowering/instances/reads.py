"""Reads and index values: slices where an index is one axis, index arrays where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from workbench.lowering.loops.records import REVERSED, WHOLE, Entry, Range
from workbench.lowering.values.intervals import at_least, greatest, least, length
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Prepared, Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import (
    Choice,
    Expression,
    Extremum,
    FloorDivision,
    Product,
    Variable,
    atom,
    expression,
    maximum,
    minimum,
    shortest,
    variable,
)
from workbench.polyhedral.lifetimes.folding import most_slots

# -- slices ---------------------------------------------------------------------------------------


def sole_axis(scope: Scope, e: Expression) -> str | None:
    """The one axis on which `e` depends, if it does so as coefficient * axis + rest."""
    axes = e.variables & set(scope.axes)
    if len(axes) != 1:
        return None
    (axis,) = axes
    rest = e - variable(axis) * e.coefficient(axis)
    return None if axis in rest.variables else axis


def whole_array(stored: Stored) -> Value:
    """The array's memory, its dimensions as inner axes."""
    from workbench.lowering.values.layout import dense

    name, shape = stored.buffer.name, stored.buffer.shape
    return Value(name, name, (), (), shape, stored.array.dtype, dense(len(shape)), True)


def sliced(scope: Scope, stored: Stored, index: tuple[Expression, ...]) -> Value | None:
    """The view of an array at an index whose entries are positions or single axes; None if they are
    not. Along a dimension folded to one slot there is one live element at most for all of an axis:
    the view has no such axis.
    """
    found: list[str | None] = []
    for position in stored.order:
        e = index[position]
        if not e.variables & set(scope.axes):
            found.append(None)
            continue
        axis = sole_axis(scope, e)
        if axis is None or axis in found or not neighbours(scope, stored, position, e, axis):
            return None
        found.append(axis)
    return _take_slices(scope, stored, index, found)


def neighbours(scope: Scope, stored: Stored, position: int, e: Expression, axis: str) -> bool:
    """Whether the elements along an axis have neighbouring slots, so that they are one slice.

    Those of a statement's own axis have: its windows are whole blocks, or there is none.
    """
    modulus = stored.modulus(position)
    if modulus is None or axis in scope.blocked:
        return True
    lower, n = scope.axes[axis]
    first = stored.slot(position, e.substitute({axis: lower}))
    left = modulus - first - n
    return e.coefficient(axis) == 1 and not first.terms and at_least(left, 0, scope.ranges)


def _take_slices(
    scope: Scope, stored: Stored, index: tuple[Expression, ...], axes: list[str | None]
) -> Value:
    value = whole_array(stored)
    inner = symbolic(stored.array.shape)
    places = [stored.slot(p, index[p]) for p in stored.order]
    entries: list[Entry] = []
    turned = []
    for k, (place, axis) in enumerate(zip(places, axes, strict=True)):
        if axis is None:
            entries.append(place)
            continue
        entry, backwards = _slice(scope, place, axis, value.shape[k])
        entries.append(entry)
        if backwards:
            turned.append(axis)
    named = tuple(a for a in axes if a is not None)
    value = scope.index(value, [*entries, *[WHOLE] * len(inner)], named, inner)
    if turned:
        flips: list[Entry] = [REVERSED if a in turned else WHOLE for a in named]
        value = scope.index(value, [*flips, *[WHOLE] * len(inner)], named, inner)
    wanted = scope.ordered(named)
    if wanted != named:
        order = [named.index(a) for a in wanted] + list(range(len(named), value.rank))
        value = scope.permuted(value, order, wanted, inner)
    return value


def _slice(scope: Scope, place: Expression, axis: str, extent: Expression) -> tuple[Entry, bool]:
    lower, n = scope.axes[axis]
    step = place.coefficient(axis)
    first = place.substitute({axis: lower})
    backwards = step < 0
    if backwards:
        first, step = shortest(first + (n - 1) * step), -step
    if step == 1 and first == 0 and n == extent:
        return WHOLE, backwards
    return Range(first, shortest(first + n * step), step), backwards


def within(scope: Scope, stored: Stored, index: tuple[Expression, ...]) -> bool:
    """Whether the index stays inside the array for every point of the axes' box."""
    moving = [
        (e, *bounds)
        for e, bounds in zip(index, stored.array.extent, strict=True)
        if e.variables & set(scope.axes)
    ]
    return all(_between(scope, e, lower, upper) for e, lower, upper in moving)


def exists(scope: Scope, stored: Stored, index: Sequence[Expression | Value]) -> bool:
    """Whether all single positions of an index, and all of an index array, are certainly inside."""
    gathers = any(isinstance(e, Value) for e in index)
    return all(
        isinstance(e, Value)
        or (not gathers and sole_axis(scope, e) is not None)
        or _between(scope, e, lower, upper)
        for e, (lower, upper) in zip(index, stored.array.extent, strict=True)
    )


def _between(scope: Scope, e: Expression, lower: Expression, upper: Expression) -> bool:
    """Whether `lower <= e < upper` at every point of the loops and of the axes' box."""
    ranges = {**scope.ranges, **{a: (low, low + n - 1) for a, (low, n) in scope.axes.items()}}
    return _surely_between(e, lower, upper, tuple(ranges.items()))


@lru_cache(maxsize=65536)
def _surely_between(
    e: Expression,
    lower: Expression,
    upper: Expression,
    ranges: tuple[tuple[str, tuple[Expression, Expression]], ...],
) -> bool:
    known = dict(ranges)
    return at_least(e - lower, 0, known) and at_least(upper - 1 - e, 0, known)


def row(scope: Scope, table: Value, e: Expression) -> Value | None:
    """The view of a tensor at position `e` of its leading inner axis; None if that is not one
    position, nor one axis' own range, that surely exists.
    """
    rest: list[Entry] = [WHOLE] * (len(table.shape) - 1)
    if not _between(scope, e, expression(0), table.shape[0]):
        return None
    axis = sole_axis(scope, e)
    if not e.variables & set(scope.axes):
        return scope.inner(table, [e, *rest], table.shape[1:])
    if axis is None or axis in table.axes or e.coefficient(axis) < 0:
        return None
    entry, _ = _slice(scope, e, axis, table.shape[0])
    named, inner = (*table.axes, axis), table.shape[1:]
    value = scope.index(table, [*[WHOLE] * len(table.axes), entry, *rest], named, inner)
    wanted = scope.ordered(named)
    if wanted == named:
        return value
    order = [named.index(a) for a in wanted] + list(range(len(named), value.rank))
    return scope.permuted(value, order, wanted, inner)


def clamped(stored: Stored, index: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The index with every entry held inside the array."""
    return tuple(
        minimum(maximum(e, lower), upper - 1)
        for e, (lower, upper) in zip(index, stored.array.extent, strict=True)
    )


# -- index arrays ---------------------------------------------------------------------------------


def index_value(scope: Scope, e: Expression, dtype: str) -> Value:
    """The integer values of an expression over the axes it depends on."""
    key = (str(e), dtype)
    if key in scope.views:
        return scope.views[key]
    value = _front_value(scope, e, dtype) or _computed(scope, e, dtype)
    scope.views[key] = value
    return value


def _front_value(scope: Scope, e: Expression, dtype: str) -> Value | None:
    """Made once in front of all loops, if neither the expression nor its axes' ranges change in a
    loop.
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


def _atom_value(scope: Scope, a: object, c: int, dtype: str) -> Value:
    if isinstance(a, Variable):
        lower, n = scope.axes[a.name]
        if (lower.variables | n.variables) & set(scope.ranges):
            if _in_turn(scope, a.name):
                return _own_range(scope, a.name, c, dtype)
            return _moving_range(scope, a.name, c, dtype)
        return scope.workspace.count(a.name, lower * c, n, c, dtype)
    if isinstance(a, FloorDivision):
        value = binary(
            scope,
            "floor_divide",
            index_value(scope, a.dividend, dtype),
            index_value(scope, a.divisor, dtype),
        )
    elif isinstance(a, (Extremum, Product)):
        name = (
            "multiply" if isinstance(a, Product) else {"min": "minimum", "max": "maximum"}[a.kind]
        )
        value = binary(
            scope, name, index_value(scope, a.left, dtype), index_value(scope, a.right, dtype)
        )
    else:
        assert isinstance(a, Choice)
        holds = condition_value(scope, [(e, True) for e in a.conditions])
        then, other = index_value(scope, a.then, dtype), index_value(scope, a.otherwise, dtype)
        axes = scope.ordered({*holds.axes, *then.axes, *other.axes})
        value = scope.temporary(axes, (), dtype)
        scope.apply("copyto", [scope.aligned(other, axes, 0)], value)
        scope.apply("copyto", [scope.aligned(then, axes, 0), scope.aligned(holds, axes, 0)], value)
    if c == 1:
        return value
    return binary(scope, "multiply", value, scope.workspace.constant(c, dtype))


def positions(scope: Scope, axis: str, step: int = 1, dtype: str = "int64") -> Value:
    """0, 1, … along an axis, or so many steps."""
    n = scope.length(axis)
    longest = scope.longest(n)
    whole = scope.workspace.count(axis, expression(0), longest, step, dtype)
    if n == longest:
        return whole
    source = Value(whole.name, whole.buffer, (), (), (longest,), dtype, whole.layout, True)
    return scope.index(source, [Range(expression(0), n)], (axis,), ())


def _in_turn(scope: Scope, axis: str) -> bool:
    """Whether an axis is a block of the dimension, the next iteration's the next: its values are
    as many as a block has.
    """
    lower, n = scope.axes[axis]
    if axis in scope.blocked:
        return True
    most = most_slots(scope.longest(n), scope.longest(lower + n))
    moving = lower.variables & set(scope.ranges)
    return most is not None and all(abs(lower.coefficient(v)) >= most for v in moving)


def _own_range(scope: Scope, axis: str, c: int, dtype: str) -> Value:
    """c * axis from where the axis begins and the positions on it."""
    first = index_value(scope, scope.axes[axis][0] * c, dtype)
    return binary(scope, "add", positions(scope, axis, c, dtype), first)


def _moving_range(scope: Scope, axis: str, c: int, dtype: str) -> Value:
    """c * axis where the axis' range moves with a loop: a slice of the whole range's values."""
    lower, n = scope.axes[axis]
    start, stop = least(lower, scope.ranges), greatest(lower + n, scope.ranges)
    most = length(start, stop, scope.ranges)
    whole = scope.workspace.count(axis, start * c, most, c, dtype)
    source = Value(whole.name, whole.buffer, (), (), (most,), dtype, whole.layout, True)
    return scope.index(source, [Range(lower - start, shortest(lower - start + n))], (axis,), ())


def binary(scope: Scope, function: str, left: Value, right: Value, dtype: str = "") -> Value:
    """An elementwise operation of two scalars over axes."""
    axes = scope.ordered({*left.axes, *right.axes})
    out = scope.temporary(axes, (), dtype or left.dtype)
    return scope.apply(function, [scope.aligned(left, axes, 0), scope.aligned(right, axes, 0)], out)


def condition_value(scope: Scope, conditions: list[tuple[Expression, bool]]) -> Value:
    """Where all conditions hold: each an expression that must be 0 (True) or at least 0 (False)."""
    found: Value | None = None
    zero = scope.workspace.constant(0, "int64")
    for e, equality in conditions:
        value = index_value(scope, e, "int64")
        test = binary(scope, "equal" if equality else "greater_equal", value, zero, "bool")
        found = test if found is None else binary(scope, "logical_and", found, test)
    return found if found is not None else scope.workspace.constant(True, "bool")


# -- gathers --------------------------------------------------------------------------------------


def gathered(
    scope: Scope,
    stored: Stored,
    index: tuple[Expression | Value, ...],
    checked: Mapping[int, tuple[Expression, Expression]],
) -> Value:
    """A read through index arrays: positions first (a view), the remaining dimensions as one flat
    row number.
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
    number = _full(scope, number)
    out = scope.temporary(number.axes, inner, stored.array.dtype)
    target = out if out.layout.dense else scope.flat_copy(out)
    scope.apply("take", [table, number], target)
    return target


def _full(scope: Scope, number: Value) -> Value:
    return scope.compact(number)


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
