"""The meaning of operations on NumPy arrays, where that is not a single NumPy function.

They act on trailing axes: `rank` is the number of inner axes, and any number may come before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.program.operations.shapes import Shape


def contract(left: Any, right: Any, spec: str) -> Any:
    inputs, output = spec.split("->")
    a, b = inputs.split(",")
    return np.einsum(f"...{a},...{b}->...{output}", left, right)


def sliced(x: Any, axis: int, start: int, stop: int, step: int, rank: int) -> Any:
    bound = stop if stop >= 0 else None
    return x[(Ellipsis, slice(start, bound, step)) + (slice(None),) * (rank - axis - 1)]


def pad(x: Any, axis: int, before: int, after: int, rank: int) -> Any:
    widths = [(0, 0)] * x.ndim
    widths[axis - rank] = (before, after)
    return np.pad(x, widths)


def reshape(x: Any, shape: Shape, rank: int) -> Any:
    return x.reshape(x.shape[: x.ndim - rank] + tuple(shape))


def transpose(x: Any, axes: tuple[int, ...], rank: int) -> Any:
    lead = x.ndim - rank
    return x.transpose(tuple(range(lead)) + tuple(lead + a for a in axes))


def broadcast(x: Any, shape: Shape, rank: int) -> Any:
    lead, inner = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    ones = (1,) * (len(shape) - rank)
    return np.broadcast_to(x.reshape(lead + ones + inner), lead + tuple(shape))


def stack(*operands: Any, axis: int, rank: int) -> Any:
    return np.stack(operands, axis=axis - rank - 1)


def concatenate(*operands: Any, axis: int, rank: int) -> Any:
    return np.concatenate(operands, axis=axis - rank)


def take(x: Any, *indices: Any, rank: int) -> Any:
    """Take entries of the first inner axes of `x` at indices of one shape; leading axes agree."""
    return x[(*_points(x, rank, np.ndim(indices[0])), *indices)]


def put(table: Any, value: Any, *indices: Any, rank: int) -> Any:
    """Return the table with the entry at the indices replaced by a value."""
    result = table.copy()
    result[(*_points(table, rank), *indices)] = value
    return result


def add_at(table: Any, value: Any, *indices: Any, rank: int) -> Any:
    """Return the table with a value added to the entry at the indices."""
    result = table.copy()
    result[(*_points(table, rank), *indices)] += value
    return result


def _points(x: Any, rank: int, dims: int = 0) -> tuple[Any, ...]:
    """Return the positions along each leading axis, to index with arrays of at least so many dims
    that begin with those axes.
    """
    lead = x.shape[: x.ndim - rank]
    grids = np.ogrid[tuple(slice(n) for n in lead)] if lead else ()
    return tuple(p.reshape(p.shape + (1,) * (dims - len(lead))) for p in grids)


def one_hot(index: Any, size: int, dtype: Any = float) -> Any:
    return (index[..., None] == np.arange(size)).astype(dtype)


def orthogonalize(x: Any) -> Any:
    """Make the rows or columns (the fewer) of `x` orthonormal by QR, signs by R's diagonal."""
    tall = x.shape[-2] >= x.shape[-1]
    q, r = np.linalg.qr(x if tall else np.swapaxes(x, -1, -2))
    q = q * np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[..., None, :]
    return (q if tall else np.swapaxes(q, -1, -2)).astype(x.dtype)
