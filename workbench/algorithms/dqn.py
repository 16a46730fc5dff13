"""Deep Q-learning (Mnih et al. 2015, algorithm 1), as CleanRL's `dqn.py` documents it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.language.policy import choices_of


@wb.program
def dqn(
    B: int = 1,  # sizes are capitals in this language
    I: int = 50_000,
    T: int = 10,
    N: int = 10_000,
    K: int = 128,
    environment: Any = "CartPole",
    gamma: float = 0.99,
    n: int = 1,
    double: bool = False,
    duelling: bool = False,
    learning_rate: float = 2.5e-4,
    every: int = 50,
    learning_starts: int = 10_000,
    epsilon: tuple[float, float] = (1.0, 0.05),
    exploring: float = 0.5,
    priorities: tuple[float, float] | None = None,
    clip_error: bool = False,
    hidden: Sequence[int] = (120, 84),
) -> dict[str, Any]:
    """DQN: after every T steps of B environments one Adam step on K of the last N of them.

    Actions are random with a probability that goes from the first `epsilon` to the second over the
    share `exploring` of all steps. Learning starts behind `learning_starts` steps; the target
    network is copied after `every` updates. `n` is the number of rewards in a target (Sutton &
    Barto 2018, eq. 7.1). `double` has the learning network choose the target's action (van Hasselt
    et al. 2016), `duelling` adds the worth of a state and the advantages of actions (Wang et al.
    2016), `clip_error` cuts the slope of errors to [-1, 1], as the paper does. `priorities`, alpha
    and beta, has steps drawn by the size of their last error (Schaul et al. 2016, algorithm 1);
    beta goes from there to 1 over all updates.
    """
    b, i, t, k = wb.dims(b=B, i=I, t=T, k=K)
    env = environments.named(environment)
    actions = choices_of(env)
    make = nn.duelling if duelling else nn.mlp
    q = make("q", env.observation_size, hidden, actions, activation=wb.relu, output_gain=1.0)
    theta = nn.parameters(q, over=i)
    target = nn.target(theta, every=every)

    # acting: environments go on from one update to the next and restart where an episode is done
    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        observation = env.observe(state)
        passed = wb.cast(wb.index(i * T + t), float) / (exploring * wb.cast(wb.index(I * T), float))
        first, last = epsilon
        explores = wb.uniform(over=(b, i, t)) < first + (last - first) * wb.minimum(passed, 1.0)
        anything = wb.cast(wb.uniform(over=(b, i, t)) * float(actions), int)
        action = wb.where(explores, anything, q(theta, observation).argmax(axis=0))
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = env.restart(done, following)
        episode_return, episodes = rl.episodes(reward, done, b, i, t)

    with wb.scope("learning", named=False):
        fields = {
            "observation": (float, env.observation_size),
            "action": (int, ()),
            "reward": (float, ()),
            "following": (float, env.observation_size),
            "terminated": (bool, ()),
            "done": (bool, ()),
        }
        replay = rl.Replay(N, fields, over=(b, i, t))
        replay.write(
            observation=observation,
            action=action,
            reward=reward,
            following=env.observe(following),
            terminated=terminated,
            done=done,
        )
        batch: Any
        if priorities is None:
            batch = replay.sample(k)
        else:
            alpha, beta = priorities
            batch = replay.sample_by(k, alpha, optim.linear_annealing(beta, 1.0, over=i))
        gain, discount, end = rl.n_step_sample(batch, n, gamma)

        # what the target network says of the state behind the last reward
        ahead = q(target, end["following"])
        best = q(theta, end["following"]).argmax(axis=0) if double else ahead.argmax(axis=0)
        worth = wb.where(end["terminated"], 0.0, discount * ahead[..., best])
        chosen = q(theta, batch["observation"])[..., batch["action"]]
        error = chosen - wb.stop_gradient(gain + worth)

        with wb.scope("loss"):
            cost = rl.huber(error) if clip_error else error**2
            if priorities is not None:
                cost = batch.weights * cost
                replay.update(wb.absolute(error) + 1e-6)
            loss = cost.mean(over=k)
        learns = wb.index((i + 1) * T * B) > learning_starts
        theta.update(optim.adam(wb.gradient(loss, theta), learning_rate, when=learns))
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
