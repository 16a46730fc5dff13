"""Advantage actor-critic (Mnih et al. 2016, algorithm S3), with synchronous actors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.language.policy import policy_of


@wb.program
def a2c(
    B: int = 16,  # sizes are capitals in this language
    I: int = 6250,
    T: int = 5,
    environment: Any = "CartPole",
    gamma: float = 0.99,
    lam: float = 1.0,
    learning_rate: float = 7e-4,
    anneal: bool = False,
    entropy_weight: float = 0.01,
    value_weight: float = 0.5,
    largest_norm: float = 0.5,
    hidden: Sequence[int] = (64, 64),
    layers: str = "unrolled",
    bootstrap_at_time_limit: bool = False,
) -> dict[str, Any]:
    """A2C: after every T steps one RMSProp step on all B * T of them, then they are forgotten.

    With `lam` = 1 each step's return runs to the end of the T steps and is closed by the value
    there, as in the paper; less makes it a lambda-return. Actor and critic are separate networks.
    """
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.named(environment)
    actor = policy_of(env, hidden, layers=layers)
    critic = nn.mlp("critic", env.observation_size, hidden, 1, output_gain=1.0, layers=layers)
    theta = nn.parameters(*actor.networks, critic, over=i)

    # acting: environments go on from one update to the next and restart where an episode is done
    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        observation = env.observe(state)
        policy = actor(theta, observation)
        action = policy.sample()
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
        target = wb.stop_gradient(rl.td_lambda(reward, value, done, t, gamma, lam))
        advantage = wb.stop_gradient(target - value)

        with wb.scope("loss"):
            policy_loss = -(policy.log_probability(action) * advantage).mean(over=(b, t))
            value_loss = ((value - target) ** 2).mean(over=(b, t))
            entropy = policy.entropy().mean(over=(b, t))
            loss = policy_loss - entropy_weight * entropy + value_weight * value_loss

        rate = optim.linear_annealing(learning_rate, 0.0, over=i) if anneal else learning_rate
        gradient = optim.clip_by_global_norm(wb.gradient(loss, theta), largest_norm)
        theta.update(optim.rmsprop(gradient, rate))
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
