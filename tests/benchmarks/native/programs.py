"""The programs that are measured, and the variants in which each backend runs them."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench import environments, nn, rl
from workbench.algorithms import a2c, ppo, reinforce
from workbench.language.policy import policy_of
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist
from workbench.transforms.step.refusal import Refused
from workbench.variants.variant import Variant, optimize, variant

SAMPLED = {"b": 32, "k": 64}
"""The sizes of blocks of environments, and of samples of a minibatch."""
WHOLE = {"b": 16}
"""Those of programs that learn from whole rollouts, which a block keeps."""


RUNS = 2
"""Runs of blocks that are added up: those of one thread."""


@wb.program
def rollout(
    B: int = 64,
    I: int = 10,
    T: int = 128,
    environment: Any = "CartPole",
    hidden: tuple[int, ...] = (64, 64),
) -> dict[str, Any]:
    """Acting as PPO does, without its critic: nothing is learned."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    env = environments.named(environment)
    actor = policy_of(env, hidden)
    theta = nn.parameters(*actor.networks)
    state = wb.recurrent("state", env.state_size, over=(b, i, t))
    policy = actor(theta, env.observe(state))
    action = policy.sample()
    following, reward, terminated, truncated = env.step(state, action)
    done = terminated | truncated
    state[b, 0, 0] = env.reset(over=b)
    state[b, i + 1, 0] = state[b, i, T]
    state[b, i, t + 1] = env.restart(done, following)
    episode_return, episodes = rl.episodes(reward, done, b, i, t)
    likelihood = policy.log_probability(action).sum(over=t).mean(over=b)
    return {"episode_return": episode_return, "episodes": episodes, "likelihood": likelihood}


TEMPLATES = {"ppo": ppo, "a2c": a2c, "reinforce": reinforce, "rollout": rollout}
ALGORITHMS = ("reinforce", "reinforce:n_step", "reinforce:td_lambda", "a2c", "ppo")


def program_of(name: str, environment: str, hidden: int = 64) -> Program:
    """Return a program by its name, behind a colon its estimator."""
    template, _, estimator = name.partition(":")
    more = {"estimator": estimator} if estimator else {}
    made: Program = TEMPLATES[template](environment=environment, hidden=(hidden, hidden), **more)
    return made


def variant_of(program: Program, way: str) -> tuple[Variant, list[str]]:
    """Return the variant in which a program runs, and why steps were left out.

    "as written", "automatic" (the recipe for NumPy), or "blocks": compiled C's own, for which
    "automatic" stands in where environments do not run in blocks.
    """
    if way == "as written":
        return variant(program), []
    if way == "automatic":
        return optimize(program, backend="numpy"), []
    chosen, refused = variant(program), []
    blocks = SAMPLED if "k" in program.dim else WHOLE
    persisted = [Persist(d, size, RUNS) for d, size in blocks.items()]
    for step in (*persisted, Contract(), Donate()):
        try:
            chosen = chosen.apply(step)
        except Refused as error:
            refused.append(f"{step}: {error.refusal}")
            if step == persisted[0]:
                return optimize(program, backend="numpy"), refused
    return chosen, refused
