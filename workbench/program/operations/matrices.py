"""The meaning of operations on square matrices, by NumPy's linear algebra: the last two axes are
the matrices', any number may come before. They are computed in doubles, as NumPy does for either
dtype. A matrix that has no result gets NaN, which `regular` and `definite` tell from the NaN of
operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np


def solve(matrix: Any, right: Any) -> Any:
    """Solve matrix @ x = right for x by LU decomposition with partial pivoting; `right` has
    columns.
    """
    return _each_by_itself(np.linalg.solve, right, matrix, right)


def cholesky(matrix: Any) -> Any:
    """Return the lower L with L @ L.T = matrix, whose lower triangle is read."""
    return _each_by_itself(np.linalg.cholesky, matrix, matrix)


def regular(matrix: Any) -> Any:
    """Tell of each matrix whether no pivot of its elimination is 0."""
    return np.linalg.slogdet(matrix)[0] != 0


def definite(factor: Any) -> Any:
    """Tell of the result of `cholesky` whether its matrix was positive definite."""
    return (np.diagonal(factor, axis1=-2, axis2=-1) > 0).all(axis=-1)


def operations_of_solve(n: int, columns: int) -> int:
    """Return the operations of solving n equations: about 2/3 n^3 to eliminate, and 2 n^2 for each
    column on the right.
    """
    below = n * (n - 1) // 2
    squares = n * (n - 1) * (2 * n - 1) // 6
    return below + 2 * squares + columns * (4 * below + n)


def operations_of_cholesky(n: int, columns: int) -> int:
    """Return the operations of a factor of n rows, and as many columns: about 1/3 n^3."""
    return n * (n + 1) * (n + columns + 1) // 6


OF_MATRICES: Mapping[str, Callable[[int, int], int]] = {
    "solve": operations_of_solve,
    "cholesky": operations_of_cholesky,
}
"""The operations for each matrix, by the result's rows and columns."""


def _each_by_itself(function: Callable[..., Any], like: Any, *operands: Any) -> Any:
    """Apply a function to all matrices, or one by one where one of them has no result."""
    try:
        return function(*operands)
    except np.linalg.LinAlgError:
        result = np.full_like(like, np.nan)
        for place in np.ndindex(like.shape[:-2]):
            with suppress(np.linalg.LinAlgError):
                result[place] = function(*(x[place] for x in operands))
        return result
