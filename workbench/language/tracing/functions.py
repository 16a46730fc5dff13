"""Functions of tensors: elementwise, choices, structure, contractions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from workbench.errors import ProgramError
from workbench.language.tracing.given_shapes import (
    axis_of,
    count_of,
    index_of,
    length_of,
    shape_of,
)
from workbench.language.tracing.nodes import apply, as_tensor, dtype_name
from workbench.language.tracing.nodes import cast as cast_tensor
from workbench.language.tracing.tensor import RANGE, Tensor, TensorLike
from workbench.language.tracing.trace import current, user_line
from workbench.polyhedral import expression as affine
from workbench.polyhedral.expression import Expression, whole
from workbench.program.operations.dtypes import promote
from workbench.program.operations.shapes import broadcast_shapes, shape_text


def exp(x: TensorLike) -> Tensor:
    """Return e**x, elementwise."""
    return apply("exp", x)


def log(x: TensorLike) -> Tensor:
    """Return the natural logarithm, elementwise."""
    return apply("log", x)


def log1p(x: TensorLike) -> Tensor:
    """Return log(1 + x), elementwise."""
    return apply("log1p", x)


def sqrt(x: TensorLike) -> Tensor:
    """Return the square root, elementwise."""
    return apply("sqrt", x)


def tanh(x: TensorLike) -> Tensor:
    """Return the hyperbolic tangent, elementwise."""
    return apply("tanh", x)


def sin(x: TensorLike) -> Tensor:
    """Return the sine of radians, elementwise."""
    return apply("sin", x)


def cos(x: TensorLike) -> Tensor:
    """Return the cosine of radians, elementwise."""
    return apply("cos", x)


def lgamma(x: TensorLike) -> Tensor:
    """Return the logarithm of the gamma function of positive numbers, elementwise: NaN below 0."""
    return apply("lgamma", x)


def digamma(x: TensorLike) -> Tensor:
    """Return the derivative of `lgamma`, elementwise; of its own derivative there is none."""
    return apply("digamma", x)


def floor(x: TensorLike) -> Tensor:
    """Return the floor, elementwise; constant to `gradient`."""
    return apply("floor", x)


def sign(x: TensorLike) -> Tensor:
    """Return the sign, elementwise; constant to `gradient`."""
    return apply("sign", x)


def absolute(x: TensorLike) -> Tensor:
    """Return |x|, elementwise."""
    return apply("absolute", x)


def isfinite(x: TensorLike) -> Tensor:
    """Tell, elementwise, whether x is neither infinite nor NaN."""
    return apply("isfinite", x)


def relu(x: TensorLike) -> Tensor:
    """Return max(x, 0), elementwise."""
    return apply("maximum", x, 0.0)


def sigmoid(x: TensorLike) -> Tensor:
    """Return the logistic function, elementwise: (1 + tanh(x / 2)) / 2, which cannot overflow."""
    return apply("tanh", as_tensor(x) * 0.5) * 0.5 + 0.5


def softplus(x: TensorLike) -> Tensor:
    """Return log(1 + exp(x)), elementwise, which cannot overflow; its derivative is the logistic
    function, at 0 too.
    """
    x = as_tensor(x)
    return apply("maximum", 0.0, x) + log1p(exp(apply("minimum", x, -x)))


def minimum(x: Any, y: Any) -> Any:
    """Return the elementwise minimum; of two index expressions again an index expression
    (`t:wb.minimum(t + n, T)`).
    """
    if _indices(x, y):
        return affine.minimum(x, y)
    return apply("minimum", x, y)


def maximum(x: Any, y: Any) -> Any:
    """Return the elementwise maximum; of two index expressions again an index expression."""
    if _indices(x, y):
        return affine.maximum(x, y)
    return apply("maximum", x, y)


def _indices(x: Any, y: Any) -> bool:
    return Expression in (type(x), type(y)) and None not in (index_of(x), index_of(y))


def clip(x: TensorLike, low: TensorLike, high: TensorLike) -> Tensor:
    """Return min(max(x, low), high), elementwise; where x equals a bound the gradient goes to x."""
    return apply("minimum", apply("maximum", x, low), high)


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Return `x` where the condition holds, else `y`, elementwise. Both are evaluated, and so are
    both derivatives: of `where(x > 0, log(x), 0)` that at x = 0 is 0 / 0.
    """
    return apply("where", condition, x, y)


def cast(x: TensorLike, dtype: Any) -> Tensor:
    """Convert `x` to another dtype: float, bool, int (int32) or a dtype's name ("int64").

    Integers are two's complement in their dtype: numbers past 2**31 in int32 wrap around, so cast
    to "int64" before they grow as large. A float is cut off towards zero.
    """
    return cast_tensor(as_tensor(x), dtype_name(dtype, "dtype"))


def stop_gradient(x: TensorLike) -> Tensor:
    """Return `x`, constant to `gradient`."""
    return apply("stop_gradient", x)


_SPEC = r"[a-zA-Z]*,[a-zA-Z]*->[a-zA-Z]*"


def contract(spec: Any, x: TensorLike, y: TensorLike) -> Tensor:
    """Sum by Einstein's convention over inner axes of two tensors: `wb.contract("f,fg->g", x,
    w)`.
    """
    if not isinstance(spec, str) or not re.fullmatch(_SPEC, spec.replace(" ", "")):
        raise ProgramError(
            f'contract by {spec!r}; expected a letter for each inner axis, as in "f,fg->g"',
            user_line(),
        )
    x, y = cast_tensor(as_tensor(x), "float"), cast_tensor(as_tensor(y), "float")
    return apply("contract", x, y, spec=spec.replace(" ", ""))


