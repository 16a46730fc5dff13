"""Gamma and beta against integrals of their densities, closed forms of moments and differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.language.distributions.evaluated import (
    check_gradient,
    check_moments,
    drawn,
    outputs,
    sentence,
)
from workbench.backends import philox
from workbench.language.distributions.gamma import LEAST, PROPOSALS

Array = npt.NDArray[Any]
SHAPES, RATES = np.array([0.3, 1.0, 2.5, 40.0]), np.array([2.0, 0.5, 1.5, 10.0])
ALPHA, BETA = np.array([0.4, 1.0, 3.0, 30.0]), np.array([0.6, 2.5, 1.2, 12.0])
COUNT = 20_000


def gamma_density(x: Array, k: float, rate: float) -> Array:
    """By the C library's function."""
    return np.exp(k * np.log(rate) + (k - 1) * np.log(x) - rate * x - math.lgamma(k))


def beta_density(x: Array, a: float, b: float) -> Array:
    integral = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - integral)


def expectations(p: Array, q: Array, x: Array) -> tuple[float, float, float]:
    """The sum of a density, its entropy and its divergence from another, over x = f(u) with equal
    steps of u: the trapezoidal rule with weights dx/du.
    """
    weights = np.gradient(x)
    inside = (p > 0) & (q > 0)
    p, q, weights = p[inside], q[inside], weights[inside]
    return (
        float((p * weights).sum()),
        float(-(p * np.log(p) * weights).sum()),
        float((p * np.log(p / q) * weights).sum()),
    )


def test_gamma_is_the_integral_of_its_density() -> None:
    at = np.array([0.2, 1.0, 3.0, 4.4])
    other = 1.7, 0.9
    found = outputs(
        each=lambda: wb.stack(
            [wb.Gamma(k, r).log_probability(x) for k, r, x in zip(SHAPES, RATES, at, strict=True)]
        ),
        all=lambda: wb.Gamma(SHAPES, RATES).log_probability(at),
        entropy=lambda: wb.stack(
            [wb.Gamma(k, r).entropy() for k, r in zip(SHAPES, RATES, strict=True)]
        ),
        kl=lambda: wb.stack(
            [wb.Gamma(k, r).kl(wb.Gamma(*other)) for k, r in zip(SHAPES, RATES, strict=True)]
        ),
    )
    x = np.exp(np.linspace(-90, 6, 200_001))
    for n, (k, rate) in enumerate(zip(SHAPES, RATES, strict=True)):
        density = gamma_density(at[n : n + 1], k, rate)
        np.testing.assert_allclose(found["each"][n], np.log(density[0]), rtol=1e-11)
        p, q = gamma_density(x, k, rate), gamma_density(x, *other)
        one, entropy, kl = expectations(p, q, x)
        assert one == pytest.approx(1.0, abs=1e-6)
        assert found["entropy"][n] == pytest.approx(entropy, rel=2e-5, abs=2e-6)
        assert found["kl"][n] == pytest.approx(kl, rel=2e-5, abs=2e-6)
    np.testing.assert_allclose(found["all"], found["each"].sum(), rtol=1e-12)


def test_beta_is_the_integral_of_its_density() -> None:
    at = np.array([0.2, 0.9, 0.5, 0.7])
    other = 1.7, 0.9
    found = outputs(
        each=lambda: wb.stack(
            [wb.Beta(a, b).log_probability(x) for a, b, x in zip(ALPHA, BETA, at, strict=True)]
        ),
        entropy=lambda: wb.stack(
            [wb.Beta(a, b).entropy() for a, b in zip(ALPHA, BETA, strict=True)]
        ),
        kl=lambda: wb.stack(
            [wb.Beta(a, b).kl(wb.Beta(*other)) for a, b in zip(ALPHA, BETA, strict=True)]
        ),
    )
    x = 0.5 + 0.5 * np.tanh(np.linspace(-18, 18, 200_001))
    for n, (a, b) in enumerate(zip(ALPHA, BETA, strict=True)):
        density = beta_density(at[n : n + 1], a, b)
        np.testing.assert_allclose(found["each"][n], np.log(density[0]), rtol=1e-11)
        one, entropy, kl = expectations(beta_density(x, a, b), beta_density(x, *other), x)
        assert one == pytest.approx(1.0, abs=1e-5)
        assert found["entropy"][n] == pytest.approx(entropy, rel=2e-4, abs=2e-5)
        assert found["kl"][n] == pytest.approx(kl, rel=2e-4, abs=2e-5)


