"""Actor-critic with V-trace targets (Espeholt et al. 2018, "IMPALA"): actors that are behind their
learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.errors import ProgramError
from workbench.language.policy import policy_of
from workbench.polyhedral.expression import whole


@wb.program
def vtrace(
    B: int = 16,  # sizes are capitals in this language
    I: int = 3125,
    T: int = 10,
    environment: Any = "CartPole",
    lag: int = 1,
    gamma: float = 0.99,
    lam: float = 1.0,
    clip_rho: float = 1.0,
    clip_c: float = 1.0,
    learning_rate: float = 1e-3,
    anneal: bool = False,
    entropy_weight: float = 0.01,
    value_weight: float = 0.5,
    largest_norm: float = 0.5,
    hidden: Sequence[int] = (64, 64),
    layers: str = "unrolled",
    bootstrap_at_time_limit: bool = False,
) -> dict[str, Any]:
    """V-trace actor-critic: after every T steps one RMSProp step on all B * T of them.

    Actors take the parameters that the learner had `lag` updates ago (the first ones, up to then).
    What that makes of the policy is put right by importance weights, cut at `clip_rho` in each TD
    residual and in the policy gradient (section 4.2), and at `clip_c` times `lam` in the traces
    (remark 2). With `lag` = 0 and no cut below 1, targets are A2C's lambda-returns. Actor and
    critic are separate networks.
    """
    if whole(lag) is None or lag < 0:
        raise ProgramError(f"lag={lag!r}; expected a whole number of updates, from 0 on")
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.named(environment)
    actor = policy_of(env, hidden, layers=layers)
    critic = nn.mlp("critic", env.observation_size, hidden, 1, output_gain=1.0, layers=layers)
    theta = nn.parameters(*actor.networks, critic, over=i)

    # acting: environments go on from one update to the next and restart where an episode is done
    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        observation = env.observe(state)
        behaviour = actor(theta[wb.maximum(i - lag, 0)], observation)
        action = behaviour.sample()
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = env.restart(done, following)
        episode_return, episodes = rl.episodes(reward, done, b, i, t)

    with wb.scope("learning", named=False):
        # what acting is judged by
        value = wb.recurrent("value", (), over=(b, i, t))
        value[b, i, t] = critic(theta, observation)[..., 0]
        value[b, i, T] = critic(theta, env.observe(state[b, i, T]))[..., 0]
        if bootstrap_at_time_limit:
            beyond = critic(theta, env.observe(following))[..., 0]
            reward = reward + wb.where(truncated & ~terminated, gamma * beyond, 0.0)
        with wb.scope("loss"):
            policy = actor(theta, observation)
            log_probability = policy.log_probability(action)
            ratio = wb.exp(log_probability - behaviour.log_probability(action))
        target, advantage = map(
            wb.stop_gradient,
            rl.vtrace(reward, value, done, ratio, t, gamma, lam, clip_rho, clip_c),
        )

        with wb.scope("loss"):
            policy_loss = -(log_probability * advantage).mean(over=(b, t))
            value_loss = ((value - target) ** 2).mean(over=(b, t))
            entropy = policy.entropy().mean(over=(b, t))
            loss = policy_loss - entropy_weight * entropy + value_weight * value_loss

        rate = optim.linear_annealing(learning_rate, 0.0, over=i) if anneal else learning_rate
        gradient = optim.clip_by_global_norm(wb.gradient(loss, theta), largest_norm)
        theta.update(optim.rmsprop(gradient, rate))
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
