"""The operators of tensors: each applies the operation of its name.

Integers are two's complement in their dtype: results past its range wrap around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import ProgramError
from workbench.language.tracing.trace import user_line
from workbench.polyhedral.expression import whole
from workbench.program.operations.dtypes import INTEGERS

if TYPE_CHECKING:
    from workbench.language.tracing.tensor import Tensor, TensorLike


class Operators:
    """`x + y`, `-x`, `x < y` and the like, elementwise as in NumPy, and `@`."""

    __slots__ = ()

    def __pos__(self) -> Tensor:
        return apply("add", self, 0)

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
        """Return the floor of the quotient of integers, as Python's: -7 // 2 is -4."""
        return apply("floor_divide", self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return apply("floor_divide", other, self)

    def __mod__(self, other: TensorLike) -> Tensor:
        """Return the remainder of floor division, of the divisor's sign: -7 % 2 is 1."""
        return apply("remainder", self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return apply("remainder", other, self)

    def __divmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rshift__(self, places: int) -> Tensor:
        """Return the floor of an integer divided by 2**places, a constant; the sign stays."""
        return shifted("floor_divide", self, places)

    def __lshift__(self, places: int) -> Tensor:
        """Return an integer times 2**places, a constant, in its dtype."""
        return shifted("multiply", self, places)

    def __rrshift__(self, other: Any) -> Tensor:
        return shifted("floor_divide", other, self)

    def __rlshift__(self, other: Any) -> Tensor:
        return shifted("multiply", other, self)

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

    def __xor__(self, other: TensorLike) -> Tensor:
        return exclusive(self, other)

    __rxor__ = __xor__

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
    """Apply the operation of this name to the arguments."""
    from workbench.language.tracing import nodes

    return nodes.apply(name, *arguments)


def exclusive(x: Any, y: Any) -> Tensor:
    """Tell whether exactly one of two booleans holds."""
    from workbench.language.tracing import nodes

    apply("logical_or", x, y)  # what is no boolean is refused
    return apply("not_equal", nodes.as_tensor(x), y)


def shifted(by: str, x: Any, places: Any) -> Tensor:
    """Multiply or divide an integer by a power of two, in steps that its dtype can hold."""
    from workbench.language.tracing import nodes

    number, sign = whole(places), "<<" if by == "multiply" else ">>"
    shifting = nodes.as_tensor(x)
    if shifting.dtype not in INTEGERS:
        raise ProgramError(
            f"{shifting!r} {sign} {places!r}: expected an integer tensor", user_line()
        )
    if number is None or number < 0:
        raise ProgramError(
            f"{shifting!r} {sign} {places!r}: integers are shifted by a constant number of places, "
            "0 or more",
            user_line(),
        )
    bits = 32 if shifting.dtype == "int32" else 64
    left = min(number, bits if by == "multiply" else bits - 1)
    while left > 0:
        step = min(left, 30)
        shifting, left = apply(by, shifting, 1 << step), left - step
    return shifting


def matmul(x: Any, y: Any) -> Tensor:
    """Return the matrix product."""
    from workbench.language.tracing import nodes

    return nodes.matmul(nodes.as_tensor(x), nodes.as_tensor(y))
