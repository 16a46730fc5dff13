"""Action masks: a policy whose illegal actions have the logit -inf, against closed forms and
central differences, by the reference and in both float dtypes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.language.differences import check
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, RunError
from workbench.transforms import Vectorize

INF = np.inf
MASKS = np.array(
    [[True, False, True, True], [False, True, True, False], [True, False, False, False]]
)
RTOL = {"reference": 1e-12, "float64": 1e-12, "float32": 2e-5}


def masked(theta: Any, n: Any) -> wb.Tensor:
    """The logits of instance n under its mask."""
    rows = [wb.where(wb.index(n) == k, row.tolist(), False) for k, row in enumerate(MASKS)]
    return wb.where(rows[0] | rows[1] | rows[2], theta, -INF)


@wb.program
def policies(N: int = 3) -> dict[str, Any]:
    n = wb.dim(n=N)
    theta = wb.uniform(-1.0, 1.0, shape=4, over=n)
    policy = wb.Categorical(masked(theta, n))
    other = wb.Categorical(masked(theta * theta, n))
    chosen = wb.stack([policy.log_probability(k) for k in range(4)])
    illegal = wb.where(chosen == -INF, chosen, 0.0).sum()
    return {
        "theta": theta,
        "chosen": chosen,
        "entropy": policy.entropy(),
        "kl": policy.kl(other),
        "illegal": wb.gradient(illegal.sum(over=n), theta),
    }


def found(program: Any, by: str) -> dict[str, npt.NDArray[Any]]:
    """Outputs by the reference, or by the array backend in a dtype, one by one and vectorized."""
    if by == "reference":
        return Reference(program.equations).outputs()
    run = wb.run(wb.variant(program), dtype=by, progress=False, check_finite=True, backend="numpy")
    vectorized = wb.variant(program).apply(Vectorize("n"))
    fast = wb.run(vectorized, dtype=by, progress=False, check_finite=True, backend="numpy")
    for name, values in run.outputs.items():
        np.testing.assert_allclose(fast[name], values, rtol=RTOL[by], atol=RTOL[by])
    return dict(run.outputs)


@pytest.mark.parametrize("by", RTOL)
def test_masked_policy_is_its_closed_forms_over_the_legal_actions(by: str) -> None:
    values = found(policies(), by)
    for k, mask in enumerate(MASKS):
        logits = values["theta"][k].astype(float)
        log_p = logits[mask] - np.log(np.exp(logits[mask]).sum())
        log_q = logits[mask] ** 2 - np.log(np.exp(logits[mask] ** 2).sum())
        close = {"rtol": RTOL[by], "atol": RTOL[by]}
        np.testing.assert_allclose(values["chosen"][k][mask], log_p, **close)
        assert (values["chosen"][k][~mask] == -INF).all()
        np.testing.assert_allclose(values["entropy"][k], -(np.exp(log_p) * log_p).sum(), **close)
        np.testing.assert_allclose(
            values["kl"][k], (np.exp(log_p) * (log_p - log_q)).sum(), **close
        )


@pytest.mark.parametrize("by", RTOL)
def test_illegal_log_probability_is_constant_to_gradient(by: str) -> None:
    assert not found(policies(), by)["illegal"].any()


def losses(policy: wb.Categorical, theta: Any, n: Any) -> dict[str, Any]:
    legal = wb.stack([0, 2, 0])
    action = sum(wb.where(wb.index(n) == k, legal[k], 0) for k in range(3))
    chosen = policy.log_probability(action)
    ratio = wb.exp(chosen + 0.8)
    illegal = policy.log_probability(1 - wb.cast(wb.index(n) == 1, int))
    return {
        "chosen": chosen**2,
        "entropy": policy.entropy() ** 2,
        "kl": policy.kl(wb.Categorical(masked(theta * theta, n))),
        "clipped": wb.minimum(ratio * 1.5, wb.clip(ratio, 0.8, 1.2) * 1.5),
        "illegal": wb.exp(illegal) + wb.where(illegal == -INF, chosen, illegal),
        "softmax": (wb.softmax(masked(theta, n)) ** 2).sum(),
        "highest": masked(theta, n).max(axis=0) ** 2,
    }


def test_gradient_of_a_masked_policy() -> None:
    """Of all of them at once, each with a weight of its own."""

    @wb.program
    def example(N: int = 3) -> dict[str, Any]:
        n = wb.dim(n=N)
        theta = wb.uniform(-1.0, 1.0, shape=4, over=n)
        parts = losses(wb.Categorical(masked(theta, n)), theta, n).values()
        loss = sum((0.7 + 0.1 * k) * part for k, part in enumerate(parts)).sum(over=n)
        return {"theta": theta, "loss": loss, "gradient": wb.gradient(loss, theta)}

    program = example()
    check(program, ("theta",))
    expected = found(program, "reference")["gradient"]
    assert not expected[~MASKS].any()
    for dtype in ("float64", "float32"):
        gradient = found(program, dtype)["gradient"]
        np.testing.assert_allclose(gradient, expected, rtol=RTOL[dtype], atol=RTOL[dtype])


def test_logits_are_numbers_too() -> None:
    @wb.program
    def example() -> dict[str, Any]:
        return {"y": wb.Categorical([0, -INF, 1]).log_probability(2)}

    np.testing.assert_allclose(found(example(), "reference")["y"], -np.log1p(np.exp(-1)))


@wb.program
def without_choice(B: int = 2, T: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    free = wb.index(b) * 3 + wb.index(t) != 4
    logits = wb.where(free, wb.uniform(shape=2, over=(b, t)), -INF)
    return {"action": wb.Categorical(logits).sample()}


def test_no_legal_action_is_an_error_with_the_instance() -> None:
    sentence = "all logits of a Categorical are -inf at b=1, t=1"
    with pytest.raises(ProgramError, match=sentence) as refused:
        Reference(without_choice().equations).outputs()
    assert "wb.Categorical(logits)" in str(refused.value)
    written = wb.variant(without_choice())
    for variant in (written, written.apply(Vectorize("b")).apply(Vectorize("t"))):
        with pytest.raises(RunError, match=sentence) as stopped:
            wb.run(variant, progress=False, backend="numpy")
        assert "wb.Categorical(logits)" in str(stopped.value)


def test_illegal_action_is_not_sampled_whatever_rounding_makes_of_the_sum() -> None:
    @wb.program
    def example(N: int = 64) -> dict[str, Any]:
        n = wb.dim(n=N)
        logits = wb.concatenate([wb.normal(shape=5, over=n), [-INF, -INF]])
        policy = wb.Categorical(logits)
        return {"action": policy.sample(), "sum": policy.probabilities.sum(axis=0)}

    def largest(kind: str, out: Any, *rest: Any) -> None:
        if kind == "uniform":
            out[...] = 1.0 - 2.0**-24
        else:
            random(kind, out, *rest)

    compiled = get("numpy").compile(example())
    random = compiled.functions["random"]
    drawn = replace(compiled, functions=compiled.functions | {"random": largest})
    outputs = drawn.run(dtype="float32").outputs
    assert (outputs["sum"] < 1.0).any()
    assert (outputs["action"] <= 4).all()
