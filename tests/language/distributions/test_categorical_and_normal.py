"""Categorical and diagonal normal against closed forms, integrals, frequencies and differences."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.language.differences import check, differentiable
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.polyhedral.expression import variable

b, t = variable("b"), variable("t")
LOGITS = np.array([[0.3, -1.2, 2.0, 0.0], [500.0, 0.0, -500.0, 499.0], [0.0, 0.0, 0.0, 0.0]])
MEAN, STD = np.array([0.5, -2.0]), np.array([0.1, 3.0])
OTHER_MEAN, OTHER_STD = np.array([0.4, 1.0]), np.array([0.3, 2.0])
DRAWS = 20_000


def probabilities(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def outputs(**bodies: Any) -> dict[str, npt.NDArray[Any]]:
    """Each body's value, a function called while tracing, by the reference."""

    @wb.program
    def example() -> dict[str, Any]:
        return {name: body() for name, body in bodies.items()}

    return Reference(example().equations, seed=2).outputs()


# -- closed forms and integrals --------------------------------------------------------------------


@pytest.mark.parametrize("logits", LOGITS, ids=str)
def test_categorical_is_its_closed_forms(logits: npt.NDArray[Any]) -> None:
    found = outputs(
        log_probability=lambda: wb.stack(
            [wb.Categorical(as_logits(logits)).log_probability(a) for a in range(4)]
        ),
        entropy=lambda: wb.Categorical(as_logits(logits)).entropy(),
        kl=lambda: wb.Categorical(as_logits(logits)).kl(wb.Categorical(as_logits(LOGITS[0]))),
    )
    p, q = probabilities(logits), probabilities(LOGITS[0])
    shifted = logits - logits.max()
    np.testing.assert_allclose(
        found["log_probability"], shifted - np.log(np.exp(shifted).sum()), rtol=1e-12, atol=1e-15
    )
    log_p = found["log_probability"]
    np.testing.assert_allclose(found["entropy"], -(p * log_p).sum(), rtol=1e-12, atol=1e-15)
    expected = (p * (log_p - np.log(q))).sum()
    np.testing.assert_allclose(found["kl"], expected, rtol=1e-12, atol=1e-15)


def as_logits(values: npt.NDArray[Any]) -> wb.Tensor:
    return wb.stack([float(v) for v in values])


