"""Updates of the V-trace actor-critic against a second writing of it in NumPy, as the paper has it.

Only the first parameters, the draws and the environments' steps are taken from the program. What is
done, importance weights, targets (as the sums of equation (1), not as a recurrence), losses,
derivatives, clipping and RMSProp are computed here, with layers and derivatives written out by
hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.algorithms.recorded import Bent, Values, recorded
from workbench import environments
from workbench.algorithms import vtrace

B, I, T, ACTIONS = 3, 60, 5, 2
GAMMA, LAM, RHO, C = 0.9, 0.8, 1.1, 0.95
RATE, ENTROPY, VALUE, NORM = 0.05, 0.02, 0.7, 0.3
SETTINGS: dict[str, Any] = {
    "B": B,
    "I": I,
    "T": T,
    "environment": environments.CartPole(time_limit=4),
    "gamma": GAMMA,
    "lam": LAM,
    "clip_rho": RHO,
    "clip_c": C,
    "learning_rate": RATE,
    "entropy_weight": ENTROPY,
    "value_weight": VALUE,
    "largest_norm": NORM,
    "hidden": (6, 5),
}
LAYERS = [f"{kind}_{n}" for n in (1, 2, 3) for kind in ("weight", "bias")]
NAMES = [f"parameters.{net}.{layer}" for net in ("actor", "critic") for layer in LAYERS]
TAKEN = {
    "state": "state",
    "following": "environment.following",
    "uniform": "policy.uniform",
    "action": "policy.action",
    "terminated": "environment.terminated",
    "truncated": "environment.truncated",
}


def likelihoods(net: Bent, x: Values) -> Values:
    """Probabilities of all actions."""
    logits = net(x)
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def targets(reward: Values, value: Values, done: Values, ratio: Values) -> Values:
    """V-trace targets of one environment: equation (1), summed up to an end or the horizon."""
    rho, c = np.minimum(RHO, ratio), LAM * np.minimum(C, ratio)
    following = np.append(value[1:], 0.0)[:T] * ~done
    delta = rho * (reward + GAMMA * following - value[:T])
    found = value.copy()
    for s in range(T):
        weight = 1.0
        for t in range(s, T):
            found[s] += weight * delta[t]
            weight *= GAMMA * c[t] * ~done[t]
    return found


def derivatives(
    actor: Bent, critic: Bent, x: Values, action: Values, advantage: Values, target: Values
) -> tuple[float, list[Values]]:
    """Loss, and its derivatives by the parameters of both networks."""
    n = len(action)
    p = likelihoods(actor, x)
    entropy = -(p * np.log(p)).sum(axis=1, keepdims=True)
    taken = np.eye(ACTIONS)[action]
    by_logits = (p - taken) * advantage[:, None] + ENTROPY * p * (np.log(p) + entropy)
    layers = critic.layers(x)
    error = layers[-1] - target[:, None]
    loss = -(np.log(p[np.arange(n), action]) * advantage).mean() - ENTROPY * entropy.mean()
    loss += VALUE * (error**2).mean()
    by_actor, _ = actor.backward(actor.layers(x), by_logits / n)
    by_critic, _ = critic.backward(layers, VALUE * 2 * error / n)
    return float(loss), [*by_actor, *by_critic]


@pytest.mark.parametrize(("lag", "bootstrap"), [(0, False), (3, True)])
def test_first_60_updates_are_the_papers(lag: int, bootstrap: bool) -> None:
    program = vtrace(**SETTINGS, lag=lag, bootstrap_at_time_limit=bootstrap)
    found = recorded(program, [*NAMES, *TAKEN.values()], seed=3)
    taken = {key: found[array] for key, array in TAKEN.items()}
    theta = [found[name][0].copy() for name in NAMES]
    squares, history = [0.0 * x for x in theta], [theta]
    farthest = 0.0
    for i in range(I):
        actor, critic = Bent(theta[:6]), Bent(theta[6:])
        state = taken["state"][:, i, :, :4]
        acted = likelihoods(Bent(history[max(i - lag, 0)][:6]), state[:, :T])
        action = (np.cumsum(acted, axis=-1)[..., :-1] <= taken["uniform"][:, i, :, None]).sum(-1)
        np.testing.assert_array_equal(taken["action"][:, i], action)
        relative = likelihoods(actor, state[:, :T]) / acted
        ratio = np.take_along_axis(relative, action[..., None], -1)[..., 0]
        farthest = max(farthest, abs(ratio - 1).max())
        terminated, truncated = taken["terminated"][:, i], taken["truncated"][:, i]
        value, reward = critic(state)[..., 0], np.ones((B, T))
        if bootstrap:
            beyond = critic(taken["following"][:, i, :, :4])[..., 0]
            reward += np.where(truncated & ~terminated, GAMMA * beyond, 0.0)
        done = terminated | truncated
        target = np.stack([targets(reward[b], value[b], done[b], ratio[b]) for b in range(B)])
        ahead = np.where(done, 0.0, GAMMA * target[:, 1:])
        advantage = np.minimum(RHO, ratio) * (reward + ahead - value[:, :T])
        loss, gradient = derivatives(
            actor,
            critic,
            *(state[:, :T].reshape(-1, 4), action.ravel()),
            *(advantage.ravel(), target[:, :T].ravel()),
        )
        np.testing.assert_allclose(found["loss"][i], loss, rtol=1e-8)
        norm = np.sqrt(sum(float((g**2).sum()) for g in gradient))
        gradient = [g * min(1.0, NORM / (norm + 1e-6)) for g in gradient]
        squares = [0.99 * v + 0.01 * g**2 for v, g in zip(squares, gradient, strict=True)]
        steps = zip(theta, gradient, squares, strict=True)
        theta = [x - RATE * g / np.sqrt(v + 1e-5) for x, g, v in steps]
        history.append(theta)
    for name, x in zip(NAMES, theta, strict=True):
        np.testing.assert_allclose(found[name][I], x, rtol=1e-8, atol=1e-10)
    assert farthest > 0.15 if lag else farthest == 0.0  # both cuts are reached where actors lag
