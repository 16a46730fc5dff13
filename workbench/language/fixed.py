"""Fixed-point numbers: integers that count parts of 1 / scale.

As in SwiftRL (Gogineni et al. 2024, arXiv 2405.03967), whose processing-in-memory cores have no
floating-point unit: numbers are int32, and products are made in 64 bits.
"""

from __future__ import annotations

from workbench.errors import ProgramError
from workbench.language.tracing.functions import cast, floor
from workbench.language.tracing.nodes import apply, as_tensor
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import user_line
from workbench.polyhedral.expression import whole

SCALE = 10_000


def fixed(x: TensorLike, scale: int = SCALE) -> Tensor:
    """Return numbers as whole parts of 1 / scale, rounded to the nearest: 0.95 as 9500.

    They have to fit into 32 bits, so that they are below 214,748 at a scale of 10,000.
    """
    return cast(floor(cast(x, float) * float(_checked(scale)) + 0.5), "int32")


def floating(x: TensorLike, scale: int = SCALE) -> Tensor:
    """Return fixed-point numbers as floats."""
    return cast(_integers(x), float) / float(_checked(scale))


def product(x: TensorLike, y: TensorLike, scale: int = SCALE) -> Tensor:
    """Return the product of two fixed-point numbers, made in 64 bits and rounded down."""
    wide = apply("multiply", cast(_integers(x), "int64"), cast(_integers(y), "int64"))
    return cast(wide // _checked(scale), "int32")


def _integers(x: TensorLike) -> Tensor:
    x = as_tensor(x)
    if x.dtype != "int32":
        raise ProgramError(
            f"{x!r} is no fixed-point number: expected int32, as `fixed` makes it", user_line()
        )
    return x


def _checked(scale: int) -> int:
    number = whole(scale)
    if number is None or not 0 < number < 2**31:
        raise ProgramError(f"the scale {scale!r}; expected a positive int32", user_line())
    return number
