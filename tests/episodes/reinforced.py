"""REINFORCE over whole episodes: with an end, and with a mask up to the horizon instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim


@wb.program
def reinforced(
    B: int = 64,
    I: int = 10,
    T: int = 500,
    gamma: float = 0.99,
    learning_rate: float = 3e-3,
    hidden: Sequence[int] = (64, 64),
    ends: bool = True,
) -> dict[str, Any]:
    """REINFORCE on CartPole."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.CartPole()
    network = nn.mlp("policy", env.observation_size, hidden, env.action_count)
    theta = nn.parameters(network, over=i)
    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    policy = wb.Categorical(logits=network(theta, env.observe(state)))
    action = policy.sample()
    following, reward, terminated, truncated = env.step(state, action)
    done = terminated | truncated
    state[b, i, 0] = env.reset(over=(b, i))
    state[b, i, t + 1] = following
    chosen = policy.log_probability(action)
    if ends:
        wb.until(done, over=t)
        gain = reward
        to_go = wb.discounted_sum(gain[b, i, t:T], gamma)
        surrogate = chosen * wb.stop_gradient(to_go)
    else:
        alive = wb.recurrent("alive", (), over=(b, i, t), dtype=bool)
        alive[b, i, 0] = True
        alive[b, i, t + 1] = alive & ~done
        gain = wb.where(alive, reward, 0.0)
        to_go = wb.discounted_sum(gain[b, i, t:T], gamma)
        surrogate = wb.where(alive, chosen * wb.stop_gradient(to_go), 0.0)
    loss = -surrogate.sum(over=t).mean(over=b)
    theta.update(optim.adam(wb.gradient(loss, theta), learning_rate))
    return {"loss": loss, "episode_return": gain.sum(over=t).mean(over=b)}
