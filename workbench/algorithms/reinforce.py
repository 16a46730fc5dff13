"""REINFORCE (Williams 1992): the Monte Carlo policy gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim


@wb.program
def reinforce(
    B: int = 64,  # sizes are capitals in this language
    I: int = 100,
    T: int = 200,
    gamma: float = 0.99,
    learning_rate: float = 3e-3,
    hidden: Sequence[int] = (64, 64),
) -> dict[str, Any]:
    """REINFORCE with return-to-go (Williams 1992): one episode per environment and update."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.CartPole()
    network = nn.mlp("policy", env.observation_size, hidden, env.action_count)
    theta = nn.parameters(network, over=i)

    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    alive = wb.recurrent("alive", (), over=(b, i, t), dtype=bool)
    policy = wb.Categorical(logits=network(theta, env.observe(state)))
    action = policy.sample()
    following, reward, terminated, truncated = env.step(state, action)
    state[b, i, 0] = env.reset(over=(b, i))
    state[b, i, t + 1] = following
    alive[b, i, 0] = True
    alive[b, i, t + 1] = alive & ~(terminated | truncated)

    gain = wb.where(alive, reward, 0.0)
    to_go = wb.discounted_sum(gain[b, i, t:T], gamma)
    chosen = policy.log_probability(action)
    loss = -wb.where(alive, chosen * wb.stop_gradient(to_go), 0.0).sum(over=t).mean(over=b)
    theta.update(optim.adam(wb.gradient(loss, theta), learning_rate))

    # every environment plays one episode an update, which ends at the latest after T steps
    episodes = wb.cast(alive[b, i, 0], int).sum(over=b)
    episode_return = gain.sum(over=t).mean(over=b)
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
