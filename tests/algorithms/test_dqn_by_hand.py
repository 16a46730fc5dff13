"""The first 200 updates of DQN against a second writing of it in NumPy, as the papers have it.

Only the first parameters, the draws and the environments' steps are taken from the program. What is
done, held and drawn, targets, losses, derivatives, Adam and the target network are computed here,
step by step, with layers and derivatives written out by hand.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.algorithms.recorded import Adam, Values, recorded
from workbench import environments
from workbench.algorithms import dqn

B, I, T, N, K = 2, 200, 3, 60, 8
GAMMA, RATE, EVERY, STARTS, EXPLORING = 0.9, 0.01, 7, 100, 0.5
FIRST, LAST = 1.0, 0.1
SETTINGS: dict[str, Any] = {
    "B": B,
    "I": I,
    "T": T,
    "N": N,
    "K": K,
    "environment": environments.CartPole(time_limit=30),
    "gamma": GAMMA,
    "learning_rate": RATE,
    "every": EVERY,
    "learning_starts": STARTS,
    "epsilon": (FIRST, LAST),
    "exploring": EXPLORING,
    "hidden": (6, 5),
}
TAKEN = {
    "state": ("state",),
    "following": ("environment.following",),
    "done": ("replay.done", "done"),
    "terminated": ("replay.terminated",),
    "action": ("replay.action",),
    "explores": ("explores_uniform",),
    "anything": ("anything_uniform",),
    "words": ("replay.drawn_b_uniform", "replay.share"),
}
"""Draws and weights of the program, by the arrays that may hold them."""
CASES: dict[str, dict[str, Any]] = {
    "as in 2015": {"clip_error": True},
    "double": {"double": True},
    "duelling, three rewards": {"duelling": True, "n": 3},
    "by priorities": {"priorities": (0.7, 0.5), "n": 2},
}


class Net:
    """Two layers of rectified units, and a linear one: of actions, or of worth and advantages."""

    def __init__(self, p: list[Values]) -> None:
        self.p = p

    def layers(self, x: Values) -> list[Values]:
        """Inputs, the hidden layers before their units, and the values of actions."""
        first = x @ self.p[0] + self.p[1]
        second = np.maximum(first, 0.0) @ self.p[2] + self.p[3]
        features = np.maximum(second, 0.0)
        values = features @ self.p[4] + self.p[5]
        if len(self.p) == 8:  # worth, then advantages
            advantage = features @ self.p[6] + self.p[7]
            values = values + advantage - advantage.mean(axis=-1, keepdims=True)
        return [x, first, second, values]

    def __call__(self, x: Values) -> Values:
        return self.layers(x)[-1]

    def backward(self, layers: list[Values], dy: Values) -> list[Values]:
        """Derivatives, given those of the values. At 0 a unit counts as open, as `maximum` does."""
        x, first, second, _ = layers
        open_first, open_second = first >= 0, second >= 0
        first, second = first * open_first, second * open_second
        if len(self.p) == 8:
            d_worth = dy.sum(axis=-1, keepdims=True)
            d_advantage = dy - dy.mean(axis=-1, keepdims=True)
            last = [second.T @ d_worth, d_worth.sum(0), second.T @ d_advantage, d_advantage.sum(0)]
            d_second = d_worth @ self.p[4].T + d_advantage @ self.p[6].T
        else:
            last = [second.T @ dy, dy.sum(axis=0)]
            d_second = dy @ self.p[4].T
        d_second = d_second * open_second
        d_first = (d_second @ self.p[2].T) * open_first
        return [x.T @ d_first, d_first.sum(0), first.T @ d_second, d_second.sum(0), *last]


def names(duelling: bool) -> list[str]:
    layers = ["weight_1", "bias_1", "weight_2", "bias_2", "weight_3", "bias_3"]
    if duelling:
        features = [f"features.{name}" for name in layers[:4]]
        heads = [f"{head}.{name}" for head in ("worth", "advantage") for name in layers[:2]]
        layers = [*features, *heads]
    return [f"parameters.q.{name}" for name in layers]


def of_several_rewards(held: list[dict[str, Any]], at: int, n: int) -> tuple[float, float, int]:
    """The discounted rewards from a step on, the discount behind them, the step of the last."""
    gain, discount, step = 0.0, 1.0, at
    for ahead in range(n):
        step = at + ahead * B
        gain, discount = gain + discount * 1.0, discount * GAMMA
        if held[step]["done"] or step + B >= len(held):
            break
    return gain, discount, step


class Evenly:
    """Steps drawn from those that are held, any as likely as any other."""

    def draw(self, words: Values, numbers: range) -> tuple[list[int], Values]:
        """Positions of the drawn steps among those held, whose numbers are given, and weights."""
        pairs = (words * 2**24).astype(int).tolist()
        return [((high << 24) + low) * len(numbers) >> 48 for high, low in pairs], np.ones(K)

    def update(self, error: Values) -> None:
        """Take notice of the errors of those drawn."""


class ByPriority(Evenly):
    """Steps drawn by their priorities, by inversion: places of the ring in the order in which a
    tree has them whose leaves are numbered from N on.
    """

    def __init__(self, alpha: float, beta: float) -> None:
        self.alpha, self.beta = alpha, beta
        self.priority, self.greatest, self.seen = np.zeros(N), 1.0, 0
        leaves = np.arange(N, 2 * N)
        self.order = np.argsort(leaves / 2.0 ** np.floor(np.log2(leaves)))

    def draw(self, words: Values, numbers: range) -> tuple[list[int], Values]:
        """Positions of the drawn steps among those held, whose numbers are given, and weights."""
        for number in numbers[-B * T :]:
            self.priority[number % N] = self.greatest
        p = self.priority**self.alpha / (self.priority**self.alpha).sum()
        cumulative = np.cumsum(p[self.order])
        places = self.order[np.searchsorted(cumulative, (np.arange(K) + words) / K, side="right")]
        beta = self.beta + (1 - self.beta) * self.seen / I
        weights = (len(numbers) * p[places]) ** -beta
        self.places, self.seen = places, self.seen + 1
        return ((places - numbers[0]) % N).tolist(), weights / weights.max()

    def update(self, error: Values) -> None:
        """Take notice of the errors of those drawn."""
        for place, size in zip(self.places, np.abs(error), strict=True):
            self.priority[place] = size + 1e-6
        self.greatest = max(self.greatest, np.abs(error).max() + 1e-6)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_first_200_updates_are_the_papers(case: dict[str, Any]) -> None:
    parameters = names(case.get("duelling", False))
    program = dqn(**SETTINGS | case)
    arrays = {
        name: next(array for array in held_by if array in program.array)
        for name, held_by in TAKEN.items()
    }
    found = recorded(program, [*parameters, *arrays.values()], seed=2)
    found |= {name: found[array] for name, array in arrays.items()}
    net, target = (Net([found[name][0].copy() for name in parameters]) for _ in range(2))
    optimizer = Adam(net.p, RATE)
    held: deque[dict[str, Any]] = deque(maxlen=N)
    sampler = ByPriority(*case["priorities"]) if "priorities" in case else Evenly()
    random_actions = learned = 0
    for i in range(I):
        for t in range(T):
            observation = found["state"][:, i, t, :4]
            share = min((i * T + t) / (EXPLORING * I * T), 1.0)
            explores = found["explores"][:, i, t] < FIRST + (LAST - FIRST) * share
            anything = np.floor(found["anything"][:, i, t] * 2).astype(int)
            action = np.where(explores, anything, net(observation).argmax(axis=-1))
            np.testing.assert_array_equal(found["action"][:, i, t], action)
            random_actions += explores.sum()
            held.extend(
                {
                    "observation": observation[b],
                    "action": action[b],
                    "following": found["following"][b, i, t, :4],
                    "terminated": found["terminated"][b, i, t],
                    "done": found["done"][b, i, t],
                }
                for b in range(B)
            )
        steps, newest = list(held), (i + 1) * T * B
        drawn, weights = sampler.draw(found["words"][i], range(newest - len(steps), newest))
        returns = [of_several_rewards(steps, at, case.get("n", 1)) for at in drawn]
        gain, discount = (np.array([r[k] for r in returns]) for k in range(2))
        ends = [steps[step] for *_, step in returns]
        following = np.stack([end["following"] for end in ends])
        chooser = net if case.get("double") else target
        best = chooser(following).argmax(axis=-1)
        rows = np.arange(K)
        worth = target(following)[rows, best]
        worth = np.where([end["terminated"] for end in ends], 0.0, discount * worth)
        layers = net.layers(np.stack([steps[at]["observation"] for at in drawn]))
        actions = [steps[at]["action"] for at in drawn]
        error = layers[-1][rows, actions] - (gain + worth)
        size = np.abs(error)
        if case.get("clip_error"):
            loss, slope = np.where(size <= 1, error**2 / 2, size - 0.5), np.clip(error, -1, 1)
        else:
            loss, slope = error**2, 2 * error
        np.testing.assert_allclose(found["loss"][i], (weights * loss).mean(), rtol=1e-8)
        sampler.update(error)
        if (i + 1) * T * B > STARTS:
            dy = np.zeros((K, 2))
            dy[rows, actions] = weights * slope / K
            optimizer.update(net.backward(layers, dy))
            learned += 1
        if (i + 1) % EVERY == 0:
            target = Net([x.copy() for x in net.p])
    for name, x in zip(parameters, net.p, strict=True):
        np.testing.assert_allclose(found[name][I], x, rtol=1e-8, atol=1e-10)
    assert learned == I - STARTS // (T * B) and 0 < random_actions < B * I * T
    assert found["done"].sum() > 10 and found["terminated"].sum() < found["done"].sum()
