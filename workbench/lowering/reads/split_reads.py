"""Reads of one array dimension by two axes, blocks and positions in them: a view."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.lowering.loops.records import WHOLE, Entry, Range, Reshape
from workbench.lowering.reads import slices
from workbench.lowering.values.layout import Layout, Value
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, variable


def in_blocks(scope: Scope, stored: Stored, index: Sequence[Expression]) -> Value | None:
    """Return the view at an index with one entry `n * block + position`, all n positions, or None.

    The dimension's elements are shaped into blocks without a copy.
    """
    entries: list[Entry] = []
    named: list[str] = []
    both: tuple[str, str] | None = None
    for dimension in stored.order:
        e, place = index[dimension], stored.slot(dimension, index[dimension])
        axes = e.variables & set(scope.axes)
        if not axes:
            entries.append(place)
            continue
        axis = slices.sole_axis(scope, e)
        if stored.windows[dimension] is not None or axis in named:
            return None
        if axis is not None:
            if e.coefficient(axis) < 0:
                return None
            lower, n = scope.axes[axis]
            step, first = e.coefficient(axis), place.substitute({axis: lower})
            entries.append(Range(first, first + n * step, step))
            named.append(axis)
            continue
        pair = None if both is not None else _blocks(scope, e)
        if pair is None or set(pair) & set(named):
            return None
        both = pair
        lowers = {a: scope.axes[a][0] for a in pair}
        first = place.substitute(lowers)
        entries.append(Range(first, first + scope.length(pair[0]) * e.coefficient(pair[0])))
        named.extend(pair)
    if both is None or any(
        index[p].variables & set(scope.axes) for p in range(len(index)) if p not in stored.order
    ):
        return None
    return _shaped(scope, stored, entries, named, both)


def _blocks(scope: Scope, e: Expression) -> tuple[str, str] | None:
    """Return the axes of blocks and positions, if an index runs over all of every block."""
    axes = scope.ordered(e.variables)
    if len(axes) != 2:
        return None
    for block, position in (axes, axes[::-1]):
        size = e.coefficient(block)
        rest = e - variable(block) * size - variable(position)
        if size > 1 and e.coefficient(position) == 1 and scope.length(position) == size:
            return None if rest.variables & set(axes) else (block, position)
    return None


def _shaped(
    scope: Scope,
    stored: Stored,
    entries: list[Entry],
    named: list[str],
    both: tuple[str, str],
) -> Value:
    inner = symbolic(stored.array.shape)
    value = slices.whole_array(scope, stored)
    lengths = [_length(entry) for entry in entries if isinstance(entry, Range)]
    everything: list[Entry] = [*entries, *[WHOLE] * len(inner)]
    flat = scope.index(value, everything, (), (*lengths, *inner))
    at = named.index(both[0])
    joined = flat.layout.joined
    layout = Layout((*joined[:at], True, *joined[at:]), flat.layout.unit)
    counts = tuple(scope.length(a) for a in named)
    axes = tuple(named)
    shaped = scope.view(flat, Reshape((*counts, *inner)), axes, inner, layout)
    wanted = scope.ordered(axes)
    if wanted == axes:
        return shaped
    order = [axes.index(a) for a in wanted] + list(range(len(axes), shaped.rank))
    return scope.permuted(shaped, order, wanted, inner)


def _length(entry: Range) -> Expression:
    return (entry.stop - entry.start + (entry.step - 1)) // entry.step