def test_normal_is_the_integral_of_its_definition() -> None:
    """Entropy and KL as expectations, by the trapezoidal rule to ten standard deviations."""
    found = outputs(
        entropy=lambda: wb.Normal(MEAN, STD).entropy(),
        kl=lambda: wb.Normal(MEAN, STD).kl(wb.Normal(OTHER_MEAN, OTHER_STD)),
        at=lambda: wb.Normal(MEAN, STD).log_probability(OTHER_MEAN),
    )
    entropy = kl = at = 0.0
    for m, s, n, u in zip(MEAN, STD, OTHER_MEAN, OTHER_STD, strict=True):
        x = np.linspace(m - 10 * s, m + 10 * s, 100_001)
        p = np.exp(-0.5 * ((x - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))
        log_p = -0.5 * ((x - m) / s) ** 2 - np.log(s * np.sqrt(2 * np.pi))
        log_q = -0.5 * ((x - n) / u) ** 2 - np.log(u * np.sqrt(2 * np.pi))
        entropy -= np.trapezoid(p * log_p, x)
        kl += np.trapezoid(p * (log_p - log_q), x)
        at += -0.5 * ((n - m) / s) ** 2 - np.log(s * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(found["entropy"], entropy, rtol=1e-9)
    np.testing.assert_allclose(found["kl"], kl, rtol=1e-9)
    np.testing.assert_allclose(found["at"], at, rtol=1e-12)


def test_density_of_a_normal_integrates_to_1() -> None:
    @wb.program
    def example(N: int = 2001) -> dict[str, Any]:
        n = wb.dim(n=N)
        x = -9.0 + wb.index(n) * 0.01
        return {"density": wb.exp(wb.Normal(0.5, 0.7).log_probability(x))}

    result = wb.run(example(), dtype="float64", progress=False, backend="numpy")
    np.testing.assert_allclose(np.trapezoid(result["density"], dx=0.01), 1.0, rtol=1e-12)


def test_divergence_from_itself_is_zero() -> None:
    found = outputs(
        categorical=lambda: wb.Categorical(as_logits(LOGITS[0])).kl(
            wb.Categorical(as_logits(LOGITS[0] + 5.0))
        ),
        normal=lambda: wb.Normal(MEAN, STD).kl(wb.Normal(MEAN, STD)),
    )
    np.testing.assert_allclose(found["categorical"], 0.0, atol=1e-15)
    assert found["normal"] == 0.0


def test_entropy_of_a_normal_whose_deviation_is_shared_counts_every_entry() -> None:
    found = outputs(shared=lambda: wb.Normal(np.zeros(3), 2.0).entropy())
    np.testing.assert_allclose(found["shared"], 1.5 * np.log(2 * np.pi * np.e * 4.0), rtol=1e-12)


# -- samples ---------------------------------------------------------------------------------------


def drawn(policy: Any, seed: int = 5) -> npt.NDArray[Any]:
    @wb.program
    def example(N: int = DRAWS) -> dict[str, Any]:
        n = wb.dim(n=N)
        return {"sample": policy(wb.uniform(over=n) * 0.0).sample()}

    return wb.run(example(), seed=seed, progress=False, backend="numpy")["sample"]


@pytest.mark.parametrize("logits", LOGITS, ids=str)
def test_categorical_samples_have_the_frequencies_of_the_distribution(
    logits: npt.NDArray[Any],
) -> None:
    """Chi-square with at most three degrees of freedom: 16.3 is exceeded once in a thousand."""
    sample = drawn(lambda zero: wb.Categorical(as_logits(logits) + zero))
    count = np.bincount(sample, minlength=4)
    expected = DRAWS * probabilities(logits)
    possible = expected > 1e-6
    assert count.sum() == DRAWS and not count[~possible].any()
    statistic = ((count - expected)[possible] ** 2 / expected[possible]).sum()
    assert statistic < 16.3, (count, expected)


def test_normal_samples_have_the_frequencies_of_the_distribution() -> None:
    """Chi-square over 20 intervals of equal probability, of ten seeds together: with 190 degrees of
    freedom 256 is exceeded once in a thousand. Of one seed alone an unlucky one would be that one.
    """
    edges = [NormalDist().inv_cdf(number / 20) for number in range(1, 20)]
    statistics = np.zeros(2)
    for seed in range(10):
        sample = drawn(lambda zero: wb.Normal(MEAN + zero, STD), seed)
        assert sample.shape == (DRAWS, 2)
        for k in range(2):
            z = (sample[:, k] - MEAN[k]) / STD[k]
            count = np.bincount(np.searchsorted(edges, z), minlength=20)
            statistics[k] += ((count - DRAWS / 20) ** 2 / (DRAWS / 20)).sum()
    assert (statistics < 256).all(), statistics
    assert abs(np.corrcoef(sample.T)[0, 1]) < 4 / np.sqrt(DRAWS)


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", ("log_probability", "entropy", "kl"))
def test_gradient_of_a_categorical(quantity: str) -> None:
    def body(x: Any) -> Any:
        policy = wb.Categorical(logits=x * 2.0)
        values = {
            "log_probability": lambda: policy.log_probability(1),
            "entropy": policy.entropy,
            "kl": lambda: policy.kl(wb.Categorical(logits=x * x)),
        }
        return (values[quantity]() ** 2).sum(over=(b, t))

    body.__defaults__ = ((3,),)
    check(differentiable(body)(T=2))


@pytest.mark.parametrize("quantity", ("log_probability", "entropy", "kl", "sample"))
def test_gradient_of_a_normal(quantity: str) -> None:
    def body(x: Any) -> Any:
        policy = wb.Normal(x, wb.exp(x * 0.5)).reparameterized()
        values = {
            "log_probability": lambda: policy.log_probability(np.array([0.3, 2.0])),
            "entropy": policy.entropy,
            "kl": lambda: policy.kl(wb.Normal(x * x, 1.0)),
            "sample": lambda: (policy.sample() ** 2).sum(),
        }
        return (values[quantity]() ** 2).sum(over=(b, t))

    body.__defaults__ = ((2,),)
    check(differentiable(body)(T=2))


# -- what a user can get wrong ---------------------------------------------------------------------


def sentence(body: Any) -> str:
    with pytest.raises(WorkbenchError) as error:
        outputs(y=body)
    assert error.value.line is not None
    return error.value.message


def test_categorical_refused_when_the_logits_are_a_scalar() -> None:
    assert sentence(lambda: wb.Categorical(wb.uniform())) == (
        "Categorical expects logits of inner shape (choices,), found uniform[]: float()"
    )


def test_action_refused_when_it_is_not_an_integer() -> None:
    assert sentence(lambda: wb.Categorical(as_logits(LOGITS[0])).log_probability(0.5)) == (
        "the action of a Categorical is an integer scalar, found 0.5"
    )


def test_value_refused_when_its_shape_does_not_fit_the_normal() -> None:
    assert sentence(lambda: wb.Normal(MEAN, STD).log_probability(np.zeros(3))) == (
        "a Normal of inner shape (2,) has no value of inner shape (3,): [0.0, 0.0, 0.0]"
    )


def test_normal_refused_when_mean_and_deviation_do_not_fit() -> None:
    assert sentence(lambda: wb.Normal(MEAN, np.ones(3))) == (
        "Normal expects a mean and a standard deviation of one inner shape, "
        "found [0.5, -2.0] and [1.0, 1.0, 1.0]"
    )


def test_sample_over_dims_that_the_distribution_does_not_vary_over() -> None:
    """Without `over` all environments share one draw; with it each has its own."""

    @wb.program
    def example(B: int = 8, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        logits = wb.uniform(shape=5, over=t)
        choice = wb.Categorical(logits)
        normal = wb.Normal(wb.uniform(over=t), 1.0)
        return {
            "shared": choice.sample(),
            "each": choice.sample(over=b),
            "shared_normal": normal.sample(),
            "each_normal": normal.sample(over=(b, t)),
        }

    program = example()
    dims = {o.name: program.array[o.array].dims for o in program.outputs}
    assert dims == {
        "shared": ("t",),
        "each": ("b", "t"),
        "shared_normal": ("t",),
        "each_normal": ("b", "t"),
    }
    found = wb.run(program, progress=False, backend="numpy")
    assert found["each"].shape == (8, 4) and (found["each"] != found["each"][0]).any()
    assert len(np.unique(found["each_normal"])) == 32
