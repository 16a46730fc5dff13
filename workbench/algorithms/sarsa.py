"""SARSA (Rummery & Niranjan 1994; Sutton & Barto 2018, section 6.4): a table of the worth of
actions, learned by steps towards that of what is done next.
"""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench import environments, rl


@wb.program
def sarsa(
    B: int = 16,  # learners, each with a table of its own
    I: int = 100,
    T: int = 200,
    environment: Any = "FrozenLake-v1",
    alpha: float = 0.1,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    initial: float = 1.0,
) -> dict[str, Any]:
    """Tabular SARSA: `B` learners side by side, which act epsilon-greedily in their tables.

    Arguments and results are those of `q_learning`. The next action is chosen before the table
    changes, and is the one that is done; behind an end of an episode that is one of the next one.
    """
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.tabular(environment)
    q = wb.recurrent("q", (env.observation_count, env.action_count), over=(b, i, t))
    state = wb.recurrent("state", env.state_size, over=(b, i, t), dtype=int)
    action = wb.recurrent("action", (), over=(b, i, t), dtype=int)

    with wb.scope("acting", named=False):
        place = env.observe(state)
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        restarted = env.restart(done, following)
        explores = wb.uniform(over=(b, i, t)) < epsilon
        anything = wb.cast(wb.uniform(over=(b, i, t)) * float(env.action_count), int)

        def chosen(at: wb.Tensor) -> wb.Tensor:
            """Return the next action where this is the place."""
            return wb.where(explores, anything, q[..., at, :].argmax(axis=0))

        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = restarted
        action[b, 0, 0] = wb.cast(wb.uniform(over=b) * float(env.action_count), int)
        action[b, i + 1, 0] = action[b, i, T]
        action[b, i, t + 1] = chosen(env.observe(restarted))
        episode_return, episodes = rl.episodes(reward, done, b, i, t)

    with wb.scope("learning", named=False):
        after = env.observe(following)
        worth = wb.where(terminated, 0.0, q[..., after, chosen(after)])
        error = reward + gamma * worth - q[..., place, action]
        q[b, 0, 0] = initial
        q[b, i + 1, 0] = q[b, i, T]
        q[b, i, t + 1] = wb.add_at(q, (place, action), alpha * error)
        loss = (error**2).mean(over=(b, t))
    return {
        "loss": loss,
        "episode_return": episode_return,
        "episodes": episodes,
        "table": q[b, I, 0],
    }
