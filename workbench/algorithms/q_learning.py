"""Q-learning (Watkins 1989; Watkins & Dayan 1992): a table of the worth of actions, learned by
steps towards the best of the following place, whatever is done there.
"""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench import environments, rl


@wb.program
def q_learning(
    B: int = 16,  # learners, each with a table of its own
    I: int = 100,
    T: int = 200,
    environment: Any = "FrozenLake-v1",
    alpha: float = 0.1,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    initial: float = 1.0,
) -> dict[str, Any]:
    """Tabular Q-learning: `B` learners side by side, which act epsilon-greedily in their tables.

    `environment` is the name of a Gymnasium environment with a table of transitions, or an
    `environments.Tabular`. An entry moves by `alpha` of its TD error; `loss` is the mean of the
    squared errors of `T` steps, `table` what is learned at the end. Of equally good actions the
    first is taken, so that an `initial` worth above all rewards makes learners try everything.
    """
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.tabular(environment)
    q = wb.recurrent("q", (env.observation_count, env.action_count), over=(b, i, t))

    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t), dtype=int)
        place = env.observe(state)
        explores = wb.uniform(over=(b, i, t)) < epsilon
        anything = wb.cast(wb.uniform(over=(b, i, t)) * float(env.action_count), int)
        action = wb.where(explores, anything, q[..., place, :].argmax(axis=0))
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = env.restart(done, following)
        episode_return, episodes = rl.episodes(reward, done, b, i, t)

    with wb.scope("learning", named=False):
        worth = wb.where(terminated, 0.0, q[..., env.observe(following), :].max())
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