def reshape(x: TensorLike, shape: Any) -> Tensor:
    """Rearrange the inner shape, row by row; one entry may be -1: the rest of the elements."""
    x, wanted = as_tensor(x), (shape,) if whole(shape) is not None else shape
    if isinstance(wanted, Sequence) and [whole(n) for n in wanted].count(-1) == 1:
        wanted = _filled(x, wanted)
    return apply("reshape", x, shape=shape_of(wanted, "the shape of a reshape"))


def _filled(x: Tensor, shape: Sequence[Any]) -> tuple[Any, ...]:
    """Return a shape with its -1 filled in; 0 where no number fits, which is refused later."""
    others = math.prod(n for n in shape if whole(n) != -1)
    count = math.prod(x.shape)
    known = isinstance(others, int) and isinstance(count, int)
    missing = count // others if known and others else 0
    return tuple(missing if whole(n) == -1 else n for n in shape)


def transpose(x: TensorLike, axes: Any = None) -> Tensor:
    """Permute inner axes (reversed by default)."""
    x = as_tensor(x)
    rank = len(x.shape)
    if axes is None:
        return apply("transpose", x, axes=tuple(range(rank))[::-1])
    given = tuple(axes) if isinstance(axes, Sequence) else (axes,)
    order = tuple(axis_of(x, axis) for axis in given)
    if sorted(order) != list(range(rank)):
        raise ProgramError(
            f"axes {axes!r} of {x!r}; expected each of its {rank} inner axes once", user_line()
        )
    return apply("transpose", x, axes=order)


def broadcast_to(x: TensorLike, shape: Any) -> Tensor:
    """Widen the inner shape as NumPy does."""
    x, shape = as_tensor(x), shape_of(shape)
    try:
        fits = broadcast_shapes([x.shape, shape]) == shape
    except ProgramError:
        fits = False
    if not fits:
        raise ProgramError(f"{x!r} does not broadcast to {shape_text(shape)}", user_line())
    return x if x.shape == shape else apply("broadcast", x, shape=shape)


def stack(xs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Stack tensors of one inner shape along a new inner axis."""
    return _joined("stack", xs, axis)


def concatenate(xs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Join tensors along an inner axis."""
    return _joined("concatenate", xs, axis)


def _joined(name: str, xs: Sequence[TensorLike], axis: int) -> Tensor:
    if isinstance(xs, Tensor):
        raise ProgramError(f"{name} of the one tensor {xs!r}; expected a list of them", user_line())
    tensors = [as_tensor(x) for x in xs]
    if not tensors:
        raise ProgramError(f"{name} of no tensors", user_line())
    target = promote([x.dtype for x in tensors])
    tensors = [cast_tensor(x, target) for x in tensors]
    rank = len(tensors[0].shape) + (name == "stack")
    return apply(name, *tensors, axis=axis_of(tensors[0], axis, rank))


def unstack(x: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the entries along an inner axis: `position, velocity = wb.unstack(state)`."""
    x = as_tensor(x)
    axis = axis_of(x, axis)
    count = count_of(x, axis)
    rest = (slice(None),) * (len(x.shape) - 1 - axis)
    return tuple(x[(..., n, *rest)] for n in range(count))


def one_hot(index: TensorLike, size: int) -> Tensor:
    """Return 1.0 at the position `index` (integers) of a new last axis of that size, else 0.0."""
    index, count = as_tensor(index), length_of(size, "the size of a one_hot")
    if isinstance(count, Expression):
        raise ProgramError(
            f"one_hot of the symbolic size {count}; expected a whole number", user_line()
        )
    return apply("one_hot", index, size=count)


def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """Return the running sum along an inner axis."""
    x = as_tensor(x)
    return apply("cumsum", x, axis=axis_of(x, axis))


def log_softmax(x: TensorLike, axis: int | str | None = None) -> Tensor:
    """Return x - log(sum(exp(x))) along an inner axis, computed after subtracting the maximum: -inf
    where x is, and NaN where all of x is -inf.

    `axis` is the last inner axis unless given; "range" means the range axes, as of x[b, t:T], and
    is the axis of a scalar that has some.
    """
    x = as_tensor(x)
    if axis == RANGE or (axis is None and not x.shape and _has_range(x)):
        shifted = x - stop_gradient(x.max(over=RANGE))
        return shifted - log(exp(shifted).sum(over=RANGE))
    position = axis_of(x, -1 if axis is None else axis)
    return log_normalized(x, x.max(axis=position), position)


def _has_range(x: Tensor) -> bool:
    return any(current().dims[d].axis is not None for d in x.dims)


def log_normalized(x: Tensor, highest: Tensor, axis: int) -> Tensor:
    """Return `log_softmax`, given the maximum."""
    ones = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    shifted = x - reshape(stop_gradient(highest), ones)
    return shifted - reshape(log(exp(shifted).sum(axis=axis)), ones)


def softmax(x: TensorLike, axis: int | str | None = None) -> Tensor:
    """Return exp(log_softmax(x)), along the same axis."""
    return exp(log_softmax(x, axis))
