"""Solutions of linear equations, and Cholesky factors, of matrices in the last two inner axes."""

from __future__ import annotations

from workbench.errors import ProgramError
from workbench.language.tracing.functions import reshape
from workbench.language.tracing.nodes import apply, as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import user_line
from workbench.program.operations.shapes import shape_text


def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Solve a @ x = b for x: `gain = wb.solve(r + B.T @ p @ B, B.T @ p @ A)`.

    `a` has the inner shape (..., n, n), `b` (..., n) or (..., n, m), which is the result's; n and m
    are numbers. By Gaussian elimination with partial pivoting. A run ends with the instance where a
    pivot is 0: a matrix that is singular only up to rounding has a large solution instead. Its
    gradient solves with `a` transposed (Giles 2008, "Collected matrix derivative results for
    forward and reverse mode AD", 2.3.1); it has derivatives of its own.
    """
    matrix, right = _square("solve", a), cast(as_tensor(b), "float")
    lead = matrix.shape[:-1]
    vector = right.shape == lead
    if not vector and (len(right.shape) != len(lead) + 1 or right.shape[:-1] != lead):
        columns = shape_text((*lead, "m"))
        raise ProgramError(
            f"solve: {right!r} as the right side of {matrix!r}, whose inner shape is "
            f"{shape_text(matrix.shape)}; expected {shape_text(lead)} or {columns}, found "
            f"{shape_text(right.shape)}",
            user_line(),
        )
    if vector:
        right = reshape(right, (*lead, 1))
    _require_numbers("solve", right)
    solution = apply("solve", matrix, right)
    return reshape(solution, lead) if vector else solution


def cholesky(a: TensorLike) -> Tensor:
    """Return the lower L with L @ L.T = a, for `a` of inner shape (..., n, n) that is symmetric and
    positive definite; n is a number.

    Only the lower triangle of `a` is read: elsewhere its gradient is 0 (Murray 2016,
    "Differentiation of the Cholesky decomposition", arXiv 1602.07527, equation 10). It has
    derivatives of its own. A run ends with the instance where `a` is not positive definite.
    """
    return apply("cholesky", _square("cholesky", a))


def _square(name: str, a: TensorLike) -> Tensor:
    """Return square matrices of floats."""
    matrix = cast(as_tensor(a), "float")
    shape = matrix.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ProgramError(
            f"{name}: {matrix!r}, whose inner shape is {shape_text(shape)}; expected (..., n, n), "
            "a square matrix in the last two inner axes",
            user_line(),
        )
    _require_numbers(name, matrix)
    return matrix


def _require_numbers(name: str, x: Tensor) -> None:
    symbolic = [n for n in x.shape if not isinstance(n, int)]
    if symbolic:
        raise ProgramError(
            f"{name}: {x!r}, whose inner shape is {shape_text(x.shape)}; {symbolic[0]} is a size, "
            "expected a number",
            user_line(),
        )
