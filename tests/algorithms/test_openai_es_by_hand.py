"""Updates of OpenAI-ES against a second writing of it in NumPy, as the paper has it.

Only the first parameters, the draws and the environments' steps are taken from the program.
Members, what they do, returns, ranks (by sorting), the direction, Adam and momentum are computed
here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.algorithms.recorded import Adam, Bent, Values, observed, recorded
from workbench import environments
from workbench.algorithms import openai_es

B, I, T = 6, 40, 5
SIGMA, RATE, DECAY, MOMENTUM = 0.3, 0.05, 0.02, 0.7
SETTINGS: dict[str, Any] = {
    "B": B,
    "I": I,
    "T": T,
    "sigma": SIGMA,
    "learning_rate": RATE,
    "momentum": MOMENTUM,
    "weight_decay": DECAY,
    "hidden": (6, 5),
}
LAYERS = [f"{kind}_{n}" for n in (1, 2, 3) for kind in ("weight", "bias")]
NAMES = [f"parameters.policy.{layer}" for layer in LAYERS]
NOISE = [f"noise.policy.{layer}" for layer in LAYERS]


class Momentum:
    """Gradient descent with momentum, on a list of arrays, which it changes."""

    def __init__(self, parameters: list[Values]) -> None:
        self.parameters = parameters
        self.velocity = [0.0 * x for x in parameters]

    def update(self, gradient: list[Values]) -> None:
        """Make one step."""
        for k, g in enumerate(gradient):
            self.velocity[k] = MOMENTUM * self.velocity[k] + g
            self.parameters[k] -= RATE * self.velocity[k]


def shaped(fitness: Values) -> Values:
    """Ranks from -1/2 to 1/2; those of equal values are averaged."""
    order = np.sort(fitness)
    first = np.searchsorted(order, fitness, side="left")
    last = np.searchsorted(order, fitness, side="right") - 1
    return np.asarray((first + last) / 2 / (len(fitness) - 1) - 0.5)


@pytest.mark.parametrize(("name", "optimizer"), [("CartPole", "adam"), ("Pendulum", "sgd")])
def test_first_40_updates_are_the_papers(name: str, optimizer: str) -> None:
    discrete = name == "CartPole"
    env = environments.CartPole(time_limit=4) if discrete else environments.Pendulum()
    program = openai_es(**SETTINGS, environment=env, optimizer=optimizer)
    reward = ["environment.terminated"] if discrete else ["environment.reward"]
    taken = ["state", "policy.action", "fitness", *reward]
    found = recorded(program, [*NAMES, *NOISE, *taken], seed=5)
    theta = [found[n][0].copy() for n in NAMES]
    step = Adam(theta, RATE) if optimizer == "adam" else Momentum(theta)
    for i in range(I):
        fitness = np.zeros(B)
        for b in range(B):
            sign = 1 if b % 2 == 0 else -1
            pairs = zip(theta, NOISE, strict=True)
            member = Bent([x + sign * SIGMA * found[n][i, b // 2] for x, n in pairs])
            state = found["state"][b, i, :T]
            output = member(state[:, :4] if discrete else observed(state))
            done = output.argmax(axis=1) if discrete else output
            np.testing.assert_allclose(found["policy.action"][b, i], done, rtol=1e-8, atol=1e-10)
            if discrete:
                ended = np.append(found["environment.terminated"][b, i], True)
                fitness[b] = min(int(ended.argmax()) + 1, 4, T)
            else:
                fitness[b] = found["environment.reward"][b, i].sum()
        np.testing.assert_allclose(found["fitness"][:, i], fitness, rtol=1e-12)
        utility = shaped(fitness)
        ascent = [
            sum((utility[b] * (1 if b % 2 == 0 else -1)) * found[n][i, b // 2] for b in range(B))
            for n in NOISE
        ]
        pairs = zip(theta, ascent, strict=True)
        step.update([DECAY * x - g / (B * SIGMA) for x, g in pairs])
        np.testing.assert_allclose(found["episode_return"][i], fitness.mean(), rtol=1e-9)
        np.testing.assert_allclose(found["best_return"][i], fitness.max(), rtol=1e-9)
    for n, x in zip(NAMES, theta, strict=True):
        np.testing.assert_allclose(found[n][I], x, rtol=1e-8, atol=1e-10)
