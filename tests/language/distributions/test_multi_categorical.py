"""Several choices at once against sums over all their combinations; masks as arguments."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.distributions.evaluated import check_gradient, drawn, outputs, sentence
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, RunError

SIZES = (3, 2, 4)
LOGITS = np.array([0.3, -1.0, 2.0, 0.5, 0.1, -2.0, 0.0, 1.0, 0.7])
OTHER = np.linspace(-1.0, 1.0, 9)
MASK = np.array([True, False, True, True, True, False, True, True, False])
EVERY = list(product(*(range(n) for n in SIZES)))


def joint(logits: Any, mask: Any = True) -> np.ndarray:
    """The probability of each combination."""
    weights = np.where(mask, np.exp(logits), 0.0)
    parts = np.split(weights, np.cumsum(SIZES)[:-1])
    parts = [part / part.sum() for part in parts]
    return np.array([np.prod([p[k] for p, k in zip(parts, at, strict=True)]) for at in EVERY])


@pytest.mark.parametrize("mask", [None, MASK], ids=["all legal", "masked"])
def test_multi_categorical_is_its_sums_over_all_combinations(mask: Any) -> None:
    def policy(logits: Any) -> wb.MultiCategorical:
        return wb.MultiCategorical(logits, SIZES, mask)

    found = outputs(
        each=lambda: wb.stack([policy(LOGITS).log_probability(list(at)) for at in EVERY]),
        entropy=lambda: policy(LOGITS).entropy(),
        kl=lambda: policy(LOGITS).kl(policy(OTHER)),
        mode=lambda: policy(LOGITS).mode,
    )
    p = joint(LOGITS, True if mask is None else mask)
    q = joint(OTHER, True if mask is None else mask)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found["each"], np.log(p), rtol=1e-12, atol=1e-15)
    p, q, possible = p[p > 0], q[p > 0], EVERY[int(np.argmax(p))]
    np.testing.assert_allclose(found["entropy"], -(p * np.log(p)).sum(), rtol=1e-12)
    np.testing.assert_allclose(found["kl"], (p * np.log(p / q)).sum(), rtol=1e-12)
    assert tuple(found["mode"]) == possible


def test_samples_have_the_frequencies_of_all_combinations() -> None:
    """Chi-square with 23 degrees of freedom: 49.7 is exceeded once in a thousand."""
    count = 20_000
    sample = drawn(lambda zero: wb.MultiCategorical(LOGITS + zero, SIZES), count)
    assert sample.dtype == np.int32 and sample.shape == (count, 3)
    found = np.bincount(np.ravel_multi_index(sample.T, SIZES), minlength=len(EVERY))
    expected = count * joint(LOGITS)
    assert ((found - expected) ** 2 / expected).sum() < 49.7


@pytest.mark.parametrize("quantity", ["log_probability", "entropy", "kl"])
def test_gradient(quantity: str) -> None:
    def value(x: Any) -> Any:
        policy = wb.MultiCategorical(x * 2.0, (3, 2), [True, True, False, True, True])
        return {
            "log_probability": lambda: policy.log_probability([1, 0]),
            "entropy": policy.entropy,
            "kl": lambda: policy.kl(wb.MultiCategorical(x * x, (3, 2))),
        }[quantity]()

    check_gradient((5,), value)


# -- masks of one choice ---------------------------------------------------------------------------


def test_masked_categorical_is_one_whose_logits_are_infinite() -> None:
    logits, mask = LOGITS[:4], np.array([True, False, True, False])
    found = outputs(
        each=lambda: wb.stack(
            [wb.Categorical(logits, mask=mask).log_probability(k) for k in range(4)]
        ),
        entropy=lambda: wb.Categorical(logits, mask=mask).entropy(),
        mode=lambda: wb.Categorical(logits, mask=mask).mode,
    )
    p = np.exp(logits[mask]) / np.exp(logits[mask]).sum()
    np.testing.assert_allclose(found["each"][mask], np.log(p), rtol=1e-12)
    assert (found["each"][~mask] == -np.inf).all()
    np.testing.assert_allclose(found["entropy"], -(p * np.log(p)).sum(), rtol=1e-12)
    assert found["mode"] == 2


@wb.program
def closed(B: int = 2, T: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    legal = wb.stack([wb.index(b) * 3 + wb.index(t) != 4, wb.index(b) == 0])
    return {"action": wb.Categorical(wb.uniform(shape=2, over=(b, t)), mask=legal).sample()}


def test_mask_without_a_legal_action_is_an_error_with_the_instance() -> None:
    told = "all logits of a Categorical are -inf at b=1, t=1"
    with pytest.raises(ProgramError, match=told) as refused:
        Reference(closed().equations).outputs()
    assert "wb.Categorical(" in str(refused.value)
    with pytest.raises(RunError, match=told):
        wb.run(wb.variant(closed()), progress=False, backend="numpy")


# -- what a user can get wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            lambda: wb.Categorical(LOGITS[:3], mask=[True, False]),
            "the mask of a Categorical of (3,) logits is booleans of that inner shape, "
            "found [True, False] (bool(2,))",
        ),
        (
            lambda: wb.Categorical(LOGITS[:2], mask=[1, 0]),
            "the mask of a Categorical of (2,) logits is booleans of that inner shape, "
            "found [1, 0] (int32(2,))",
        ),
        (
            lambda: wb.Categorical(LOGITS[:2], mask=[False, False]),
            "the mask of a Categorical is False everywhere",
        ),
        (
            lambda: wb.MultiCategorical(LOGITS, (3, 2)),
            "MultiCategorical of sizes (3, 2) expects logits of inner shape (5,), found "
            "constant(9,) of inner shape (9,)",
        ),
        (
            lambda: wb.MultiCategorical(LOGITS[:5], (3, 2), [True, False]),
            "MultiCategorical of sizes (3, 2) expects a mask of inner shape (5,), found "
            "[True, False] of inner shape (2,)",
        ),
        (
            lambda: wb.MultiCategorical(LOGITS, ()),
            "MultiCategorical of sizes (); expected the number of choices of each, like (3, 2)",
        ),
        (
            lambda: wb.MultiCategorical(LOGITS, 9),
            "MultiCategorical of sizes 9; expected the number of choices of each, like (3, 2)",
        ),
        (
            lambda: wb.MultiCategorical(LOGITS, SIZES).log_probability([1, 0]),
            "the action of a MultiCategorical of sizes (3, 2, 4) is 3 integers, found [1, 0] "
            "(int32(2,))",
        ),
        (
            lambda: wb.MultiCategorical(LOGITS, SIZES).kl(wb.MultiCategorical(LOGITS, (4, 5))),
            "KL of a MultiCategorical of sizes (3, 2, 4) and one of sizes (4, 5)",
        ),
    ],
)
def test_refused(body: Any, told: str) -> None:
    assert sentence(body) == told
