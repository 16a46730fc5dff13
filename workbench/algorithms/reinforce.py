"""REINFORCE (Williams 1992): the policy gradient over whole episodes, with three estimators of an
action's worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.errors import ProgramError, nearest
from workbench.language.policy import policy_of

ESTIMATORS = ("monte_carlo", "n_step", "td_lambda")


@wb.program
def reinforce(
    B: int = 64,  # sizes are capitals in this language
    I: int = 100,
    T: int = 200,
    environment: Any = "CartPole",
    estimator: str = "monte_carlo",
    n: int = 20,
    lam: float = 0.95,
    gamma: float = 0.99,
    learning_rate: float = 3e-3,
    value_weight: float = 0.5,
    hidden: Sequence[int] = (64, 64),
    layers: str = "unrolled",
    ends: bool = False,
) -> dict[str, Any]:
    """REINFORCE: one episode per environment and update, cut after T steps.

    `estimator` names the weight of an action's log-probability. "monte_carlo": the return-to-go,
    nothing learned but the policy. "n_step" and "td_lambda": an n-step return or a lambda-return
    minus the value of the state. That value is a network of its own, learned towards the same
    target in the same update (squared error times `value_weight`). It closes the return where the n
    steps or the horizon T end, and is the baseline.

    `ends`: an update is over with the last of its episodes (`wb.until`). Else all T steps run, and
    those past an end are masked: the same numbers, but with a value function too.
    """
    if estimator not in ESTIMATORS:
        raise ProgramError(
            f"unknown estimator {estimator!r}: {nearest(estimator, ESTIMATORS, 'estimators')}"
        )
    if ends and estimator != "monte_carlo":
        raise ProgramError(
            f"estimator {estimator!r} with ends=True: it reads a return behind the last step; "
            'expected "monte_carlo"'
        )
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.named(environment)
    actor = policy_of(env, hidden, "policy", layers)
    critic = nn.mlp("critic", env.observation_size, hidden, 1, output_gain=1.0, layers=layers)
    learned = () if estimator == "monte_carlo" else (critic,)
    theta = nn.parameters(*actor.networks, *learned, over=i)

    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        policy = actor(theta, env.observe(state))
        action = policy.sample()
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        state[b, i, 0] = env.reset(over=(b, i))
        state[b, i, t + 1] = following
        if ends:
            alive, begun = None, wb.until(done, over=t) >= 0
        else:
            alive = wb.recurrent("alive", (), over=(b, i, t), dtype=bool)
            alive[b, i, 0] = True
            alive[b, i, t + 1] = alive & ~done
            begun = alive[b, i, 0]

    with wb.scope("learning", named=False):
        gain = reward if alive is None else wb.where(alive, reward, 0.0)
        if estimator == "monte_carlo":
            worth = wb.discounted_sum(gain[b, i, t:T], gamma)
        else:
            value = wb.recurrent("value", (), over=(b, i, t))
            value[b, i, t] = critic(theta, env.observe(state))[..., 0]
            value[b, i, T] = critic(theta, env.observe(state[b, i, T]))[..., 0]
            if estimator == "n_step":
                target = wb.stop_gradient(rl.n_step_return(gain, value, done, t, n, gamma))
            else:
                target = wb.stop_gradient(rl.td_lambda(gain, value, done, t, gamma, lam))
            worth = target - value

        chosen = policy.log_probability(action)
        surrogate = chosen * wb.stop_gradient(worth)
        if alive is not None:
            surrogate = wb.where(alive, surrogate, 0.0)
        loss = -surrogate.sum(over=t).mean(over=b)
        if alive is not None and estimator != "monte_carlo":
            error = wb.where(alive, (value - target) ** 2, 0.0)
            loss = loss + value_weight * error.sum(over=t).mean(over=b)
        theta.update(optim.adam(wb.gradient(loss, theta), learning_rate))

    # every environment plays one episode an update, which ends at the latest after T steps
    with wb.scope("acting", named=False):
        episodes = wb.cast(begun, int).sum(over=b)
        episode_return = gain.sum(over=t).mean(over=b)
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
