"""lgamma, digamma and trigamma against closed forms, the C library and sums of other lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ProgramError
from workbench.language.tracing.nodes import apply
from workbench.program.operations.gamma import digamma, lgamma, trigamma

EULER = 0.57721566490153286061
POINTS = [*np.geomspace(1e-12, 1e8, 161), 1.0, 2.0, 9.999999, 10.0, 1.4616321449683622]


def by_sums(x: float, order: int) -> float:
    """Digamma (0) or trigamma (1) by a thousand terms of the recurrence, exactly rounded sums and
    four terms of the asymptotic series.
    """
    z = x + 1000.0
    if order == 0:
        terms = [math.log(z), -0.5 / z, -1 / (12 * z**2), 1 / (120 * z**4)]
        return math.fsum([*terms, *(-1 / (x + k) for k in range(1000))])
    terms = [1 / z, 0.5 / z**2, 1 / (6 * z**3), -1 / (30 * z**5)]
    return math.fsum([*terms, *((x + k) ** -2 for k in range(1000))])


def test_lgamma_is_that_of_the_c_library() -> None:
    expected = [math.lgamma(x) for x in POINTS]
    np.testing.assert_allclose(lgamma(np.array(POINTS)), expected, rtol=4e-15, atol=6e-15)


@pytest.mark.parametrize(("function", "order"), [(digamma, 0), (trigamma, 1)])
def test_derivatives_are_sums(function: Callable[[Any], Any], order: int) -> None:
    expected = [by_sums(x, order) for x in POINTS]
    np.testing.assert_allclose(function(np.array(POINTS)), expected, rtol=1e-13, atol=4e-15)


def test_values_at_whole_numbers_and_halves_are_closed_forms() -> None:
    """Abramowitz & Stegun 1964, 6.3.2, 6.3.4, 6.4.4 and factorials."""
    for n in range(1, 40):
        harmonic = math.fsum(1 / k for k in range(1, n))
        odd = math.fsum(1 / (2 * k - 1) for k in range(1, n + 1))
        squares = math.fsum(1 / (2 * k - 1) ** 2 for k in range(1, n + 1))
        assert lgamma(float(n)) == pytest.approx(math.log(math.factorial(n - 1)), rel=2e-15)
        assert digamma(float(n)) == pytest.approx(harmonic - EULER, rel=4e-15)
        assert digamma(n + 0.5) == pytest.approx(2 * odd - EULER - 2 * math.log(2), rel=2e-14)
        assert trigamma(n + 0.5) == pytest.approx(math.pi**2 / 2 - 4 * squares, rel=3e-13)


def test_ends_of_the_range() -> None:
    x = np.array([0.0, -0.0, math.inf, -1.5, -math.inf, math.nan, 5e-324])
    for function, at_zero, at_infinity in (
        (lgamma, math.inf, math.inf),
        (digamma, -math.inf, math.inf),
        (trigamma, math.inf, 0.0),
    ):
        found = function(x)
        assert found[:3].tolist() == [at_zero, at_zero, at_infinity]
        assert np.isnan(found[3:6]).all()
        single = function(x.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single[:6], found[:6].astype(np.float32))
    assert lgamma(x)[6] == pytest.approx(math.lgamma(5e-324))


def test_gradient_beyond_trigamma_is_refused() -> None:
    @wb.program
    def example() -> dict[str, Any]:
        x = wb.uniform(1.0, 2.0)
        return {"y": wb.gradient(apply("trigamma", x), x)}

    with pytest.raises(ProgramError, match="gradient of trigamma, the second derivative of lgamma"):
        example()
