"""Returns and advantages against loops in NumPy, which are their definitions read aloud."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from workbench import rl
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.language.template.template import Template

Values = npt.NDArray[Any]
LENGTHS, ENDS = (1, 2, 9), (0.0, 0.3, 1.0)


def program(
    chance: float = 0.3, n: int = 3, gamma: float = 0.9, lam: float = 0.8, constant: bool = False
) -> Template:
    """Every estimator on the same random rewards, values and ends."""

    @wb.program
    def estimators(B: int = 3, T: int = 9) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        reward = wb.normal(over=(b, t))
        done = wb.uniform(over=(b, t)) < chance
        value = wb.recurrent("value", (), over=(b, t))
        value[b, t] = wb.normal(over=(b, t))
        value[b, T] = wb.normal(over=b)
        used = 1.0 if constant else reward
        return {
            "reward": reward,
            "done": done,
            "value": value,
            "to_go": wb.discounted_sum(reward[b, t:T], gamma),
            "n_step": rl.n_step_return(used, value, done, t, n, gamma),
            "residual": rl.td_residual(used, value, done, t, gamma),
            "td_lambda": rl.td_lambda(used, value, done, t, gamma, lam),
            "gae": rl.gae(used, value, done, t, gamma, lam),
        }

    return estimators


@lru_cache
def automatic(chance: float, *options: Any) -> wb.Variant:
    """One for all lengths."""
    return wb.optimize(program(chance, *options)(), backend="numpy")


@lru_cache
def found(T: int, chance: float, *options: Any) -> dict[str, Values]:
    """Outputs by the reference, which the automatic recipe must reproduce."""
    variant, sizes = automatic(chance, *options), {"T": T}
    outputs = Reference(variant.program.equations, sizes, seed=1).outputs()
    ran = wb.run(variant, sizes=sizes, seed=1, dtype="float64", progress=False, backend="numpy")
    for name, values in outputs.items():
        np.testing.assert_allclose(ran[name], values, rtol=0, atol=1e-12)
    return outputs


def n_step(r: Values, v: Values, d: Values, n: int, gamma: float) -> Values:
    """Walk ahead until the n steps, the episode or the rollout is over."""
    expected = np.zeros_like(r)
    B, T = r.shape
    for b in range(B):
        for t in range(T):
            for k in range(n + 1):
                if k == n or t + k == T:
                    expected[b, t] += gamma**k * v[b, t + k]
                    break
                expected[b, t] += gamma**k * r[b, t + k]
                if d[b, t + k]:
                    break
    return expected


def td_lambda(r: Values, v: Values, d: Values, gamma: float, lam: float) -> Values:
    """(1 - lam) * sum of lam**(n-1) * n-step returns, the longest one with all the rest of the
    weight (Sutton & Barto 2018, eq. 12.3).
    """
    T = r.shape[1]
    returns = {n: n_step(r, v, d, n, gamma) for n in range(1, T + 1)}
    expected = np.zeros_like(r)
    for t in range(T):
        longest = T - t
        for n in range(1, longest):
            expected[:, t] += (1 - lam) * lam ** (n - 1) * returns[n][:, t]
        expected[:, t] += lam ** (longest - 1) * returns[longest][:, t]
    return expected


def gae(r: Values, v: Values, d: Values, gamma: float, lam: float) -> Values:
    """The sum of (gamma * lam)**k times the TD residual k steps ahead, within the episode."""
    expected = np.zeros_like(r)
    B, T = r.shape
    for b in range(B):
        for t in range(T):
            for k in range(t, T):
                following = 0.0 if d[b, k] else gamma * v[b, k + 1]
                expected[b, t] += (gamma * lam) ** (k - t) * (r[b, k] + following - v[b, k])
                if d[b, k]:
                    break
    return expected


def agree(values: Values, expected: Values) -> None:
    np.testing.assert_allclose(values[:, : expected.shape[1]], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("chance", ENDS)
@pytest.mark.parametrize("T", LENGTHS)
def test_estimators_are_their_definitions(T: int, chance: float) -> None:
    x = found(T, chance)
    r, v, d = x["reward"], x["value"], x["done"]
    assert d.all() if chance == 1.0 else not d.any() if chance == 0.0 else True
    agree(x["n_step"], n_step(r, v, d, 3, 0.9))
    agree(x["td_lambda"], td_lambda(r, v, d, 0.9, 0.8))
    agree(x["gae"], gae(r, v, d, 0.9, 0.8))
    agree(x["residual"], r + 0.9 * np.where(d, 0.0, v[:, 1:]) - v[:, :-1])
    to_go = [(r[:, t:] * 0.9 ** np.arange(T - t)).sum(axis=1) for t in range(T)]
    agree(x["to_go"], np.stack(to_go, axis=1))


@pytest.mark.parametrize("n", (1, 2, 8, 9, 100))
def test_n_step_return_for_every_n(n: int) -> None:
    x = found(9, 0.3, n)
    agree(x["n_step"], n_step(x["reward"], x["value"], x["done"], n, 0.9))


@pytest.mark.parametrize("gamma", (0.0, 0.97, 1.0))
@pytest.mark.parametrize("lam", (0.0, 0.5, 1.0))
def test_lambda_returns_at_the_ends_of_their_ranges(gamma: float, lam: float) -> None:
    x = found(9, 0.3, 3, gamma, lam)
    r, v, d = x["reward"], x["value"], x["done"]
    agree(x["td_lambda"], td_lambda(r, v, d, gamma, lam))
    agree(x["gae"], gae(r, v, d, gamma, lam))
    agree(x["n_step"], n_step(r, v, d, 3, gamma))


def test_advantage_is_the_lambda_return_minus_the_value() -> None:
    x = found(9, 0.3)
    agree(x["gae"], (x["td_lambda"] - x["value"])[:, :9])


def test_one_step_return_and_lambda_zero_are_the_td_target() -> None:
    x = found(9, 0.3, 1, 0.9, 0.0)
    target = (x["residual"] + x["value"][:, :9])[:, :9]
    agree(x["n_step"], target)
    agree(x["td_lambda"], target)
    agree(x["gae"], x["residual"])


def test_reward_that_is_a_number() -> None:
    """CartPole's reward is 1 at every step: a constant that varies over no dim."""
    x = found(9, 0.3, 3, 0.9, 0.8, True)
    r = np.ones_like(x["reward"])
    agree(x["n_step"], n_step(r, x["value"], x["done"], 3, 0.9))
    agree(x["td_lambda"], td_lambda(r, x["value"], x["done"], 0.9, 0.8))
    agree(x["gae"], gae(r, x["value"], x["done"], 0.9, 0.8))


