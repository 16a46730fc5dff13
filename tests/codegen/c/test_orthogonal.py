"""Orthonormal rows or columns of C against NumPy's QR decomposition."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.codegen.c.compiled import NATIVE, call
from workbench.program.operations.arrays import orthogonalize

SOURCE = """
#include "orthogonal.h"
#define MADE(kind, number)                                                                      \
    void made_##kind(const number *x, number *out, int64_t rows, int64_t columns, double *more) { \
        orthogonalize_##kind(x, out, rows, columns, more);                                      \
    }
MADE(f, float)
MADE(d, double)
int64_t scratch_for(int64_t rows, int64_t columns) { return ORTHOGONAL_SCRATCH(rows, columns); }
"""
DTYPES = {"f": np.float32, "d": np.float64}


@pytest.fixture(scope="module")
def qr(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return NATIVE.library(SOURCE, tmp_path_factory.mktemp("qr"))


def made(qr: ctypes.CDLL, kind: str, x: np.ndarray) -> np.ndarray:
    """Orthogonalize, with scratch memory of just the size that is asked for."""
    size = qr.scratch_for(*map(ctypes.c_int64, x.shape))
    scratch = np.full(size + 1, 12.5)
    out = np.empty_like(x)
    call(getattr(qr, f"made_{kind}"), x, out, *x.shape, scratch)
    assert scratch[-1] == 12.5
    return out


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (4, 64), (64, 64), (64, 2), (64, 1), (1, 7), (33, 20)])
def test_factor_is_numpys(shape: tuple[int, int], kind: str, qr: ctypes.CDLL) -> None:
    x = np.random.default_rng(8).normal(size=shape).astype(DTYPES[kind])
    found = made(qr, kind, x)
    tolerance = {"f": 2e-7, "d": 1e-13}[kind]
    np.testing.assert_allclose(found, orthogonalize(x), rtol=0, atol=tolerance)
    wide = found.astype(np.float64)
    square = wide @ wide.T if shape[0] < shape[1] else wide.T @ wide
    np.testing.assert_allclose(square, np.eye(min(shape)), atol=10 * tolerance)


@pytest.mark.parametrize("kind", DTYPES)
def test_factor_of_a_triangle_has_the_signs_of_its_diagonal(kind: str, qr: ctypes.CDLL) -> None:
    x = np.triu(np.arange(1, 17, dtype=DTYPES[kind]).reshape(4, 4))
    x[1] *= -1
    np.testing.assert_array_equal(made(qr, kind, x), np.diag([1, -1, 1, 1]))
    np.testing.assert_array_equal(made(qr, kind, x), orthogonalize(x))


def test_factor_may_take_the_place_of_its_matrix(qr: ctypes.CDLL) -> None:
    x = np.random.default_rng(9).normal(size=(6, 3))
    expected = made(qr, "d", x)
    call(qr.made_d, x, x, 6, 3, np.empty(45))
    np.testing.assert_array_equal(x, expected)
