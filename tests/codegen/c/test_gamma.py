"""lgamma, digamma and trigamma in C: float64 as NumPy's meaning, float32 rounded from it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.codegen.c.compiled import call
from tests.codegen.c.points import Floats, edges, errors_in_ulp, strided
from tests.codegen.c.wrappers import DTYPES, GAMMA
from workbench.program.operations.table import OPERATIONS

FORMS = ("vector", "single")


def points() -> Floats:
    """Floats of every magnitude, and many where the functions are near 0."""
    near = np.linspace(0.5, 3.0, 2**12, dtype=np.float32)
    return np.concatenate([strided(2**14), edges(), near])


def applied(library: ctypes.CDLL, form: str, name: str, x: np.ndarray) -> np.ndarray:
    kind = "f" if x.dtype == np.float32 else "d"
    out = np.empty(len(x), DTYPES[kind])
    call(getattr(library, f"{form}_{name}_{kind}"), x, out, len(x))
    return out


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", GAMMA)
def test_float64_is_the_meaning(name: str, form: str, operations: ctypes.CDLL) -> None:
    with np.errstate(invalid="ignore"):  # there are signalling NaNs
        x = points().astype(np.float64)
    meaning = OPERATIONS[name].evaluate
    assert meaning is not None
    expected = meaning(x)
    found = applied(operations, form, name, x)
    np.testing.assert_allclose(found, expected, rtol=4e-15, atol=2e-14)


@pytest.mark.parametrize("name", GAMMA)
def test_float32_is_within_one_ulp_and_has_the_same_bits_as_a_vector(
    name: str, operations: ctypes.CDLL
) -> None:
    x = points()
    vector, single = (applied(operations, form, name, x) for form in FORMS)
    np.testing.assert_array_equal(vector, single)
    meaning = OPERATIONS[name].evaluate
    assert meaning is not None
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64)
    errors = errors_in_ulp(vector, meaning(wide))
    worst = np.argmax(errors)
    assert errors[worst] <= 1, f"{name}({x[worst]!r}) is {errors[worst]:.2f} ulp off"