def test_means_and_modes() -> None:
    a, b = np.array([0.5, 2.0, 0.5, 3.0, 1.0]), np.array([0.5, 0.5, 2.0, 2.0, 1.0])
    found = outputs(
        gamma_mean=lambda: wb.Gamma(SHAPES, RATES).mean,
        gamma_mode=lambda: wb.Gamma(SHAPES, RATES).mode,
        beta_mean=lambda: wb.Beta(a, b).mean,
        beta_mode=lambda: wb.Beta(a, b).mode,
    )
    np.testing.assert_allclose(found["gamma_mean"], SHAPES / RATES)
    np.testing.assert_allclose(found["gamma_mode"], [0.0, 0.0, 1.0, 3.9])
    np.testing.assert_allclose(found["beta_mean"], a / (a + b))
    np.testing.assert_allclose(found["beta_mode"], [np.nan, 1.0, 0.0, 2 / 3, np.nan])


# -- samples ---------------------------------------------------------------------------------------


def test_gamma_samples_have_its_moments() -> None:
    sample = drawn(lambda zero: wb.Gamma(SHAPES + zero, RATES), COUNT)
    assert (sample > 0).all()
    variance = SHAPES / RATES**2
    check_moments(sample, SHAPES / RATES, variance, variance**2 * (3 + 6 / SHAPES))


def test_beta_samples_have_its_moments() -> None:
    a, b = ALPHA, BETA
    sample = drawn(lambda zero: wb.Beta(a + zero, b), COUNT)
    assert ((sample > 0) & (sample < 1)).all()
    total = a + b
    variance = a * b / (total**2 * (total + 1))
    excess = 6 * ((a - b) ** 2 * (total + 1) - a * b * (total + 2))
    excess /= a * b * (total + 2) * (total + 3)
    check_moments(sample, a / total, variance, variance**2 * (3 + excess))


@pytest.mark.parametrize("k", [0.3, 4.0])
def test_gamma_samples_have_the_distribution_function(k: float) -> None:
    """Kolmogorov and Smirnov's statistic: 1.95 is exceeded once in a thousand."""
    sample = np.sort(drawn(lambda zero: wb.Gamma(k + zero, 1.0), COUNT))
    x = np.exp(np.linspace(-90, 5, 100_001))
    below = np.cumsum(gamma_density(x, k, 1.0) * np.gradient(x))
    at = np.interp(sample, x, below)
    distance = np.abs(at - (np.arange(COUNT) + 0.5) / COUNT).max()
    assert distance * np.sqrt(COUNT) < 1.95


def test_draw_is_the_first_proposal_that_is_accepted() -> None:
    """Marsaglia and Tsang's loop by hand, from the same words."""

    @wb.program
    def example(N: int = 300) -> dict[str, Any]:
        n = wb.dim(n=N)
        zero = wb.uniform(over=n) * 0.0
        return {"sample": wb.Gamma(0.4 + zero, 1.0).sample()}

    program = example()
    found = wb.run(program, seed=7, dtype="float64", progress=False, backend="numpy")["sample"]
    tried = 0
    for n, value in enumerate(found):
        z, u, v = (
            philox.draw(kind, 7, philox.statement_key(name), (n,), shape)
            for kind, name, shape in (
                ("normal", "normal", (PROPOSALS,)),
                ("uniform", "uniform", (PROPOSALS,)),
                ("uniform", "shrunk_uniform", ()),
            )
        )
        d = 0.4 + 1 - 1 / 3
        for one, threshold in zip(z, u, strict=True):
            tried += 1
            cube = (1 + one / np.sqrt(9 * d)) ** 3
            if cube > 0 and np.log(threshold + 2**-25) < one**2 / 2 + d * (1 - cube + np.log(cube)):
                break
        assert value == pytest.approx(d * cube * (v + 2**-25) ** (1 / 0.4), rel=1e-10)
    assert 300 < tried < 330


def test_log_probability_of_a_beta_draw_is_that_of_its_value() -> None:
    """Near to 1, where float32 has few digits left, that of the draw itself is as exact."""

    @wb.program
    def example(N: int = 300) -> dict[str, Any]:
        n = wb.dim(n=N)
        one = wb.Beta(2.0 + wb.uniform(over=n), 0.3)
        value, log_probability = one.sample_with_log_probability()
        return {"own": log_probability, "same": one.log_probability(value), "value": value}

    wide, single = (
        wb.run(example(), dtype=dtype, progress=False, backend="numpy")
        for dtype in ("float64", "float32")
    )
    near = wide["value"] < 1 - 2.0**-20
    np.testing.assert_allclose(wide["own"][near], wide["same"][near], rtol=1e-9)
    np.testing.assert_allclose(single["own"], wide["own"], rtol=1e-4, atol=1e-4)
    assert np.abs(single["same"] - wide["own"]).max() > 0.01


