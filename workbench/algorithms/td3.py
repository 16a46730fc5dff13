"""Twin delayed deep deterministic policy gradient (Fujimoto et al. 2018, algorithm 1), as CleanRL's
`td3_continuous_action.py` documents it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.language.policy import bounds_of


@wb.program
def td3(
    B: int = 1,  # sizes are capitals in this language
    I: int = 25_000,
    T: int = 1,
    N: int = 1_000_000,
    K: int = 256,
    environment: Any = "Pendulum",
    gamma: float = 0.99,
    tau: float = 0.005,
    learning_rate: float = 3e-4,
    exploration_noise: float = 0.1,
    policy_noise: float = 0.2,
    noise_clip: float = 0.5,
    delay: int = 2,
    learning_starts: int = 5_000,
    hidden: Sequence[int] = (256, 256),
) -> dict[str, Any]:
    """TD3: after every T steps of B environments one Adam step of two critics on K of the last N
    steps, and after every `delay` of these one of the actor, whom all targets follow by `tau`.

    Noises are standard deviations of actions whose bounds are -1 and 1: `exploration_noise` of what
    is done, `policy_noise`, cut to `noise_clip`, of the target's actions. Learning starts behind
    `learning_starts` steps, up to which actions are uniform. `loss` is the critics'.
    """
    b, i, t, k = wb.dims(b=B, i=I, t=T, k=K)
    env = environments.named(environment)
    low, high = bounds_of(env)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    size, seen = env.action_size, env.observation_size
    actor = nn.mlp("actor", seen, hidden, size, activation=wb.relu)
    critics = [
        nn.mlp(f"critic_{n}", seen + size, hidden, 1, activation=wb.relu, output_gain=1.0)
        for n in (1, 2)
    ]
    learns = wb.index((i + 1) * T * B) > learning_starts
    due = learns & (wb.index(i + 1) % delay == 0)
    theta = nn.parameters(actor, over=i)
    phi = nn.parameters(*critics, over=i)
    theta_target, phi_target = (nn.target(x, tau=tau, when=due) for x in (theta, phi))

    def policy(theta: Any, observation: wb.Tensor) -> wb.Tensor:
        action: wb.Tensor = wb.tanh(actor(theta, observation)) * half + middle
        return action

    def values(phi: Any, observation: wb.Tensor, action: wb.Tensor) -> list[wb.Tensor]:
        both = wb.concatenate([observation, action])
        return [critic(phi, both)[..., 0] for critic in critics]

    # acting: environments go on from one update to the next and restart where an episode is done
    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        observation = env.observe(state)
        anything = wb.uniform(low, high, shape=size, over=(b, i, t))
        noise = wb.normal(shape=size, over=(b, i, t)) * (exploration_noise * half)
        explores = wb.index((i * T + t) * B) < learning_starts
        noisy = wb.clip(policy(theta, observation) + noise, low, high)
        action = wb.where(explores, anything, noisy)
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

        with wb.scope("critic_loss"):
            drawn = wb.normal(shape=size, over=(i, k)) * policy_noise
            smoothing = wb.clip(drawn, -noise_clip, noise_clip) * half
            action = wb.clip(policy(theta_target, batch["following"]) + smoothing, low, high)
            worth = wb.minimum(*values(phi_target, batch["following"], action))
            aim = batch["reward"] + wb.where(batch["terminated"], 0.0, gamma * worth)
            estimates = values(phi, batch["observation"], batch["action"])
            first, second = (estimate - wb.stop_gradient(aim) for estimate in estimates)
            loss = (first**2).mean(over=k) + (second**2).mean(over=k)
        phi.update(optim.adam(wb.gradient(loss, phi), learning_rate, when=learns))

        with wb.scope("actor_loss"):
            action = policy(theta, batch["observation"])
            worth, _ = values(phi[i + 1].constant(), batch["observation"], action)
            actor_loss = -worth.mean(over=k)
        theta.update(optim.adam(wb.gradient(actor_loss, theta), learning_rate, when=due))
    return {"loss": loss, "episode_return": episode_return, "episodes": episodes}
