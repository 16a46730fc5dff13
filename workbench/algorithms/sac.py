"""Soft actor-critic (Haarnoja et al. 2018, "Soft Actor-Critic Algorithms and Applications",
algorithm 1), as CleanRL's `sac_continuous_action.py` documents it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.language.policy import bounds_of


@wb.program
def sac(
    B: int = 1,  # sizes are capitals in this language
    I: int = 15_000,
    T: int = 1,
    N: int = 1_000_000,
    K: int = 256,
    environment: Any = "Pendulum",
    gamma: float = 0.99,
    tau: float = 0.005,
    learning_rate: float = 3e-4,
    critic_rate: float = 1e-3,
    temperature: float | None = None,
    learning_starts: int = 5_000,
    hidden: Sequence[int] = (256, 256),
) -> dict[str, Any]:
    """SAC: after every T steps of B environments one Adam step each of critics, actor, temperature,
    on K of the last N steps.

    The temperature, the weight of entropy, starts at 1 and keeps the entropy near minus the number
    of entries of an action; a given one stays. Learning starts behind `learning_starts` steps, up
    to which actions are uniform. Two target critics follow by a share of `tau`. `loss` is the
    critics'.
    """
    b, i, t, k = wb.dims(b=B, i=I, t=T, k=K)
    env = environments.named(environment)
    low, high = bounds_of(env)
    size, seen = env.action_size, env.observation_size
    actor = nn.mlp("actor", seen, hidden, 2 * size, activation=wb.relu, output_gain=1.0)
    critics = [
        nn.mlp(f"critic_{n}", seen + size, hidden, 1, activation=wb.relu, output_gain=1.0)
        for n in (1, 2)
    ]
    theta = nn.parameters(actor, over=i)
    phi = nn.parameters(*critics, over=i)
    target = nn.target(phi, tau=tau)

    def policy(observation: wb.Tensor) -> wb.SquashedNormal:
        output = actor(theta, observation)
        log_std = -5.0 + 3.5 * (wb.tanh(output[..., size:]) + 1.0)  # from -5 to 2
        return wb.SquashedNormal(output[..., :size], wb.exp(log_std), low, high)

    def values(phi: Any, observation: wb.Tensor, action: wb.Tensor) -> list[wb.Tensor]:
        both = wb.concatenate([observation, action])
        return [critic(phi, both)[..., 0] for critic in critics]

    # acting: environments go on from one update to the next and restart where an episode is done
    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        observation = env.observe(state)
        anything = wb.uniform(low, high, shape=size, over=(b, i, t))
        explores = wb.index((i * T + t) * B) < learning_starts
        action = wb.where(explores, anything, policy(observation).sample())
        following, reward, terminated, truncated = env.step(state, action)
        done = terminated | truncated
        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = env.restart(done, following)
        episode_return, episodes = rl.episodes(reward, done, b, i, t)

    with wb.scope("learning", named=False):
        fields = {
            "observation": (float, seen),
            "action": (float, size),
            "reward": (float, ()),
            "following": (float, seen),
            "terminated": (bool, ()),
        }
        replay = rl.Replay(N, fields, over=(b, i, t))
        replay.write(
            observation=observation,
            action=action,
            reward=reward,
            following=env.observe(following),
            terminated=terminated,
        )
        batch = replay.sample(k)
        learns = wb.index((i + 1) * T * B) > learning_starts

        # the weight of entropy
        alpha: Any = temperature
        if temperature is None:
            psi = nn.parameters(nn.vector("temperature", 1), over=i)
            alpha = wb.exp(psi.tensors["temperature.value"][..., 0])

        with wb.scope("critic_loss"):
            action, log_probability = policy(batch["following"]).sample_with_log_probability()
            soft = wb.minimum(*values(target, batch["following"], action)) - alpha * log_probability
            aim = batch["reward"] + wb.where(batch["terminated"], 0.0, gamma * soft)
            estimates = values(phi, batch["observation"], batch["action"])
            first, second = (estimate - wb.stop_gradient(aim) for estimate in estimates)
            loss = (first**2).mean(over=k) + (second**2).mean(over=k)
        phi.update(optim.adam(wb.gradient(loss, phi), critic_rate, when=learns))

        with wb.scope("actor_loss"):
            now = policy(batch["observation"]).reparameterized()
            action, log_probability = now.sample_with_log_probability()
            worth = wb.minimum(*values(phi[i + 1].constant(), batch["observation"], action))
            weighted = wb.stop_gradient(alpha) if temperature is None else alpha
            actor_loss = (weighted * log_probability - worth).mean(over=k)
        theta.update(optim.adam(wb.gradient(actor_loss, theta), learning_rate, when=learns))

        if temperature is None:
            with wb.scope("temperature_loss"):
                surplus = wb.stop_gradient(log_probability) - float(size)
                temperature_loss = -(alpha * surplus).mean(over=k)
            gradient = wb.gradient(temperature_loss, psi)
            psi.update(optim.adam(gradient, critic_rate, when=learns))
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