def test_draws_stay_inside_of_their_range_at_tiny_concentrations() -> None:
    for dtype in ("float32", "float64"):

        @wb.program
        def example(N: int = 500) -> dict[str, Any]:
            n = wb.dim(n=N)
            k = 0.01 + wb.uniform(over=n) * 0.0
            gamma, beta = wb.Gamma(k, 1.0), wb.Beta(k, k)
            g, b = gamma.sample(), beta.sample()
            return {
                "g": g,
                "b": b,
                "logs": gamma.log_probability(g) + beta.log_probability(b),
            }

        found = wb.run(example(), dtype=dtype, progress=False, backend="numpy")
        assert (found["g"] >= np.float32(LEAST)).all() and np.isfinite(found["logs"]).all()
        assert ((found["b"] > 0) & (found["b"] < 1)).all()
        assert 150 < (found["b"] > 0.5).sum() < 350


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", ["log_probability", "entropy", "kl", "mean"])
def test_gradient_of_a_gamma(quantity: str) -> None:
    def value(x: Any) -> Any:
        one, other = wb.Gamma(3.0 * x, x * x), wb.Gamma(2.0 * x + 1.0, wb.exp(x))
        return {
            "log_probability": lambda: one.log_probability(x),
            "entropy": one.entropy,
            "kl": lambda: one.kl(other),
            "mean": lambda: one.mean.sum(),
        }[quantity]()

    check_gradient((2,), value)


@pytest.mark.parametrize("quantity", ["log_probability", "entropy", "kl", "mean", "mode"])
def test_gradient_of_a_beta(quantity: str) -> None:
    def value(x: Any) -> Any:
        one, other = wb.Beta(3.0 * x + 0.5, 1.0 + x * x), wb.Beta(2.0 * x + 1.0, wb.exp(x))
        return {
            "log_probability": lambda: one.log_probability(x * 0.7),
            "entropy": one.entropy,
            "kl": lambda: one.kl(other),
            "mean": lambda: one.mean.sum(),
            "mode": lambda: one.mode.sum(),
        }[quantity]()

    check_gradient((2,), value)


def test_samples_are_constant_to_gradient() -> None:
    def body() -> Any:
        x = wb.uniform(1.0, 2.0, shape=2)
        samples = wb.Gamma(x, x).sample() + wb.Beta(x, 2.0 * x).sample()
        return wb.gradient(samples.sum() + (x * x).sum(), x) - 2.0 * x

    assert not outputs(y=body)["y"].any()


# -- what a user can get wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            lambda: wb.Gamma(np.ones(2), np.ones(3)),
            "Gamma expects a concentration and a rate of one inner shape, "
            "found [1.0, 1.0] and [1.0, 1.0, 1.0]",
        ),
        (
            lambda: wb.Beta(np.ones(2), np.ones(3)),
            "Beta expects alpha and beta of one inner shape, found [1.0, 1.0] and [1.0, 1.0, 1.0]",
        ),
        (
            lambda: wb.Beta(np.ones(2), 1.0).log_probability(np.ones(3)),
            "a Beta of inner shape (2,) has no value of inner shape (3,): [1.0, 1.0, 1.0]",
        ),
        (
            lambda: wb.Gamma(1.0, 1.0).reparameterized(),
            "samples of a Gamma are drawn by rejection, and not differentiable in its parameters; "
            "use their log_probability, or a SquashedNormal",
        ),
        (
            lambda: wb.Beta(1.0, 1.0).reparameterized(),
            "samples of a Beta are drawn by rejection, and not differentiable in its parameters; "
            "use their log_probability, or a SquashedNormal",
        ),
        (lambda: wb.Gamma(-1.0, 1.0), "concentration = -1.0; expected a number above 0"),
        (lambda: wb.Gamma([2.0, 3.0], [1.0, 0.0]), "rate = 0.0; expected a number above 0"),
        (lambda: wb.Beta(0, 1), "alpha = 0.0; expected a number above 0"),
        (lambda: wb.Normal(0.0, float("nan")), "std = nan; expected a number above 0"),
    ],
)
def test_refused(body: Any, told: str) -> None:
    assert sentence(body) == told
