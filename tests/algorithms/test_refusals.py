"""What a user can get wrong with algorithms, environments and policies: each with its sentence."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench import environments
from workbench.algorithms import ALGORITHMS, a2c, ppo, reinforce
from workbench.errors import WorkbenchError


def sentence(body: Any) -> str:
    with pytest.raises(WorkbenchError) as error:
        body()
    return error.value.message


def acting(env: Any, policy: Any) -> Any:
    @wb.program
    def example(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, t))
        state[b, 0] = env.reset(over=b)
        following, reward, _, _ = env.step(state, policy(env.observe(state)).sample())
        state[b, t + 1] = following
        return {"reward": reward}

    return example


def test_discrete_policy_refused_on_a_continuous_environment() -> None:
    program = acting(environments.Pendulum(), lambda x: wb.Categorical(logits=x))
    assert sentence(program) == (
        "Pendulum takes continuous actions (float(1,)), but the action is int32(); "
        "use wb.Normal(mean, std).sample()"
    )


@pytest.mark.parametrize(
    ("env", "count"),
    [(environments.CartPole(), 2), (environments.Acrobot(), 3), (environments.MountainCar(), 3)],
    ids=lambda x: type(x).__name__,
)
def test_continuous_policy_refused_on_a_discrete_environment(env: Any, count: int) -> None:
    program = acting(env, lambda x: wb.Normal(x[..., :1], 1.0))
    assert sentence(program) == (
        f"{type(env).__name__} takes one of {count} discrete actions (an int scalar), "
        "but the action is float(1,); use wb.Categorical(logits=…).sample()"
    )


def test_continuous_policy_of_another_size_refused() -> None:
    program = acting(environments.Pendulum(), lambda x: wb.Normal(x, 1.0))
    assert sentence(program) == (
        "Pendulum takes continuous actions (float(1,)), but the action is float(3,); "
        "use wb.Normal(mean, std).sample()"
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_environment_refused_when_it_says_nothing_of_its_actions(name: str) -> None:
    class Silent:
        observation_size = state_size = 2

        def __repr__(self) -> str:
            return "Silent()"

    assert sentence(lambda: ALGORITHMS[name](environment=Silent())) == (
        "Silent() has no action_count (discrete actions), action_counts (several choices), "
        "action_flags (booleans) or action_size (continuous ones): there is no policy for it"
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_environment_refused_when_its_name_is_unknown(name: str) -> None:
    message = sentence(lambda: ALGORITHMS[name](environment="Cartpole"))
    assert message.startswith("unknown environment 'Cartpole'; did you mean CartPole?")


def test_minibatches_refused_when_they_do_not_divide_the_samples() -> None:
    program = ppo(B=3, T=5, I=1, M=3, hidden=(3,))
    assert sentence(lambda: wb.run(program, sizes={"M": 4}, progress=False, backend="numpy")) == (
        "K = B * T // M: 15 does not divide by 4 (B=3, T=5, M=4)"
    )
    message = sentence(
        lambda: wb.run(ppo(B=3, T=5, I=1, M=4, hidden=(3,)), progress=False, backend="numpy")
    )
    assert message == "K = B * T // M: 15 does not divide by 4 (B=3, T=5, M=4)"


@pytest.mark.parametrize("estimator", ["n_step", "td_lambda"])
def test_reinforce_with_ends_refused_for_returns_that_go_on(estimator: str) -> None:
    assert sentence(lambda: reinforce(estimator=estimator, ends=True)) == (
        f"estimator '{estimator}' with ends=True: it reads a return behind the last step; expected "
        '"monte_carlo"'
    )


def test_estimator_refused_when_it_is_unknown() -> None:
    assert sentence(lambda: reinforce(estimator="nstep")) == (
        "unknown estimator 'nstep': did you mean n_step? "
        "(estimators: monte_carlo, n_step, td_lambda)"
    )


@pytest.mark.parametrize("n", (0, -1))
def test_n_steps_refused_when_not_positive(n: int) -> None:
    message = sentence(lambda: reinforce(estimator="n_step", n=n))
    assert message == f"n-step return with n = {n}; expected n of at least 1"


@pytest.mark.parametrize("lam", (-0.5, 1.5))
def test_lambda_refused_outside_of_0_to_1(lam: float) -> None:
    expected = f"lambda = {lam}; expected a number from 0 to 1"
    assert sentence(lambda: reinforce(estimator="td_lambda", lam=lam)) == expected
    assert sentence(lambda: a2c(lam=lam)) == expected
    assert sentence(lambda: ppo(lam=lam)) == expected


@pytest.mark.parametrize("hidden", [8, "64", (0,), (4, -1), (4.0,)])
def test_widths_that_are_none_refused(hidden: Any) -> None:
    assert sentence(lambda: reinforce(hidden=hidden)) == (
        f"network 'policy': hidden layers {hidden!r}; expected their widths, like (64, 64)"
    )


def test_discount_that_is_no_number_refused() -> None:
    assert sentence(lambda: reinforce(gamma="high")) == "gamma 'high'; expected a number"
