"""Proximal policy optimization (Schulman et al. 2017), as CleanRL's `ppo.py` and
`ppo_continuous_action.py` document it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.language.policy import policy_of


@wb.program
def ppo(
    B: int = 4,  # sizes are capitals in this language
    I: int = 976,
    T: int = 128,
    E: int = 4,
    M: int = 4,
    environment: Any = "CartPole",
    gamma: float = 0.99,
    lam: float = 0.95,
    clip: float = 0.2,
    learning_rate: float = 2.5e-4,
    anneal: bool = False,
    entropy_weight: float = 0.01,
    value_weight: float = 0.5,
    largest_norm: float = 0.5,
    hidden: Sequence[int] = (64, 64),
    layers: str = "unrolled",
    shuffle: bool = True,
    clip_value: bool = True,
    bootstrap_at_time_limit: bool = False,
    normalize_observations: bool = False,
    normalize_rewards: bool = False,
) -> dict[str, Any]:
    """PPO with clipped ratio and value loss, GAE, E epochs of M minibatches over B * T samples.

    Without `shuffle` every learning step uses all samples in their original order: one epoch of one
    minibatch differs from that only by the order, and nothing is read at random.
    """
    b, i, t, e, m = wb.dims(b=B, i=I, t=T, e=E, m=M)
    env = environments.named(environment)
    actor = policy_of(env, hidden, layers=layers)
    critic = nn.mlp("critic", env.observation_size, hidden, 1, output_gain=1.0, layers=layers)
    theta = nn.parameters(*actor.networks, critic, over=(i, e, m))

    # acting: environments go on from one update to the next and restart where an episode is done
    with wb.scope("acting", named=False):
        acting = theta[i, 0, 0]
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        observation = env.observe(state)
        if normalize_observations:
            mean, variance = rl.running_moments(observation, b, i, t)
            observation = wb.clip((observation - mean) / wb.sqrt(variance + 1e-8), -10.0, 10.0)
        policy = actor(acting, observation)
        action = policy.sample()
        log_probability = policy.log_probability(action)
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = env.restart(done, following)
        episode_return, episodes = rl.episodes(reward, done, b, i, t)

    with wb.scope("learning", named=False):
        # what acting is judged by
        value = wb.recurrent("value", (), over=(b, i, t))
        value[b, i, t] = critic(acting, observation)[..., 0]
        last = env.observe(state[b, i, T])
        if normalize_observations:
            at_end = (last - mean[i, T - 1]) / wb.sqrt(variance[i, T - 1] + 1e-8)
            last = wb.clip(at_end, -10.0, 10.0)
        value[b, i, T] = critic(acting, last)[..., 0]
        if normalize_rewards:
            reward = rl.scaled_rewards(reward, done, b, i, t, gamma)
        if bootstrap_at_time_limit:
            beyond = critic(acting, env.observe(following))[..., 0]
            reward = reward + wb.where(truncated & ~terminated, gamma * beyond, 0.0)
        advantage = rl.gae(reward, value, done, t, gamma, lam)
        target = advantage + value

        # every epoch visits all samples once, in a new order
        samples: Any = (b, t)
        if shuffle:
            K = wb.size(B * T // M)
            samples = wb.dim(k=K)
            with wb.scope("minibatch"):
                sample = wb.permutation(B * T, over=(i, e))[m * K + samples]
                row, step = sample // T, sample % T

        def batch(x: Any) -> Any:
            return wb.gather(x, b=row, t=step) if shuffle else x[b, i, t]

        with wb.scope("loss"):
            seen = batch(observation)
            new = actor(theta, seen)
            ratio = wb.exp(new.log_probability(batch(action)) - batch(log_probability))
            a = rl.normalize(batch(advantage), over=samples)
            policy_loss = wb.maximum(-a * ratio, -a * wb.clip(ratio, 1 - clip, 1 + clip)).mean(
                over=samples
            )
            estimate = critic(theta, seen)[..., 0]
            error = (estimate - batch(target)) ** 2
            if clip_value:
                before = batch(value)
                near = before + wb.clip(estimate - before, -clip, clip)
                error = wb.maximum(error, (near - batch(target)) ** 2)
            value_loss = 0.5 * error.mean(over=samples)
            entropy = new.entropy().mean(over=samples)
            loss = policy_loss - entropy_weight * entropy + value_weight * value_loss

        rate = optim.linear_annealing(learning_rate, 0.0, over=i) if anneal else learning_rate
        gradient = optim.clip_by_global_norm(wb.gradient(loss, theta), largest_norm)
        theta.update(optim.adam(gradient, rate, eps=1e-5))
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
