"""The first 200 updates of SAC against a second writing of it in NumPy, as the paper has it.

Only the first parameters, the draws and the environments' steps are taken from the program. What is
done, held and drawn, targets, losses, derivatives, Adam and the target critics are computed here,
with layers and derivatives written out by hand.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.algorithms.recorded import Adam, Net, Values, observed, recorded
from workbench import environments
from workbench.algorithms import sac

B, I, T, N, K, SIZE = 2, 200, 2, 48, 6, 1
GAMMA, TAU, RATE, CRITIC_RATE, STARTS, HIGH = 0.9, 0.1, 0.01, 0.02, 40, 2.0
LAYERS = [f"{kind}_{n}" for n in (1, 2, 3) for kind in ("weight", "bias")]
TAKEN = {
    "state": "state",
    "following": "environment.following",
    "reward": "replay.reward",
    "action": "replay.action",
    "anything": "anything_uniform",
    "words": "replay.drawn_b_uniform",
    "acting": "policy.noise",
    "ahead": "critic_loss.policy.noise",
    "now": "actor_loss.policy.noise",
}
"""Draws and weights of the program, by the arrays that hold them."""


class Drawn:
    """Actions of a policy at observations, given the normal draws, and their log densities."""

    def __init__(self, actor: Net, x: Values, noise: Values) -> None:
        self.actor, self.noise, self.layers = actor, noise, actor.layers(x)
        output = self.layers[-1]
        self.bent = np.tanh(output[..., SIZE:])
        log_std = -5.0 + 3.5 * (self.bent + 1.0)
        self.std = np.exp(log_std)
        self.squashed = np.tanh(output[..., :SIZE] + self.std * noise)
        self.action = HIGH * self.squashed
        density = -0.5 * noise**2 - log_std - 0.5 * np.log(2 * np.pi)
        self.log_p = (density - np.log(HIGH * (1.0 - self.squashed**2))).sum(axis=-1)

    def backward(self, alpha: float, d_action: Values) -> list[Values]:
        """Derivatives of the mean of alpha * log p + what has the derivatives `d_action`."""
        slope = HIGH * (1.0 - self.squashed**2)
        d_before = (alpha * 2.0 * self.squashed + d_action * slope) / len(d_action)
        d_log_std = d_before * self.std * self.noise - alpha / len(d_action)
        d_bent = d_log_std * 3.5 * (1.0 - self.bent**2)
        dy = np.concatenate([d_before, d_bent], axis=-1)
        return self.actor.backward(self.layers, dy)[0]


@pytest.mark.parametrize("temperature", [None, 0.3], ids=["learned", "given"])
def test_first_200_updates_are_the_papers(temperature: float | None) -> None:
    program = sac(
        B=B,
        I=I,
        T=T,
        N=N,
        K=K,
        environment=environments.Pendulum(time_limit=20),
        gamma=GAMMA,
        tau=TAU,
        learning_rate=RATE,
        critic_rate=CRITIC_RATE,
        temperature=temperature,
        learning_starts=STARTS,
        hidden=(6, 5),
    )
    names = [f"parameters.{n}.{k}" for n in ("actor", "critic_1", "critic_2") for k in LAYERS]
    found = recorded(program, [*names, *TAKEN.values()], seed=2)
    taken = {name: found[array] for name, array in TAKEN.items()}
    start = [found[name][0].copy() for name in names]
    actor, critics = Net(start[:6]), [Net(start[6:12]), Net(start[12:])]
    targets = [Net([x.copy() for x in critic.p]) for critic in critics]
    log_alpha = np.zeros(1)
    optimizers = [
        Adam([*critics[0].p, *critics[1].p], CRITIC_RATE),
        Adam(actor.p, RATE),
        Adam([log_alpha], CRITIC_RATE),
    ]
    held: deque[tuple[Values, Values, Any, Values]] = deque(maxlen=N)
    for i in range(I):
        for t in range(T):
            x, ahead = (observed(taken[name][:, i, t]) for name in ("state", "following"))
            action = Drawn(actor, x, taken["acting"][:, i, t]).action
            if (i * T + t) * B < STARTS:
                action = -HIGH + 2 * HIGH * taken["anything"][:, i, t]
            np.testing.assert_allclose(taken["action"][:, i, t], action, rtol=1e-8, atol=1e-10)
            held.extend(zip(x, action, taken["reward"][:, i, t], ahead, strict=True))
        words = (taken["words"][i] * 2**24).astype(int).tolist()
        drawn = [((high << 24) + low) * len(held) >> 48 for high, low in words]
        x, action, reward, ahead = (
            np.stack(y) for y in zip(*(held[n] for n in drawn), strict=True)
        )

        alpha = float(np.exp(log_alpha[0])) if temperature is None else temperature
        following = Drawn(actor, ahead, taken["ahead"][i])
        both = np.concatenate([ahead, following.action], axis=-1)
        soft = np.minimum(*(target(both)[:, 0] for target in targets)) - alpha * following.log_p
        aim = reward + GAMMA * soft
        loss, gradient = 0.0, []
        for critic in critics:
            layers = critic.layers(np.concatenate([x, action], axis=-1))
            error = layers[-1] - aim[:, None]
            loss += (error**2).mean()
            gradient += critic.backward(layers, 2 * error / K)[0]
        np.testing.assert_allclose(found["loss"][i], loss, rtol=1e-8)
        if (i + 1) * T * B > STARTS:
            optimizers[0].update(gradient)
            now = Drawn(actor, x, taken["now"][i])
            layers = [critic.layers(np.concatenate([x, now.action], axis=-1)) for critic in critics]
            first = layers[0][-1] <= layers[1][-1]
            d_action = sum(
                critic.backward(own, -1.0 * chosen)[1][:, 3:]
                for critic, own, chosen in zip(critics, layers, (first, ~first), strict=True)
            )
            optimizers[1].update(now.backward(alpha, np.asarray(d_action)))
            optimizers[2].update([np.array([-alpha * (now.log_p - SIZE).mean()])])
        for target, critic in zip(targets, critics, strict=True):
            target.p = [
                TAU * new + (1 - TAU) * old for old, new in zip(target.p, critic.p, strict=True)
            ]
    for name, value in zip(names, [*actor.p, *critics[0].p, *critics[1].p], strict=True):
        np.testing.assert_allclose(found[name][I], value, rtol=1e-8, atol=1e-10)
    assert abs(log_alpha[0]) > 0.1 and optimizers[0].step == I - STARTS // (T * B)
