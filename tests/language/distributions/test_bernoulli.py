"""Independent events against sums over both of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.distributions.evaluated import (
    check_gradient,
    check_moments,
    drawn,
    outputs,
    sentence,
)

LOGITS = np.array([0.3, -4.0, 0.0, 30.0])
OTHER = np.array([1.0, -1.0, 0.5, 20.0])
VALUE = np.array([True, False, True, False])


def test_bernoulli_is_its_sums() -> None:
    found = outputs(
        log_probability=lambda: wb.Bernoulli(LOGITS).log_probability(VALUE),
        each=lambda: wb.stack([wb.Bernoulli(float(x)).log_probability(True) for x in LOGITS]),
        entropy=lambda: wb.Bernoulli(LOGITS).entropy(),
        kl=lambda: wb.Bernoulli(LOGITS).kl(wb.Bernoulli(OTHER)),
        mean=lambda: wb.Bernoulli(LOGITS).mean,
        mode=lambda: wb.Bernoulli(LOGITS).mode,
    )
    yes, no = 1 / (1 + np.exp(-LOGITS)), 1 / (1 + np.exp(LOGITS))
    other_yes, other_no = 1 / (1 + np.exp(-OTHER)), 1 / (1 + np.exp(OTHER))
    np.testing.assert_allclose(found["each"], np.log(yes), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        found["log_probability"], np.log(np.where(VALUE, yes, no)).sum(), rtol=1e-12
    )
    entropy = -(yes * np.log(yes) + no * np.log(no)).sum()
    np.testing.assert_allclose(found["entropy"], entropy, rtol=1e-12)
    kl = yes * np.log(yes / other_yes) + no * np.log(no / other_no)
    np.testing.assert_allclose(found["kl"], kl.sum(), rtol=1e-9)
    np.testing.assert_allclose(found["mean"], yes, rtol=1e-12)
    assert found["mode"].tolist() == [True, False, False, True]


def test_samples_have_the_mean_and_are_independent() -> None:
    sample = drawn(lambda zero: wb.Bernoulli(LOGITS[:2] + zero), 20_000)
    assert sample.dtype == bool
    p = 1 / (1 + np.exp(-LOGITS[:2]))
    fourth = p * (1 - p) * (p**3 + (1 - p) ** 3)
    check_moments(sample.astype(float), p, p * (1 - p), fourth)
    assert abs(np.corrcoef(sample[:, 0], sample[:, 1])[0, 1]) < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("quantity", ["log_probability", "entropy", "kl"])
def test_gradient(quantity: str) -> None:
    def value(x: Any) -> Any:
        policy = wb.Bernoulli((x - 0.7) * 3.0)
        return {
            "log_probability": lambda: policy.log_probability([True, False]),
            "entropy": policy.entropy,
            "kl": lambda: policy.kl(wb.Bernoulli(x * x)),
        }[quantity]()

    check_gradient((2,), value)


def test_value_refused_when_it_is_not_booleans() -> None:
    assert sentence(lambda: wb.Bernoulli(LOGITS[:2]).log_probability([1, 0])) == (
        "the value of a Bernoulli is of booleans, found [1, 0] (int32); write value == 1 of zeros "
        "and ones"
    )


def test_value_refused_when_its_shape_does_not_fit() -> None:
    assert sentence(lambda: wb.Bernoulli(LOGITS).log_probability([True, False])) == (
        "a Bernoulli of inner shape (4,) has no value of inner shape (2,): [True, False]"
    )
