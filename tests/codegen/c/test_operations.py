"""Every elementwise row of the operation table in C, for every kind, against NumPy."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.codegen.c.compiled import call
from tests.codegen.c.points import edges, strided
from tests.codegen.c.wrappers import CASTS, DTYPES, FUNCTIONS, FUSED, GAMMA, ROWS, Wrapped
from workbench.program.operations.table import OPERATIONS

FORMS = ("vector", "single")
LIBM = {f"{name}_d" for name in FUNCTIONS} | {"power_dd"}
OWN = {f"{name}_f" for name in FUNCTIONS} | {"power_ff"}
OWN |= {f"{name}_{kind}" for name in GAMMA for kind in "fd"}
"""Not bit for bit NumPy's: the test of functions has these."""


def values(kind: str) -> np.ndarray[Any, Any]:
    """Numbers of a kind, with its extremes."""
    rng = np.random.default_rng(3)
    if kind == "b":
        return rng.integers(0, 2, 203).astype(np.bool_)
    if kind in "fd":
        with np.errstate(over="ignore", invalid="ignore"):
            floats = np.concatenate([edges()[:200], strided(2**7), [2.0**31 - 128, -3.7, 2.5]])
            return floats.astype(DTYPES[kind])
    info = np.iinfo(DTYPES[kind])
    ends = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, -1, 2, -2, 7, -7]
    ends = [*ends, *rng.integers(-100, 100, 40), *rng.integers(info.min, info.max, 40)]
    return np.array(ends, DTYPES[kind])


def operands(row: Wrapped) -> list[np.ndarray[Any, Any]]:
    """All pairs of values; a condition before them is drawn."""
    own = values(row.operands[-1])
    if len(row.operands) == 1:
        return [own]
    pairs = [np.ascontiguousarray(a.reshape(-1)) for a in np.meshgrid(own, own)]
    if len(row.operands) == 3:
        pairs.insert(0, np.random.default_rng(4).integers(0, 2, len(pairs[0])).astype(np.bool_))
    return pairs


def computed(
    library: ctypes.CDLL, form: str, row: Wrapped, arrays: list[np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]:
    out = row.empty(len(arrays[0]))
    call(getattr(library, f"{form}_{row.symbol}"), *arrays, out, len(out))
    return out


def test_every_elementwise_row_of_the_table_has_a_form() -> None:
    elementwise = {row.name for row in OPERATIONS.values() if row.elementwise}
    assert elementwise == {row.name for row in ROWS} | {"cast"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", [r for r in ROWS if r.symbol not in OWN], ids=lambda r: r.symbol)
def test_operation_is_numpys(row: Wrapped, form: str, operations: ctypes.CDLL) -> None:
    arrays = operands(row)
    with np.errstate(all="ignore"):
        expected = getattr(np, row.name)(*arrays)
    found = computed(operations, form, row, arrays)
    assert found.dtype == expected.dtype
    if row.symbol in LIBM:
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-300)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_division_next_to_a_whole_quotient_is_numpys(
    name: str, form: str, operations: ctypes.CDLL
) -> None:
    row = next(row for row in ROWS if row.name == name and row.result == "i")
    rng = np.random.default_rng(6)
    b = np.concatenate([rng.integers(1, bound, 4000) for bound in (9, 2**8, 2**16, 2**31)])
    b[::2] *= -1
    whole = rng.integers(-(2**31) // np.abs(b), 2**31 // np.abs(b)) * b
    a = np.clip(whole + rng.integers(-1, 2, b.size), -(2**31), 2**31 - 1)
    arrays = [a.astype(np.int32), b.astype(np.int32)]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*arrays)
    np.testing.assert_array_equal(computed(operations, form, row, arrays), expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", CASTS, ids=lambda row: row.symbol)
def test_cast_is_numpys_and_saturates(row: Wrapped, form: str, operations: ctypes.CDLL) -> None:
    x = values(row.operands)
    target = DTYPES[row.result]
    if row.operands in "fd" and row.result in "il":
        info = np.iinfo(target)
        beyond, below = x >= float(info.max) + 1, ~(x > float(info.min) - 1)
        kept = np.where(beyond | below, 0, x).astype(target)
        expected = np.where(beyond, info.max, np.where(below, info.min, kept)).astype(target)
    else:
        with np.errstate(over="ignore"):
            expected = x.astype(target)
    np.testing.assert_array_equal(computed(operations, form, row, [x])[: len(x)], expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", "fd")
def test_fused_operation_rounds_once(kind: str, form: str, operations: ctypes.CDLL) -> None:
    row = next(row for row in FUSED if row.result == kind)
    rng = np.random.default_rng(5)
    a, b = rng.uniform(1, 2, (2, 203)).astype(DTYPES[kind])
    c = -(a * b)  # so that the result is what the rounded product lost
    exact = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    lost = [float(p + Fraction(float(z))) for p, z in zip(exact, c, strict=True)]
    assert np.count_nonzero(lost) > 100
    np.testing.assert_array_equal(computed(operations, form, row, [a, b, c]), lost)


def test_memory_holds_truth_values_as_zero_and_one(operations: ctypes.CDLL) -> None:
    x = np.array([1, 0, 1, 1, 0] * 9, np.uint8)
    out = np.full(45, 77, np.uint8)
    call(operations.vector_logical_not_b, x, out, 45)
    np.testing.assert_array_equal(out, 1 - x)
