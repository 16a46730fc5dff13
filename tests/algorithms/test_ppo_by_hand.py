"""The first update of PPO against a second writing of it in NumPy, as CleanRL's ppo.py has it.

Only the data is taken from the program: the first parameters, states, actions, rewards, ends and
permutations. Observations, log-probabilities, values, advantages, losses, derivatives, clipping and
Adam are computed here, with layers and derivatives written out by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import workbench as wb
from workbench import environments
from workbench.algorithms import ppo
from workbench.backends.reference.evaluator import Reference
from workbench.program.values import Program

B, T, E, M = 3, 6, 3, 2
GAMMA, LAM, CLIP, RATE = 0.9, 0.8, 0.1, 0.05
ENTROPY, VALUE, NORM = 0.02, 0.7, 0.3
LAYERS = ("weight_1", "bias_1", "weight_2", "bias_2")
Values = npt.NDArray[Any]


def traced() -> Program:
    return ppo(
        B=B,
        I=2,
        T=T,
        E=E,
        M=M,
        environment=environments.CartPole(time_limit=4),
        gamma=GAMMA,
        lam=LAM,
        clip=CLIP,
        learning_rate=RATE,
        entropy_weight=ENTROPY,
        value_weight=VALUE,
        largest_norm=NORM,
        hidden=(5,),
    )


@dataclass
class Net:
    """x @ w1 + b1, tanh, @ w2 + b2."""

    p: list[Values]

    def __call__(self, x: Values) -> tuple[Values, Values]:
        h = np.tanh(x @ self.p[0] + self.p[1])
        return h, h @ self.p[2] + self.p[3]

    def backward(self, x: Values, h: Values, dy: Values) -> list[Values]:
        dh = dy @ self.p[2].T * (1 - h**2)
        return [x.T @ dh, dh.sum(axis=0), h.T @ dy, dy.sum(axis=0)]


def log_softmax(x: Values) -> Values:
    x = x - x.max(axis=-1, keepdims=True)
    return np.asarray(x - np.log(np.exp(x).sum(axis=-1, keepdims=True)))


def advantages(reward: Values, value: Values, done: Values) -> Values:
    found, last = np.zeros((B, T)), np.zeros(B)
    for t in reversed(range(T)):
        going = 1.0 - done[:, t]
        delta = reward[:, t] + GAMMA * value[:, t + 1] * going - value[:, t]
        last = delta + GAMMA * LAM * going * last
        found[:, t] = last
    return found


def minibatch(actor: Net, critic: Net, x: dict[str, Values]) -> tuple[float, list[Values]]:
    """The loss and its derivatives on one minibatch."""
    K = len(x["action"])
    rows, hot = np.arange(K), np.eye(2)[x["action"]]
    hidden, logits = actor(x["observation"])
    log_p = log_softmax(logits)
    p = np.exp(log_p)
    ratio = np.exp(log_p[rows, x["action"]] - x["log_probability"])
    a = (x["advantage"] - x["advantage"].mean()) / (x["advantage"].std() + 1e-8)
    clipped = np.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy_loss = np.maximum(-a * ratio, -a * clipped).mean()
    by_ratio = -a * ratio >= -a * clipped
    d_log = np.where(by_ratio, -a * ratio, 0.0) / K
    entropy = -(p * log_p).sum(axis=1)
    d_entropy = -p * (log_p + entropy[:, None])
    d_logits = d_log[:, None] * (hot - p) - ENTROPY / K * d_entropy

    hidden_v, output = critic(x["observation"])
    v = output[:, 0]
    near = x["value"] + np.clip(v - x["value"], -CLIP, CLIP)
    e, e_near = (v - x["target"]) ** 2, (near - x["target"]) ** 2
    value_loss = 0.5 * np.maximum(e, e_near).mean()
    moves = np.abs(v - x["value"]) <= CLIP
    d_v = np.where(e >= e_near, v - x["target"], np.where(moves, near - x["target"], 0.0)) / K
    loss = policy_loss - ENTROPY * entropy.mean() + VALUE * value_loss
    gradient = actor.backward(x["observation"], hidden, d_logits)
    gradient += critic.backward(x["observation"], hidden_v, VALUE * d_v[:, None])
    return float(loss), gradient


def test_first_update_is_cleanrls() -> None:
    program = traced()
    reference = Reference(program.equations, seed=6)
    sampled = {n: reference.array(n) for n in ("state", "policy.action", "done")}
    state, action = sampled["state"][:, 0], sampled["policy.action"][:, 0]
    done = sampled["done"][:, 0].astype(float)
    assert done.any(axis=1).all()
    start = [
        [reference.element(f"parameters.{net}.{layer}", (0, 0, 0)).copy() for layer in LAYERS]
        for net in ("actor", "critic")
    ]
    actor, critic = Net(start[0]), Net(start[1])
    observation = state[..., :4]
    value = critic(observation)[1][..., 0]
    log_p = log_softmax(actor(observation[:, :T])[1])
    advantage = advantages(np.ones((B, T)), value, done)
    data = {
        "observation": observation[:, :T],
        "action": action,
        "log_probability": np.take_along_axis(log_p, action[..., None], axis=-1)[..., 0],
        "value": value[:, :T],
        "advantage": advantage,
        "target": advantage + value[:, :T],
    }
    flat = {name: x.reshape(B * T, *x.shape[2:]) for name, x in data.items()}

    parameters = [*actor.p, *critic.p]
    first = [np.zeros_like(x) for x in parameters]
    second = [np.zeros_like(x) for x in parameters]
    step, K = 0, B * T // M
    clipped = 0
    for e in range(E):
        order = reference.element("minibatch.sample_permutation", (0, e))
        assert sorted(order) == list(range(B * T))
        for m in range(M):
            chosen = order[m * K : (m + 1) * K]
            loss, gradient = minibatch(actor, critic, {n: x[chosen] for n, x in flat.items()})
            np.testing.assert_allclose(reference.element("loss", (0, e, m)), loss, rtol=1e-9)
            norm = np.sqrt(sum((g**2).sum() for g in gradient))
            clipped += norm > NORM
            step += 1
            for k, g in enumerate(gradient):
                g = g * min(1.0, NORM / (norm + 1e-6))
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.999 * second[k] + 0.001 * g**2
                mean, square = first[k] / (1 - 0.9**step), second[k] / (1 - 0.999**step)
                parameters[k] -= RATE * mean / (np.sqrt(square) + 1e-5)
    assert clipped
    for net, own in (("actor", actor.p), ("critic", critic.p)):
        for layer, expected in zip(LAYERS, own, strict=True):
            found = reference.element(f"parameters.{net}.{layer}", (1, 0, 0))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_first_parameters_are_orthogonal_with_cleanrls_gains() -> None:
    reference = Reference(ppo(B=1, I=1, T=4, M=1, E=1, hidden=(8, 8)).equations, seed=1)
    for net, last in (("actor", 0.01), ("critic", 1.0)):
        for layer, gain in (("1", np.sqrt(2)), ("2", np.sqrt(2)), ("3", last)):
            w = reference.element(f"parameters.{net}.weight_{layer}", (0, 0, 0))
            square = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
            np.testing.assert_allclose(square, gain**2 * np.eye(len(square)), atol=1e-12)
            assert not reference.element(f"parameters.{net}.bias_{layer}", (0, 0, 0)).any()


def test_one_batch_is_the_same_in_any_order() -> None:
    """Every sample once an update: the order in which they stand in the sums does not matter."""
    settings: dict[str, Any] = {"B": 3, "I": 3, "T": 8, "E": 1, "M": 1, "hidden": (4,)}
    shuffled, ordered = (
        wb.run(
            wb.variant(ppo(shuffle=shuffle, **settings)),
            dtype="float64",
            progress=False,
            backend="numpy",
        )
        for shuffle in (True, False)
    )
    for name in ordered:
        np.testing.assert_allclose(ordered[name], shuffled[name], rtol=1e-9, atol=1e-12)
    assert np.ptp(ordered["loss"]) > 0
