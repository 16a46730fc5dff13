"""Random draws: statements without inputs, valued by the seed, the statement and the instance."""

from __future__ import annotations

from typing import Any, NoReturn

from workbench.errors import ProgramError
from workbench.language.tracing.given_shapes import length_of, shape_of
from workbench.language.tracing.indexing import read
from workbench.language.tracing.nodes import as_tensor, record
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import current, dim_names, user_line
from workbench.polyhedral.expression import Expression, ExpressionLike
from workbench.program.bodies import Shape


def uniform(
    low: TensorLike = 0.0, high: TensorLike = 1.0, *, shape: Any = (), over: Any = ()
) -> Tensor:
    """Draw independently from [low, high): one value per instance of `over` and inner element.

    `low` and `high` are numbers or tensors of any dims; `shape` is the inner shape (an int means
    one axis), `over` one dim or a tuple of dims. Along other dims the draw is the same: without
    `over` there is a single one. The underlying draw is (32-bit word >> 8) * 2**-24, so it is the
    same in every dtype. Raises ProgramError for numbers of which `low` is above `high`, and for a
    tuple in their place, which is where NumPy has the shape.
    """
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        raise ProgramError(
            f"wb.uniform draws from low to high, found low={low!r} and high={high!r}", user_line()
        )
    low, high = _given("low", low), _given("high", high)
    draw = draws("uniform", shape_of(shape), dim_names(over) if over != () else ())
    return low + (high - low) * draw


def normal(
    mean: TensorLike = 0.0, std: TensorLike = 1.0, *, shape: Any = (), over: Any = ()
) -> Tensor:
    """Draw independently from a normal: one value per instance of `over` and inner element.

    `mean` and `std` (the standard deviation) are numbers or tensors of any dims; `shape` is the
    inner shape (an int means one axis), `over` one dim or a tuple of dims. Along other dims the
    draw is the same: without `over` there is a single one. Raises ProgramError for a number below 0
    as `std`, and for a tuple in place of `mean` or `std`.
    """
    if isinstance(std, int | float) and std < 0:
        raise ProgramError(
            f"wb.normal has a standard deviation of at least 0, found std={std!r}", user_line()
        )
    mean, std = _given("mean", mean), _given("std", std)
    draw = draws("normal", shape_of(shape), dim_names(over) if over != () else ())
    return mean + std * draw


def _given(what: str, value: TensorLike) -> Tensor:
    if isinstance(value, tuple):  # where NumPy and JAX have the shape
        raise ProgramError(
            f"{what} is {value!r}, a tuple; expected a number or a tensor: a shape is given by its "
            f"name, shape={value!r}",
            user_line(),
        )
    parameter = as_tensor(value)
    if 0 in parameter.shape:
        raise ProgramError(
            f"{what}={value!r} is empty; expected numbers (the inner shape is given by shape=)",
            user_line(),
        )
    return parameter


def draws(kind: str, shape: Shape, dims: tuple[str, ...]) -> Tensor:
    """Return a standard draw of `kind` over dims given by name."""
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

    def __init__(self, size: int | Expression, over: tuple[str, ...]) -> None:
        self.size = size
        self.tensor = draws("permutation", (size,), over)

    def __getitem__(self, key: Any) -> Tensor:
        if isinstance(key, (tuple, slice)):
            raise ProgramError(
                f"a permutation takes one index, of its {self.size} entries, found {key!r}; the "
                "dims of over= are the instance's own",
                user_line(),
            )
        return read(self.tensor, (Ellipsis, as_tensor(key)))

    def __iter__(self) -> NoReturn:
        raise ProgramError(
            f"a permutation of {self.size} cannot be iterated; its n-th entry is permutation[n]",
            user_line(),
        )

    def _refused(self, *_: object) -> NoReturn:
        raise ProgramError(
            f"a permutation of {self.size} is no tensor; its n-th entry is permutation[n]",
            user_line(),
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _refused
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __len__ = __bool__ = _refused


def permutation(size: ExpressionLike, over: Any = ()) -> Permutation:
    """Return a random permutation of `size` samples per instance of `over` (one dim or a tuple of
    dims): the stable argsort of random words.
    """
    length = length_of(size, "the size of a permutation")
    if length == 0:
        raise ProgramError("the size of a permutation is 0; expected at least 1", user_line())
    return Permutation(length, dim_names(over) if over != () else ())
