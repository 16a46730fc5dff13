"""The squashed normal against differences of its distribution function, and integrals."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.distributions.evaluated import check_gradient, drawn, outputs, sentence

MEAN, STD = np.array([0.5, -0.8]), np.array([0.4, 1.3])
LOW, HIGH = np.array([-2.0, 1.0]), np.array([2.0, 5.0])


def distribution_function(y: float, k: int) -> float:
    """The probability of at most y, of entry k."""
    x = np.arctanh(2 * (y - LOW[k]) / (HIGH[k] - LOW[k]) - 1)
    return NormalDist(MEAN[k], STD[k]).cdf(x)


def policy(mean: Any = MEAN) -> wb.SquashedNormal:
    return wb.SquashedNormal(mean, STD, LOW, HIGH)


def test_density_is_the_derivative_of_the_distribution_function() -> None:
    points = [(-1.5, 1.2), (0.3, 2.0), (1.9, 4.7)]
    found = outputs(each=lambda: wb.stack([policy().log_probability(np.array(p)) for p in points]))
    step = 1e-5
    for at, log_density in zip(points, found["each"], strict=True):
        ends = ((distribution_function(y + s, k) for s in (step, -step)) for k, y in enumerate(at))
        density = np.prod([(above - below) / (2 * step) for above, below in ends])
        np.testing.assert_allclose(np.exp(log_density), density, rtol=1e-5)


def test_density_integrates_to_1_and_its_expectations_are_sums() -> None:
    """KL of one entry by the trapezoidal rule; there is no closed form of its entropy."""

    @wb.program
    def example(N: int = 20_001) -> dict[str, Any]:
        n = wb.dim(n=N)
        y = -2.0 + wb.index(n) * 0.0002
        one = wb.SquashedNormal(0.5, 0.4, -2.0, 2.0)
        other = wb.SquashedNormal(0.1, 0.6, -2.0, 2.0)
        log_p = one.log_probability(y)
        return {"p": log_p, "q": other.log_probability(y), "kl": one.kl(other)}

    found = wb.run(example(), dtype="float64", progress=False, backend="numpy")
    p = np.exp(found["p"])
    np.testing.assert_allclose(np.trapezoid(p, dx=0.0002), 1.0, rtol=1e-8)
    np.testing.assert_allclose(
        np.trapezoid(p * (found["p"] - found["q"]), dx=0.0002), found["kl"], rtol=1e-6
    )


def test_samples_have_the_distribution_function() -> None:
    """Kolmogorov and Smirnov's statistic: 1.95 is exceeded once in a thousand."""
    count = 20_000
    sample = drawn(lambda zero: policy(MEAN + zero), count)
    for k in range(2):
        at = np.array([distribution_function(y, k) for y in np.sort(sample[:, k])])
        distance = np.abs(at - (np.arange(count) + 0.5) / count).max() + 0.5 / count
        assert distance * np.sqrt(count) < 1.95
    assert np.mean(sample <= outputs(m=lambda: policy().median)["m"]) == pytest.approx(
        0.5, abs=0.02
    )


def test_log_probability_of_a_draw_is_that_of_its_value() -> None:
    """Near to a bound, where the inverse has no digits left, that of the draw itself is exact."""

    @wb.program
    def example(N: int = 200) -> dict[str, Any]:
        n = wb.dim(n=N)
        zero = wb.uniform(over=n) * 0.0
        near, far = wb.SquashedNormal(zero, 1.0), wb.SquashedNormal(zero + 12.0, 1.0)
        value, log_probability = near.sample_with_log_probability()
        _, beyond = far.sample_with_log_probability()
        return {"own": log_probability, "same": near.log_probability(value), "far": beyond}

    found = wb.run(example(), dtype="float64", progress=False, backend="numpy")
    np.testing.assert_allclose(found["own"], found["same"], rtol=1e-9)
    single = wb.run(example(), dtype="float32", progress=False, backend="numpy")
    np.testing.assert_allclose(single["far"], found["far"], rtol=1e-5)
    assert (found["far"] > 10).all()


@pytest.mark.parametrize("quantity", ["log_probability", "kl", "sample", "both", "median"])
def test_gradient(quantity: str) -> None:
    def value(x: Any) -> Any:
        one = wb.SquashedNormal(x, wb.exp(x * 0.5), -2.0, np.array([1.0, 3.0])).reparameterized()
        other = wb.SquashedNormal(x * x, 1.0, -2.0, np.array([1.0, 3.0]))
        return {
            "log_probability": lambda: one.log_probability(x),
            "kl": lambda: one.kl(other),
            "sample": lambda: (one.sample() ** 2).sum(),
            "both": lambda: one.sample_with_log_probability()[1],
            "median": lambda: one.median.sum(),
        }[quantity]()

    check_gradient((2,), value)


def test_sample_is_constant_to_gradient_unless_reparameterized() -> None:
    def body() -> Any:
        x = wb.uniform(shape=2)
        sample = wb.SquashedNormal(x, 1.0).sample()
        return wb.gradient(sample.sum() + (x * x).sum(), x) - 2.0 * x

    assert not outputs(y=body)["y"].any()


# -- what a user can get wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            lambda: wb.SquashedNormal(MEAN, STD).entropy(),
            "the entropy of a SquashedNormal has no closed form; -log_probability of "
            "sample_with_log_probability() estimates it",
        ),
        (
            lambda: wb.SquashedNormal(MEAN, STD, 1.0, 1.0),
            "SquashedNormal between 1.0 and 1.0; expected finite bounds, each lower one below the "
            "upper one, of the inner shape (2,) or numbers",
        ),
        (
            lambda: wb.SquashedNormal(MEAN, STD, -np.inf, 1.0),
            "SquashedNormal between -inf and 1.0; expected finite bounds, each lower one below the "
            "upper one, of the inner shape (2,) or numbers",
        ),
        (
            lambda: wb.SquashedNormal(MEAN, STD, np.zeros(3), 1.0),
            "SquashedNormal between array([0., 0., 0.]) and 1.0; expected finite bounds, each "
            "lower one below the upper one, of the inner shape (2,) or numbers",
        ),
        (
            lambda: wb.SquashedNormal(MEAN, STD).kl(wb.SquashedNormal(MEAN, STD, 0.0, 1.0)),
            "KL of a SquashedNormal between -1.0 and 1.0 and one between 0.0 and 1.0: expected the "
            "same bounds",
        ),
        (
            lambda: wb.SquashedNormal(MEAN, STD).log_probability(np.zeros(3)),
            "a SquashedNormal of inner shape (2,) has no value of inner shape (3,): "
            "[0.0, 0.0, 0.0]",
        ),
    ],
)
def test_refused(body: Any, told: str) -> None:
    assert sentence(body) == told
