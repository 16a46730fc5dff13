"""Arrays against what is expected of them: exactly, or within the tolerance of the dtype."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.measure.checking.agreement import Deviation, deviation, deviations

NAN, INF = np.nan, np.inf


def off(found: list[float], expected: list[float], dtype: str = "float64") -> Deviation:
    return deviation("x", np.array(found), np.array(expected), dtype)


def test_deviation_is_relative_to_the_value_and_the_largest() -> None:
    found = off([1.0, 10.0], [1.1, 10.0])
    assert found.worst == pytest.approx(0.1 / 11.1)
    assert found.place == (0,)
    assert not found.agrees


@pytest.mark.parametrize(
    ("dtype", "error", "agrees"),
    [
        ("float64", 1.9e-9, True),
        ("float64", 2.1e-9, False),
        ("float32", 1.9e-4, True),
        ("float32", 2.1e-4, False),
    ],
)
def test_tolerance_is_that_of_the_dtype(dtype: str, error: float, agrees: bool) -> None:
    """At the largest value itself the two parts of the size are equal."""
    assert off([1.0 + error], [1.0], dtype).agrees == agrees


@pytest.mark.parametrize(
    ("found", "expected", "agrees"),
    [
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (1.0, NAN, False),
        (INF, INF, True),
        (INF, -INF, False),
        (1.0, INF, False),
        (INF, 1.0, False),
        (0.0, 0.0, True),
        (1e-300, 0.0, False),
    ],
)
def test_what_is_no_number_agrees_with_itself_alone(
    found: float, expected: float, agrees: bool
) -> None:
    assert off([found], [expected]).agrees == agrees


def test_infinity_does_not_widen_the_tolerance_of_the_others() -> None:
    assert not off([INF, 2.0], [INF, 1.0]).agrees


def test_integers_and_booleans_agree_exactly_or_are_counted() -> None:
    found = deviation("k", np.array([1, 2, 4]), np.array([1, 2, 3]), "float32")
    assert (found.worst, found.tolerance, found.place) == (1.0, 0.0, (2,))
    assert str(found) == "k[2] is 4, expected 3 (the only element that differs)"
    found = deviation("k", np.array([True, True, False]), np.array([False] * 3), "float32")
    assert str(found) == "k[0] is True, expected False (2 elements differ)"


def test_other_shape_does_not_agree() -> None:
    found = off([1.0], [1.0, 2.0])
    assert not found.agrees
    assert "of shape (1,), expected one of (2,)" in str(found)


def test_scalars_and_empty_arrays_have_their_deviations() -> None:
    scalar = deviation("x", np.array(1.5), np.array(1.0), "float64")
    assert str(scalar) == "x is 1.5, expected 1 (off by 0.25 of its size, more than 1e-09)"
    assert deviation("x", np.zeros((0, 2)), np.zeros((0, 2)), "float64").agrees


def test_each_expected_array_is_compared_with_the_one_of_its_name() -> None:
    found = deviations({"a": np.ones(1), "b": np.zeros(1)}, {"b": np.ones(1)}, "float32")
    assert [d.name for d in found] == ["b"]
    assert not found[0].agrees
