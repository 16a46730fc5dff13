"""Reads as views: slices of an array where an index is a position, or one axis' own range."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from workbench.lowering.loops.records import REVERSED, WHOLE, Entry, Range
from workbench.lowering.values.intervals import at_least
from workbench.lowering.values.layout import Value, dense
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression, maximum, minimum, variable
from workbench.polyhedral.shortest import shortest


def sole_axis(scope: Scope, e: Expression) -> str | None:
    """Return the one axis on which `e` depends, if it does so as coefficient * axis + rest."""
    axes = e.variables & set(scope.axes)
    if len(axes) != 1:
        return None
    (axis,) = axes
    rest = e - variable(axis) * e.coefficient(axis)
    return None if axis in rest.variables else axis


def memory(stored: Stored) -> Value:
    """Return the array's memory, whose axes are inner ones."""
    name, shape = stored.buffer.name, stored.buffer.shape
    return Value(name, name, (), (), shape, stored.array.dtype, dense(len(shape)), True)


def whole_array(scope: Scope, stored: Stored) -> Value:
    """Return the whole array as inner axes: those of its dimensions, then its own."""
    shape = tuple(stored.buffer.shape[axis] for axis in stored.axes)
    return scope.permuted(memory(stored), stored.axes, (), shape)


def sliced(scope: Scope, stored: Stored, index: tuple[Expression, ...]) -> Value | None:
    """Return the view of an array at an index whose entries are positions or single axes, or None.

    A dimension folded to one slot has one live element at most for all of an axis: the view has no
    such axis.
    """
    axes: list[str | None] = []
    for position in stored.order:
        e = index[position]
        if not e.variables & set(scope.axes):
            axes.append(None)
            continue
        axis = sole_axis(scope, e)
        if axis is None or axis in axes or not neighbours(scope, stored, position, e, axis):
            return None
        axes.append(axis)
    return _take_slices(scope, stored, index, axes)


def neighbours(scope: Scope, stored: Stored, position: int, e: Expression, axis: str) -> bool:
    """Tell whether the elements along an axis have neighbouring slots, so that they are one slice.

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
    value = whole_array(scope, stored)
    inner = symbolic(stored.array.shape)
    places = [stored.slot(p, index[p]) for p in stored.order]
    entries: list[Entry] = []
    turned = []
    for k, (place, axis) in enumerate(zip(places, axes, strict=True)):
        if axis is None:
            entries.append(place)
            continue
        entry, backwards = slice_of(scope, place, axis, value.shape[k])
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


def slice_of(scope: Scope, place: Expression, axis: str, extent: Expression) -> tuple[Entry, bool]:
    lower, n = scope.axes[axis]
    step = place.coefficient(axis) or 1  # in a block of one, the only slot is at 0 wherever it is
    first = place.substitute({axis: lower})
    backwards = step < 0
    if backwards:
        first, step = shortest(first + (n - 1) * step), -step
    if step == 1 and first == 0 and n == extent:
        return WHOLE, backwards
    return Range(first, shortest(first + n * step), step), backwards


def within(scope: Scope, stored: Stored, index: tuple[Expression, ...]) -> bool:
    """Tell whether the index stays inside the array for every point of the axes' box."""
    moving = [
        (e, *bounds)
        for e, bounds in zip(index, stored.array.extent, strict=True)
        if e.variables & set(scope.axes)
    ]
    return all(between(scope, e, lower, upper) for e, lower, upper in moving)


def exists(scope: Scope, stored: Stored, index: Sequence[Expression | Value]) -> bool:
    """Tell whether all positions and index arrays of an index are certainly inside the array."""
    gathers = any(isinstance(e, Value) for e in index)
    return all(
        isinstance(e, Value)
        or (not gathers and sole_axis(scope, e) is not None)
        or between(scope, e, lower, upper)
        for e, (lower, upper) in zip(index, stored.array.extent, strict=True)
    )


def between(scope: Scope, e: Expression, lower: Expression, upper: Expression) -> bool:
    """Tell whether `lower <= e < upper` at every point of the loops and of the axes' box."""
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
    """Return the view of a tensor at position `e` of its leading inner axis, or None.

    None where `e` is neither one position nor one axis' own range that surely exists.
    """
    rest: list[Entry] = [WHOLE] * (len(table.shape) - 1)
    if not between(scope, e, expression(0), table.shape[0]):
        return None
    axis = sole_axis(scope, e)
    if not e.variables & set(scope.axes):
        return scope.inner(table, [e, *rest], table.shape[1:])
    if axis is None or axis in table.axes or e.coefficient(axis) < 0:
        return None
    entry, _ = slice_of(scope, e, axis, table.shape[0])
    named, inner = (*table.axes, axis), table.shape[1:]
    value = scope.index(table, [*[WHOLE] * len(table.axes), entry, *rest], named, inner)
    wanted = scope.ordered(named)
    if wanted == named:
        return value
    order = [named.index(a) for a in wanted] + list(range(len(named), value.rank))
    return scope.permuted(value, order, wanted, inner)


def clamped(stored: Stored, index: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return the index with every entry held inside the array."""
    return tuple(
        minimum(maximum(e, lower), upper - 1)
        for e, (lower, upper) in zip(index, stored.array.extent, strict=True)
    )