def test_what_lies_beyond_an_episodes_end_is_not_counted_even_where_it_is_not_a_number() -> None:
    traced = program(1.0)(T=4)
    given = {"value": lambda at: np.nan if at[1] else None}
    outputs = Reference(traced.equations, seed=1, given=given).outputs()
    for name in ("n_step", "td_lambda"):
        agree(outputs[name][:, :4], outputs["reward"])


def test_centered_rank_is_the_mean_rank_of_equal_values() -> None:
    @wb.program
    def ranked(B: int = 7, K: int = 50) -> dict[str, Any]:
        k, b = wb.dims(k=K, b=B)
        x = wb.cast(wb.uniform(over=(k, b)) * 5.0, int)
        return {"x": x, "rank": rl.centered_rank(x, x[k, 0:B])}

    for sizes in ({}, {"B": 1}):
        found = wb.run(ranked(), "numpy", sizes=sizes, dtype="float64", progress=False)
        x, ranks = found["x"], found["rank"]
        # every order of equal values, from the front and from behind
        front = np.argsort(np.argsort(x, axis=1, kind="stable"), axis=1)
        behind = np.argsort(np.argsort(x[:, ::-1], axis=1, kind="stable"), axis=1)[:, ::-1]
        most = max(x.shape[1] - 1, 1)
        expected = (front + behind) / 2 / most - 0.5
        np.testing.assert_allclose(ranks, expected, atol=1e-12)


def test_centered_rank_refused_among_what_is_no_range() -> None:
    @wb.program
    def ranked(B: int = 7) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.uniform(over=b)
        return {"rank": rl.centered_rank(x, x)}

    with pytest.raises(WorkbenchError) as error:
        ranked()
    assert error.value.message == (
        "centered_rank of x[b]: float() among x[b]: float(); expected a scalar among those of one "
        "range axis, as in x[0:B]"
    )
    assert error.value.line is not None


def sentence(**options: Any) -> str:
    with pytest.raises(WorkbenchError) as error:
        program(**options)()
    assert error.value.line is not None
    return error.value.message


@pytest.mark.parametrize("n", (0, -3))
def test_n_step_return_refused_when_n_is_not_positive(n: int) -> None:
    assert sentence(n=n) == f"n-step return with n = {n}; expected n of at least 1"


@pytest.mark.parametrize("lam", (-0.1, 1.01, float("nan")))
def test_lambda_refused_outside_of_0_to_1(lam: float) -> None:
    assert sentence(lam=lam) == f"lambda = {lam}; expected a number from 0 to 1"


def test_discount_refused_outside_of_0_to_1() -> None:
    assert sentence(gamma=1.5) == "gamma = 1.5; expected a number from 0 to 1"


def test_advantage_refused_when_lambda_is_above_1() -> None:
    @wb.program
    def example(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        value = wb.recurrent("value", (), over=(b, t))
        value[b, t] = 0.0
        value[b, T] = 0.0
        return {"advantage": rl.gae(1.0, value, wb.index(t) == 1, t, 0.9, 2.0)}

    with pytest.raises(WorkbenchError) as error:
        example()
    assert error.value.message == "lambda = 2.0; expected a number from 0 to 1"


@pytest.mark.parametrize("gamma", (0.0, 0.5))
def test_return_to_go_of_a_long_range_in_float32(gamma: float) -> None:
    """0.5**-300 is infinite in float32; no point of the range needs it."""

    @wb.program
    def example(B: int = 2, T: int = 300) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        reward = wb.normal(over=(b, t))
        return {"reward": reward, "to_go": wb.discounted_sum(reward[b, t:T], gamma)}

    result = wb.run(example(), progress=False, backend="numpy")
    expected = np.zeros((2, 301))
    for t in reversed(range(300)):
        expected[:, t] = result["reward"][:, t] + gamma * expected[:, t + 1]
    np.testing.assert_allclose(result["to_go"], expected[:, :300], rtol=1e-5, atol=1e-5)
