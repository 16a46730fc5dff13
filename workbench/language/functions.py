"""Functions of tensors: elementwise, choices, structure, contractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import ProgramError
from workbench.language.nodes import apply, as_tensor, dtype_name
from workbench.language.nodes import cast as cast_tensor
from workbench.language.tensor import Tensor, TensorLike
from workbench.language.trace import user_line
from workbench.polyhedral import expression as affine
from workbench.polyhedral.expression import Expression
from workbench.program.operation_shapes import broadcast_shapes
from workbench.program.values import Shape


def exp(x: TensorLike) -> Tensor:
    """Elementwise e**x."""
    return apply("exp", x)


def log(x: TensorLike) -> Tensor:
    """Elementwise natural logarithm."""
    return apply("log", x)


def log1p(x: TensorLike) -> Tensor:
    """Elementwise log(1 + x)."""
    return apply("log1p", x)


def sqrt(x: TensorLike) -> Tensor:
    """Elementwise square root."""
    return apply("sqrt", x)


def tanh(x: TensorLike) -> Tensor:
    """Elementwise hyperbolic tangent."""
    return apply("tanh", x)


def sin(x: TensorLike) -> Tensor:
    """Elementwise sine of radians."""
    return apply("sin", x)


def cos(x: TensorLike) -> Tensor:
    """Elementwise cosine of radians."""
    return apply("cos", x)


def floor(x: TensorLike) -> Tensor:
    """Elementwise floor; constant to `gradient`."""
    return apply("floor", x)


def sign(x: TensorLike) -> Tensor:
    """Elementwise sign; constant to `gradient`."""
    return apply("sign", x)


def absolute(x: TensorLike) -> Tensor:
    """Elementwise |x|."""
    return apply("absolute", x)


def isfinite(x: TensorLike) -> Tensor:
    """Elementwise: neither infinite nor NaN."""
    return apply("isfinite", x)


def relu(x: TensorLike) -> Tensor:
    """Elementwise max(x, 0)."""
    return apply("maximum", x, 0.0)


def sigmoid(x: TensorLike) -> Tensor:
    """Elementwise logistic function, as (1 + tanh(x / 2)) / 2, which cannot overflow."""
    return apply("tanh", as_tensor(x) * 0.5) * 0.5 + 0.5


def minimum(x: Any, y: Any) -> Any:
    """Elementwise minimum; of two index expressions again an index expression (`t:wb.minimum(t + n,
    T)`).
    """
    if _indices(x, y):
        return affine.minimum(x, y)
    return apply("minimum", x, y)


def maximum(x: Any, y: Any) -> Any:
    """Elementwise maximum; of two index expressions again an index expression."""
    if _indices(x, y):
        return affine.maximum(x, y)
    return apply("maximum", x, y)


def _indices(x: Any, y: Any) -> bool:
    kinds = (int, Expression)
    return isinstance(x, kinds) and isinstance(y, kinds) and Expression in (type(x), type(y))


def clip(x: TensorLike, low: TensorLike, high: TensorLike) -> Tensor:
    """Elementwise min(max(x, low), high); where x equals a bound the gradient goes to x."""
    return apply("minimum", apply("maximum", x, low), high)


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Elementwise `x` where the condition holds, else `y`. Both are evaluated, and so are both
    derivatives: of `where(x > 0, log(x), 0)` that at x = 0 is 0 / 0.
    """
    return apply("where", condition, x, y)


def cast(x: TensorLike, dtype: Any) -> Tensor:
    """`x` with another dtype: float, int, bool or a dtype's name."""
    return cast_tensor(as_tensor(x), dtype_name(dtype, "dtype"))


def stop_gradient(x: TensorLike) -> Tensor:
    """`x`, constant to `gradient`."""
    return apply("stop_gradient", x)


def contract(spec: str, x: TensorLike, y: TensorLike) -> Tensor:
    """Einstein summation over inner axes of two tensors: `wb.contract("f,fg->g", x, w)`."""
    x, y = cast_tensor(as_tensor(x), "float"), cast_tensor(as_tensor(y), "float")
    return apply("contract", x, y, spec=spec.replace(" ", ""))


def reshape(x: TensorLike, shape: Shape) -> Tensor:
    """The inner shape rearranged, row by row."""
    return apply("reshape", x, shape=tuple(shape))


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """Inner axes permuted (reversed by default)."""
    x = as_tensor(x)
    return apply(
        "transpose", x, axes=tuple(axes if axes is not None else range(len(x.shape))[::-1])
    )


def broadcast_to(x: TensorLike, shape: Shape) -> Tensor:
    """The inner shape widened as NumPy does."""
    x = as_tensor(x)
    if broadcast_shapes([x.shape, tuple(shape)]) != tuple(shape):
        raise ProgramError(f"{x!r} does not broadcast to {tuple(shape)}", user_line())
    return x if x.shape == tuple(shape) else apply("broadcast", x, shape=tuple(shape))


def stack(xs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors of one inner shape along a new inner axis."""
    return _joined("stack", xs, axis)


def concatenate(xs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors joined along an inner axis."""
    return _joined("concatenate", xs, axis)


def _joined(name: str, xs: Sequence[TensorLike], axis: int) -> Tensor:
    tensors = [as_tensor(x) for x in xs]
    if not tensors:
        raise ProgramError(f"{name} of no tensors", user_line())
    kinds = {x.dtype for x in tensors}
    if len(kinds) > 1:
        target = "float" if "float" in kinds else "int32"
        tensors = [cast_tensor(x, target) for x in tensors]
    rank = len(tensors[0].shape) + (name == "stack")
    return apply(name, *tensors, axis=_axis(tensors[0], axis, rank))


def unstack(x: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The entries along an inner axis: `position, velocity = wb.unstack(state)`."""
    x = as_tensor(x)
    axis = _axis(x, axis, len(x.shape))
    count = x.shape[axis]
    if not isinstance(count, int):
        raise ProgramError(f"inner axis {axis} of {x!r} has the symbolic size {count}", user_line())
    rest = (slice(None),) * (len(x.shape) - 1 - axis)
    return tuple(x[(..., n, *rest)] for n in range(count))


def one_hot(index: TensorLike, size: int) -> Tensor:
    """1.0 at the position `index` of a new last axis of the given size, else 0.0."""
    return apply("one_hot", index, size=size)


def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """Running sum along an inner axis."""
    x = as_tensor(x)
    return apply("cumsum", x, axis=_axis(x, axis, len(x.shape)))


def _axis(x: Tensor, axis: int, rank: int) -> int:
    """The axis counted from the front, one of `rank`."""
    if not -rank <= axis < rank:
        raise ProgramError(f"{x!r} has no inner axis {axis}", user_line())
    return axis % rank


def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """x - log(sum(exp(x))) along an inner axis, computed after subtracting the maximum: -inf where
    x is, and NaN where all of x is -inf.
    """
    x = as_tensor(x)
    axis = _axis(x, axis, len(x.shape))
    return log_normalized(x, x.max(axis=axis), axis)


def log_normalized(x: Tensor, highest: Tensor, axis: int) -> Tensor:
    """`log_softmax`, given the maximum."""
    ones = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    shifted = x - reshape(stop_gradient(highest), ones)
    return shifted - reshape(log(exp(shifted).sum(axis=axis)), ones)


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """exp(log_softmax(x))."""
    return exp(log_softmax(x, axis))
