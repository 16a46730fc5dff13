"""The functions of float32 against float64 NumPy, at a million floats and at all edges."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest

from tests.codegen.c.compiled import call
from tests.codegen.c.points import Floats, edges, errors_in_ulp, strided
from tests.codegen.c.wrappers import FUNCTIONS

FORMS = ("vector", "single")


def points() -> Floats:
    return np.concatenate([strided(), edges()])


def applied(library: ctypes.CDLL, symbol: str, *operands: Floats) -> Floats:
    out = np.empty(len(operands[0]), np.float32)
    call(getattr(library, symbol), *operands, out, len(out))
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_within_two_ulp(name: str, operations: ctypes.CDLL) -> None:
    x = points()
    with np.errstate(all="ignore"):
        correct = getattr(np, name)(x.astype(np.float64))
    errors = errors_in_ulp(applied(operations, f"vector_{name}_f", x), correct)
    worst = np.argmax(errors)
    assert errors[worst] <= 2, f"{name}({x[worst]!r}) is {errors[worst]:.2f} ulp off"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_number_has_the_bits_of_a_vector(name: str, operations: ctypes.CDLL) -> None:
    x = points()
    vector, single = (applied(operations, f"{form}_{name}_f", x) for form in FORMS)
    np.testing.assert_array_equal(vector, single)
    np.testing.assert_array_equal(np.signbit(vector)[vector == 0], np.signbit(single)[single == 0])


@pytest.mark.parametrize("name", ["tanh", "sin", "log1p"])
def test_function_keeps_the_sign_of_zero_and_subnormal_numbers(
    name: str, operations: ctypes.CDLL
) -> None:
    x = np.array([0.0, -0.0, 2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-130)], np.float32)
    computed = applied(operations, f"vector_{name}_f", x)
    assert computed.tobytes() == x.tobytes()


def test_tanh_never_falls_and_stays_within_one(operations: ctypes.CDLL) -> None:
    x = np.sort(np.concatenate([points(), np.linspace(-12, 12, 2**18, dtype=np.float32)]))
    computed = applied(operations, "vector_tanh_f", x[~np.isnan(x)])
    assert (np.diff(computed) >= 0).all()
    assert computed[0] == -1 and computed[-1] == 1


@pytest.mark.parametrize("form", FORMS)
def test_power_is_within_a_millionth(form: str, operations: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    x = np.abs(strided(2**18))
    x = x[np.isfinite(x) & (x > 0)]
    y = (rng.uniform(-150, 130, len(x)) / np.log2(x.astype(np.float64))).astype(np.float32)
    y[::7] = rng.integers(-5, 6, len(y[::7]))
    with np.errstate(all="ignore"):
        correct = np.power(x.astype(np.float64), y.astype(np.float64))
    errors = errors_in_ulp(applied(operations, f"{form}_power_ff", x, y), correct)
    assert errors.max() <= 0.51  # so within 2^-24, where a millionth is 2^-20


@pytest.mark.parametrize("form", FORMS)
def test_power_has_the_special_cases_of_c(form: str, operations: ctypes.CDLL) -> None:
    special = [0.0, 2.0**-149, 0.5, 1.0, 1.5, 2.0, 3.0, 2.0**23 + 1, 2.0**24, 2.0**31, 1e30, np.inf]
    values = np.array([*special, *(-v for v in special), np.nan], np.float32)
    x, y = (np.ascontiguousarray(a.reshape(-1)) for a in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        correct = np.power(x.astype(np.float64), y.astype(np.float64))
        rounded = correct.astype(np.float32)
    computed = applied(operations, f"{form}_power_ff", x, y)
    assert errors_in_ulp(computed, correct).max() <= 0.51
    finite = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(computed)[finite], np.signbit(rounded)[finite])


def test_recorded_runs_over_all_floats_kept_the_limits() -> None:
    lines = (Path(__file__).parent / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
    latest = {line["function"]: line for line in map(json.loads, lines)}
    assert set(latest) == {*FUNCTIONS, "power"}
    for name in FUNCTIONS:
        assert latest[name]["floats"] == 2**32
    assert all(line["ulp"] <= 2 and line["differ"] == 0 for line in latest.values())
    assert latest["tanh"]["falls"] == 0
