"""The table of functions that generated source calls: an array module's, and a few of our own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from workbench.backends import philox
from workbench.lowering.functions import FUNCTIONS
from workbench.program.operations.table import OPERATIONS

Functions = dict[str, Any]


def functions_of(xp: Any, ours: Mapping[str, Any] | None = None) -> Functions:
    """Return the table of functions that generated source calls, over an array module. `ours` are
    functions in which it differs.
    """
    table: Functions = {
        row.name: attrgetter(row.path)(xp) for row in FUNCTIONS.values() if row.path
    }
    evaluated = {f.name: partial(_evaluated, f.name) for f in FUNCTIONS.values() if f.evaluated}
    return {**table, "broadcast_to": xp.broadcast_to, **evaluated, **_OURS, **(ours or {})}


def _copy(x: Any, out: Any) -> None:
    """Copy between the spaces: both are the same machine's memory here."""
    out[...] = x


def _evaluated(operation: str, *arguments: Any, **options: Any) -> None:
    """Apply an operation's meaning to the operands, which come before the result."""
    *operands, out = arguments
    evaluate = OPERATIONS[operation].evaluate
    assert evaluate is not None
    out[...] = evaluate(*operands, **options)


def segment_add(out: Any, value: Any, indices: Sequence[Any], lower: Sequence[int]) -> None:
    """Write out[index] = sum of the values with that index, in order; `out` is contiguous."""
    places: Any = None
    inside: Any = True
    for index, low, n in zip(indices, lower, out.shape, strict=False):
        place = index.reshape(-1) - low
        inside = inside & (place >= 0) & (place < n)
        places = place if places is None else places * n + place
    inner = math.prod(out.shape[len(indices) :])
    rows = value.reshape(len(inside), inner)
    if not inside.all():
        places, rows = places[inside], rows[inside]
    if inner > 1:
        places = (places[:, None] * inner + np.arange(inner)).reshape(-1)
    out[...] = 0
    np.add.at(out.reshape(-1), places, rows.reshape(-1))


def put(table: Any, entries: Any, values: Any) -> None:
    """Replace entries of a table, which differ."""
    table[entries] = values


def add_at(table: Any, entries: Any, values: Any) -> None:
    """Add to entries of a table, which differ."""
    table[entries] += values


def sum_inside(spec: str, out: Any, mask: Any, *operands: Any) -> None:
    """Compute sums of `out` that are not finite again, over the masked points only.

    The sum is of the operands' product. `spec` is einsum's, of mask and operands.
    """
    if np.isfinite(np.add.reduce(out, axis=None)):
        return
    inputs, result = spec.split("->")
    inside, *letters = inputs.split(",")
    kept = [x for x in inside if x in result]
    gone = [x for x in inside if x not in result]
    sizes = dict(zip(inside, mask.shape, strict=True))
    for place in itertools.product(*(range(sizes[x]) for x in kept)):
        here = dict(zip(kept, place, strict=True))
        target, left = _at(out, result, here)
        if np.isfinite(np.add.reduce(target, axis=None)):
            continue
        chosen, _ = _at(mask, inside, here)
        points = dict(zip(gone, np.nonzero(chosen), strict=True))
        ones = np.ones(np.count_nonzero(chosen), out.dtype)
        terms = [(ones, _POINT), *map(partial(_picked, here, points), operands, letters)]
        seen = "".join(x for x in left if any(x in own for _, own in terms))
        inner = ",".join(own for _, own in terms)
        sums = np.einsum(f"{inner}->{seen}", *(term for term, _ in terms))
        target[...] = sums[tuple(slice(None) if x in seen else None for x in left)]


_POINT = "P"
"""The letter of an axis of points; those of a spec are small."""


def _at(array: Any, letters: str, here: Mapping[str, int]) -> tuple[Any, str]:
    """Return a view at some positions, and the letters that are left."""
    index = tuple(here.get(x, slice(None)) for x in letters)
    return array[(*index, ...)], "".join(x for x in letters if x not in here)


def _picked(
    here: Mapping[str, int], points: Mapping[str, Any], array: Any, letters: str
) -> tuple[Any, str]:
    """Return an array at some positions and points, and its letters then."""
    array, left = _at(array, letters, here)
    along = [x for x in left if x in points]
    if not along:
        return array, left
    rest = "".join(x for x in left if x not in points)
    array = array.transpose([left.index(x) for x in (*along, *rest)])
    return array[tuple(points[x] for x in along)], _POINT + rest


_OURS: Functions = {
    "random": philox.fill,
    "put": put,
    "add_at": add_at,
    "segment_add": segment_add,
    "sum_inside": sum_inside,
    "to_device": _copy,
    "to_host": _copy,
}
"""The functions that no array module has."""
