"""Gradient rules of operations: each returns an adjoint per input, None where there is none.

They use the operators of their values (the language's tensors) and a function `do(name, *arguments,
**options)` that applies a row of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import ProgramError
from workbench.program.operations.shapes import Shape

GradientRule = Callable[..., tuple[Any, ...]]


def of_multiply(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    return g * xs[1], g * xs[0]


def of_divide(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    share = g / xs[1]
    return share, -share * y


def of_power(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    base, exponent = xs
    return g * exponent * do("power", base, exponent - 1.0), g * y * do("log", base)


def of_extremum(comparison: str) -> GradientRule:
    def rule(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
        first = do(comparison, xs[0], xs[1])
        return do("where", first, g, 0.0), do("where", first, 0.0, g)

    return rule


def of_trigamma(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    raise ProgramError(
        "gradient of trigamma, the second derivative of lgamma: there is no third one in the table"
    )


def of_where(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    return None, do("where", xs[0], g, 0.0), do("where", xs[0], 0.0, g)


def of_contract(do: Any, xs: Any, y: Any, g: Any, spec: str) -> tuple[Any, ...]:
    inputs, output = spec.split("->")
    a, b = inputs.split(",")
    return (
        _contract_onto(do, g, output, xs[1], b, a),
        _contract_onto(do, g, output, xs[0], a, b),
    )


def _contract_onto(do: Any, g: Any, out: str, other: Any, letters: str, target: str) -> Any:
    """Sum g * other over the letters that the target lacks.

    Every target letter is in g or other.
    """
    return do("contract", g, other, spec=f"{out},{letters}->{target}")


def of_sum(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    return (do("broadcast", _with_axis(do, g, axis), shape=xs[0].shape),)


def _with_axis(do: Any, x: Any, axis: int) -> Any:
    return do("reshape", x, shape=(*x.shape[:axis], 1, *x.shape[axis:]))


def of_max(position: str) -> GradientRule:
    def rule(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
        x = xs[0]
        hot = do("one_hot", do(position, x, axis=axis), size=x.shape[axis])
        order = list(range(len(x.shape) - 1))
        order.insert(axis, len(x.shape) - 1)
        return (do("transpose", hot, axes=tuple(order)) * _with_axis(do, g, axis),)

    return rule


def of_cumsum(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    n = xs[0].shape[axis]
    back = {"axis": axis, "start": n - 1, "stop": -1, "step": -1}
    return (do("slice", do("cumsum", do("slice", g, **back), axis=axis), **back),)


def of_slice(
    do: Any, xs: Any, y: Any, g: Any, axis: int, start: int, stop: int, step: int
) -> tuple[Any, ...]:
    n = xs[0].shape[axis]
    chosen = range(start, stop, step)
    if step == -1:
        g = do("slice", g, axis=axis, start=len(chosen) - 1, stop=-1, step=-1)
        chosen = chosen[::-1]
    elif step != 1:
        raise ProgramError("gradient of a slice with a step other than 1 or -1")
    return (do("pad", g, axis=axis, before=chosen.start, after=n - chosen.stop),)


def of_pad(do: Any, xs: Any, y: Any, g: Any, axis: int, before: int, after: int) -> tuple[Any, ...]:
    n = xs[0].shape[axis]
    return (do("slice", g, axis=axis, start=before, stop=before + n, step=1),)


def of_stack(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    rows = (do("slice", g, axis=axis, start=k, stop=k + 1, step=1) for k in range(len(xs)))
    return tuple(do("reshape", row, shape=x.shape) for row, x in zip(rows, xs, strict=True))


def of_concatenate(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    parts, start = [], 0
    for x in xs:
        stop = start + x.shape[axis]
        parts.append(do("slice", g, axis=axis, start=start, stop=stop, step=1))
        start = stop
    return tuple(parts)


def of_transpose(do: Any, xs: Any, y: Any, g: Any, axes: tuple[int, ...]) -> tuple[Any, ...]:
    inverse = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return (do("transpose", g, axes=inverse),)


def of_broadcast(do: Any, xs: Any, y: Any, g: Any, shape: Shape) -> tuple[Any, ...]:
    return (g,)  # the language sums an adjoint over broadcast axes for every row


def of_take(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    x, *indices = xs
    none = (None,) * len(indices)
    if len(indices) > 1 and not indices[0].shape:  # an entry of a table, not a product of all
        return do("add_at", do("broadcast", 0.0, shape=x.shape), g, *indices), *none
    lead, rest = x.shape[: len(indices)], x.shape[len(indices) :]
    rows, row = lead[0], indices[0]
    for n, index in zip(lead[1:], indices[1:], strict=True):
        rows, row = rows * n, row * n + index
    hot = do("one_hot", row, size=rows)
    s = "abcdefgh"[: len(row.shape)]
    r = "ijklmnop"[: len(rest)]
    flat = do("contract", hot, g, spec=f"{s}z,{s}{r}->z{r}")
    return flat if len(indices) == 1 else do("reshape", flat, shape=x.shape), *none


def of_put(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    _, value, *indices = xs
    nothing = do("broadcast", 0.0, shape=value.shape) if value.shape else 0.0
    return do("put", g, nothing, *indices), do("take", g, *indices), *[None] * len(indices)


def of_add_at(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    _, _, *indices = xs
    return g, do("take", g, *indices), *[None] * len(indices)


def of_solve(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    """Giles 2008, "Collected matrix derivative results for forward and reverse mode AD", 2.3.1."""
    lead, back = _matrices(do, xs[0])
    right = do("solve", back, g)
    return -do("contract", right, y, spec=f"{lead}ik,{lead}jk->{lead}ij"), right


def of_cholesky(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    """Murray 2016, "Differentiation of the Cholesky decomposition" (arXiv 1602.07527), eq. 10."""
    n = y.shape[-1]
    lower = np.tril(np.ones((n, n))) - 0.5 * np.eye(n)
    lead, back = _matrices(do, y)
    product = do("contract", y, g, spec=f"{lead}ki,{lead}kj->{lead}ij") * lower
    half = do("solve", back, product + _matrices(do, product)[1])
    return (do("solve", back, _matrices(do, half)[1]) * lower,)


def _matrices(do: Any, x: Any) -> tuple[str, Any]:
    """Return the letters of the axes in front of matrices, and the matrices transposed."""
    rank = len(x.shape)
    turned = do("transpose", x, axes=(*range(rank - 2), rank - 1, rank - 2))
    return "abcdefgh"[: rank - 2], turned
