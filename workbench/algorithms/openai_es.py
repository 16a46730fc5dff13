"""Evolution strategies (Salimans et al. 2017, "Evolution Strategies as a Scalable Alternative to
Reinforcement Learning", algorithms 1 and 2 with the additions of section 2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import workbench as wb
from workbench import environments, nn, optim, rl
from workbench.errors import ProgramError, nearest
from workbench.language.policy import policy_of

OPTIMIZERS = ("adam", "sgd")


@wb.program
def openai_es(
    B: int = 64,  # sizes are capitals in this language
    I: int = 100,
    T: int = 200,
    environment: Any = "CartPole",
    sigma: float = 0.1,
    optimizer: str = "adam",
    learning_rate: float = 0.03,
    momentum: float = 0.9,
    weight_decay: float = 0.005,
    hidden: Sequence[int] = (64, 64),
) -> dict[str, Any]:
    """OpenAI-ES: B members play an episode each, and theta moves towards what the better ones have
    more of. Episodes are cut after T steps.

    The noise of a pair of members has opposite signs (antithetic sampling), `sigma` is its
    deviation. Returns count by their ranks. `optimizer` is "adam" or "sgd" (with `momentum`), and
    `weight_decay` times theta is taken from the direction. A member does what its network says is
    best, without noise in actions.
    """
    if optimizer not in OPTIMIZERS:
        raise ProgramError(
            f"unknown optimizer {optimizer!r}: {nearest(optimizer, OPTIMIZERS, 'optimizers')}"
        )
    P = wb.size(B // 2)
    b, i, t, p = wb.dims(b=B, i=I, t=T, p=P)
    env = environments.named(environment)
    actor = policy_of(env, hidden, "policy")
    theta = nn.parameters(actor.mlp, over=i)

    # members 2 p and 2 p + 1 have theta + sigma * noise and theta - sigma * noise
    weights = theta.tensors.items()
    with wb.scope("noise"):
        drawn = {name: wb.normal(shape=x.shape, over=(i, p)) for name, x in weights}
        noise = nn.given(drawn).tensors
    with wb.scope("member"):
        shift = sigma * wb.cast(1 - 2 * wb.index(b % 2), float)
        member = nn.given({name: x + shift * noise[name][i, b // 2] for name, x in weights})

    with wb.scope("acting", named=False):
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        alive = wb.recurrent("alive", (), over=(b, i, t), dtype=bool)
        action = actor.best(member, env.observe(state))
        following, reward, terminated, truncated = env.step(state, action)
        state[b, i, 0] = env.reset(over=(b, i))
        state[b, i, t + 1] = following
        alive[b, i, 0] = True
        alive[b, i, t + 1] = alive & ~(terminated | truncated)
        fitness = wb.where(alive, reward, 0.0).sum(over=t)

    with wb.scope("learning", named=False):
        plus = rl.centered_rank(fitness[2 * p, i], fitness[0:B, i])
        minus = rl.centered_rank(fitness[2 * p + 1, i], fitness[0:B, i])
        better = plus - minus
        with wb.scope("direction"):
            scale = wb.cast(wb.index(B), float) * sigma
            ascent = {name: (better * x).sum(over=p) / scale for name, x in noise.items()}
            direction = optim.estimate(
                theta, {name: weight_decay * x - ascent[name] for name, x in weights}
            )
        if optimizer == "adam":
            theta.update(optim.adam(direction, learning_rate))
        else:
            theta.update(optim.sgd(direction, learning_rate, momentum))
    return {
        "episode_return": fitness.mean(over=b),
        "best_return": fitness.max(over=b),
        "episodes": wb.cast(alive[b, i, 0], int).sum(over=b),
    }
