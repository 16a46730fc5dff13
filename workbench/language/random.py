"""Random draws: statements without inputs whose value depends on the seed, the statement and the
instance.
"""

from __future__ import annotations

from typing import Any

from workbench.errors import ProgramError
from workbench.language.indexing import read
from workbench.language.tensor import Tensor, TensorLike, as_tensor, record
from workbench.language.trace import current, dim_names, user_line
from workbench.polyhedral.expression import Expression, ExpressionLike
from workbench.program.values import Shape


def uniform(
    low: TensorLike = 0.0, high: TensorLike = 1.0, shape: Any = (), over: Any = ()
) -> Tensor:
    """Independent draws from [low, high), one per instance of the dims `over` and inner element.

    The underlying draw is (32-bit word >> 8) * 2**-24, so it is the same in every dtype.
    """
    draw = draws("uniform", _shape(shape), dim_names(over) if over != () else ())
    low, high = as_tensor(low), as_tensor(high)
    return low + (high - low) * draw


def normal(
    mean: TensorLike = 0.0, std: TensorLike = 1.0, shape: Any = (), over: Any = ()
) -> Tensor:
    """Independent normal draws, one per instance of the dims `over` and inner element."""
    draw = draws("normal", _shape(shape), dim_names(over) if over != () else ())
    return as_tensor(mean) + as_tensor(std) * draw


def draws(kind: str, shape: Shape, dims: tuple[str, ...]) -> Tensor:
    """A standard draw of `kind` over dims given by name."""
    trace = current()
    for d in dims:
        if trace.range(d).axis is not None:
            raise ProgramError("random draws over a range axis are not possible", user_line())
    return record(
        trace,
        operation=kind,
        operands=(),
        dims=trace.ordered(set(dims)),
        shape=shape,
        dtype="int32" if kind == "permutation" else "float",
        options={"shape": shape},
    )


class Permutation:
    """A random order of `0 … size - 1` per instance; `permutation[n]` is its n-th entry."""

    def __init__(self, size: ExpressionLike, over: tuple[str, ...]) -> None:
        self.tensor = draws("permutation", (size,), over)

    def __getitem__(self, key: Any) -> Tensor:
        return read(self.tensor, (Ellipsis, as_tensor(key)))


def permutation(size: ExpressionLike, over: Any = ()) -> Permutation:
    """A random permutation of `size` samples per instance of `over`: the stable argsort of random
    words.
    """
    if not isinstance(size, (int, Expression)):
        raise ProgramError(f"the size of a permutation is {size!r}; expected a size", user_line())
    return Permutation(size, dim_names(over) if over != () else ())


def _shape(shape: Any) -> Shape:
    return (shape,) if isinstance(shape, (int, Expression)) else tuple(shape)
