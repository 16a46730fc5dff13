"""The table of functions that generated source calls: an array module's, and a few of our own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.backends import philox
from workbench.program.operations import OPERATIONS

Functions = dict[str, Any]


def functions_of(xp: Any) -> Functions:
    """The table of functions that generated source calls, over an array module."""
    names = {row.ufunc for row in OPERATIONS.values() if row.ufunc}
    found: Functions = {name: getattr(xp, name) for name in names}
    for name in ("add", "maximum", "minimum", "logical_or"):
        found[f"{name}.reduce"] = getattr(getattr(xp, name), "reduce", None)
    found["add.accumulate"] = getattr(xp.add, "accumulate", None)
    for name in ("copyto", "dot", "matmul", "broadcast_to"):
        found[name] = getattr(xp, name)
    for name in ("take", "argmax", "argmin"):
        found[name] = getattr(xp.ndarray, name)
    found["random"] = philox.fill
    found["orthogonalize"] = _orthogonalize
    found["segment_add"] = segment_add
    found["to_device"] = found["to_host"] = _copy
    return found


def _copy(x: Any, out: Any) -> None:
    """Both spaces are the same machine's memory here."""
    out[...] = x


def _orthogonalize(x: Any, out: Any) -> None:
    evaluate = OPERATIONS["orthogonalize"].evaluate
    assert evaluate is not None
    out[...] = evaluate(x)


def segment_add(out: Any, value: Any, indices: Sequence[Any], lower: Sequence[int]) -> None:
    """out[index] = sum of the values with that index, added in order; `out` is contiguous."""
    places: Any = None
    inside: Any = True
    for index, low, n in zip(indices, lower, out.shape, strict=False):
        place = index.reshape(-1) - low
        inside = inside & (place >= 0) & (place < n)
        places = place if places is None else places * n + place
    count = math.prod(out.shape[: len(indices)])
    rows, inner = value.reshape(len(inside), -1), out.size // max(count, 1)
    if not inside.all():
        places, rows = places[inside], rows[inside]
    if inner > 1:
        places = (places[:, None] * inner + np.arange(inner)).reshape(-1)
    out[...] = 0
    np.add.at(out.reshape(-1), places, rows.reshape(-1))
