"""The first 200 updates of TD3 and of DDPG against a second writing of them in NumPy, as the papers
have them.

Only the first parameters, the draws and the environments' steps are taken from the program. What is
done, held and drawn, targets, losses, derivatives, Adam and the target networks are computed here,
with layers and derivatives written out by hand.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.algorithms.recorded import Adam, Net, Values, observed, recorded
from workbench import environments
from workbench.algorithms import OFF_POLICY

B, I, T, N, K = 2, 200, 2, 48, 6
GAMMA, TAU, RATE, STARTS, HIGH = 0.9, 0.1, 0.01, 40, 2.0
NOISE, POLICY_NOISE, CUT, DELAY = 0.3, 0.4, 0.5, 3
SETTINGS: dict[str, Any] = {
    "B": B,
    "I": I,
    "T": T,
    "N": N,
    "K": K,
    "environment": environments.Pendulum(time_limit=20),
    "gamma": GAMMA,
    "tau": TAU,
    "learning_rate": RATE,
    "exploration_noise": NOISE,
    "learning_starts": STARTS,
    "hidden": (6, 5),
}
TWIN: dict[str, Any] = {"policy_noise": POLICY_NOISE, "noise_clip": CUT, "delay": DELAY}
LAYERS = [f"{kind}_{n}" for n in (1, 2, 3) for kind in ("weight", "bias")]
TAKEN = {
    "state": "state",
    "following": "environment.following",
    "reward": "replay.reward",
    "action": "replay.action",
    "anything": "anything_uniform",
    "words": "replay.drawn_b_uniform",
    "noise": "noise_normal",
}
"""Draws and weights of the program, by the arrays that hold them."""


def done(actor: Net, x: Values) -> Values:
    return np.asarray(HIGH * np.tanh(actor(x)))


def joined(x: Values, action: Values) -> Values:
    return np.concatenate([x, action], axis=-1)


def improved(actor: Net, critic: Net, x: Values) -> list[Values]:
    """Derivatives of minus the mean worth of what an actor does."""
    layers = actor.layers(x)
    bent = np.tanh(layers[-1])
    judged = critic.layers(joined(x, HIGH * bent))
    d_action = critic.backward(judged, np.full((K, 1), -1.0 / K))[1][:, 3:]
    return actor.backward(layers, d_action * HIGH * (1 - bent**2))[0]


def followed(target: Net, net: Net) -> Net:
    pairs = zip(target.p, net.p, strict=True)
    return Net([TAU * new + (1 - TAU) * old for old, new in pairs])


@pytest.mark.parametrize("name", ["td3", "ddpg"])
def test_first_200_updates_are_the_papers(name: str) -> None:
    twin = name == "td3"
    program = OFF_POLICY[name](**SETTINGS | (TWIN if twin else {}))
    nets = ["actor", "critic_1", "critic_2"] if twin else ["actor", "critic"]
    names = [f"parameters.{n}.{k}" for n in nets for k in LAYERS]
    taken = TAKEN | ({"smoothing": "critic_loss.drawn_normal"} if twin else {})
    found = recorded(program, [*names, *taken.values()], seed=3)
    taken_of = {key: found[array] for key, array in taken.items()}
    start = [found[n][0].copy() for n in names]
    actor, *critics = (Net(start[k : k + 6]) for k in range(0, len(start), 6))
    targets = [Net([x.copy() for x in net.p]) for net in (actor, *critics)]
    by_critics = Adam([x for critic in critics for x in critic.p], RATE)
    by_actor = Adam(actor.p, RATE)
    held: deque[tuple[Values, Values, Any, Values]] = deque(maxlen=N)
    for i in range(I):
        for t in range(T):
            x, ahead = (observed(taken_of[key][:, i, t]) for key in ("state", "following"))
            noise = taken_of["noise"][:, i, t] * NOISE * HIGH
            action = np.clip(done(actor, x) + noise, -HIGH, HIGH)
            if (i * T + t) * B < STARTS:
                action = -HIGH + 2 * HIGH * taken_of["anything"][:, i, t]
            np.testing.assert_allclose(taken_of["action"][:, i, t], action, rtol=1e-8, atol=1e-10)
            held.extend(zip(x, action, taken_of["reward"][:, i, t], ahead, strict=True))
        words = (taken_of["words"][i] * 2**24).astype(int).tolist()
        drawn = [((high << 24) + low) * len(held) >> 48 for high, low in words]
        x, action, reward, ahead = (
            np.stack(y) for y in zip(*(held[n] for n in drawn), strict=True)
        )

        aimed = done(targets[0], ahead)
        if twin:
            smoothing = np.clip(taken_of["smoothing"][i] * POLICY_NOISE, -CUT, CUT) * HIGH
            aimed = np.clip(aimed + smoothing, -HIGH, HIGH)
        worth = np.min([target(joined(ahead, aimed))[:, 0] for target in targets[1:]], axis=0)
        aim = reward + GAMMA * worth
        loss, gradient = 0.0, []
        for critic in critics:
            layers = critic.layers(joined(x, action))
            error = layers[-1] - aim[:, None]
            loss += (error**2).mean()
            gradient += critic.backward(layers, 2 * error / K)[0]
        np.testing.assert_allclose(found["loss"][i], loss, rtol=1e-8)
        if (i + 1) * T * B > STARTS:
            by_critics.update(gradient)
            if not twin or (i + 1) % DELAY == 0:
                by_actor.update(improved(actor, critics[0], x))
                pairs = zip(targets, (actor, *critics), strict=True)
                targets = [followed(target, net) for target, net in pairs]
    for n, value in zip(names, [x for net in (actor, *critics) for x in net.p], strict=True):
        np.testing.assert_allclose(found[n][I], value, rtol=1e-8, atol=1e-10)
    assert by_critics.step == I - STARTS // (T * B)
    assert by_actor.step == (sum((i + 1) % DELAY == 0 for i in range(10, I)) if twin else 190)
