"""The operators of tensors: each applies the operation of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.language.tensor import Tensor, TensorLike


class Operators:
    """`x + y`, `-x`, `x < y` and the like, elementwise as in NumPy, and `@`."""

    __slots__ = ()

    def __neg__(self) -> Tensor:
        return apply("negative", self)

    def __abs__(self) -> Tensor:
        return apply("absolute", self)

    def __invert__(self) -> Tensor:
        return apply("logical_not", self)

    def __add__(self, other: TensorLike) -> Tensor:
        return apply("add", self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return apply("add", other, self)

    def __sub__(self, other: TensorLike) -> Tensor:
        return apply("subtract", self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return apply("subtract", other, self)

    def __mul__(self, other: TensorLike) -> Tensor:
        return apply("multiply", self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return apply("multiply", other, self)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return apply("divide", self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return apply("divide", other, self)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return apply("floor_divide", self, other)

    def __mod__(self, other: TensorLike) -> Tensor:
        return apply("remainder", self, other)

    def __pow__(self, other: TensorLike) -> Tensor:
        if isinstance(other, int) and other in (1, 2, 3):
            x: Any = self
            product: Tensor = x if other == 1 else x * x if other == 2 else x * x * x
            return product
        return apply("power", self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return apply("power", other, self)

    def __matmul__(self, other: TensorLike) -> Tensor:
        return matmul(self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return matmul(other, self)

    def __and__(self, other: TensorLike) -> Tensor:
        return apply("logical_and", self, other)

    __rand__ = __and__

    def __or__(self, other: TensorLike) -> Tensor:
        return apply("logical_or", self, other)

    __ror__ = __or__

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return apply("equal", self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return apply("not_equal", self, other)

    def __lt__(self, other: TensorLike) -> Tensor:
        return apply("less", self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return apply("less_equal", self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return apply("greater", self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return apply("greater_equal", self, other)


def apply(name: str, *arguments: Any) -> Tensor:
    """The operation of this name on the arguments."""
    from workbench.language import nodes  # the circle tensor <-> nodes

    return nodes.apply(name, *arguments)


def matmul(x: Any, y: Any) -> Tensor:
    """The matrix product."""
    from workbench.language import nodes

    return nodes.matmul(nodes.as_tensor(x), nodes.as_tensor(y))
