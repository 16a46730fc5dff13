"""Acrobot (Sutton 1996) with the "book" dynamics of Gymnasium's Acrobot-v1, one Runge-Kutta step of
0.2 s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.environments.actions import discrete
from workbench.environments.environment import Environment
from workbench.language.random import uniform
from workbench.language.tracing.functions import cast, clip, cos, floor, sin, stack, unstack, where
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope

State = tuple[Tensor, Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Acrobot(Environment):
    """Two links, a torque of -1, 0 or 1 N m (action 0, 1, 2) on the joint between them; reward -1
    until the end.

    State: the angle of the first link from hanging, of the second relative to the first (rad), both
    angular velocities (rad/s), elapsed steps. The episode terminates when the tip is one link above
    the pivot, and is truncated after `time_limit` steps. `step` never restarts.
    """

    time_limit: int = 500

    state_size = 5
    observation_size = 6
    action_count = 3

    gravity = 9.8
    time_step = 0.2
    most_velocity = (4.0 * math.pi, 9.0 * math.pi)

    def reset(self, over: Any) -> Tensor:
        """Start near hanging at rest: every entry in [-0.1, 0.1), for each instance of `over`."""
        with scope("environment"):
            return stack([*unstack(uniform(-0.1, 0.1, shape=4, over=over)), 0.0])

    def observe(self, state: Tensor) -> Tensor:
        """Return cosine and sine of both angles, and both angular velocities."""
        with scope("environment"):
            first, second, turn, bend, _ = unstack(state)
            return stack([cos(first), sin(first), cos(second), sin(second), turn, bend])

    def step(self, state: Tensor, action: TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated."""
        with scope("environment"):
            torque = cast(discrete("Acrobot", action, 3) - 1, float)
            *at, elapsed = unstack(state)
            first, second, turn, bend = self._moved((at[0], at[1], at[2], at[3]), torque)
            following = stack(
                [
                    _wrapped(first),
                    _wrapped(second),
                    clip(turn, -self.most_velocity[0], self.most_velocity[0]),
                    clip(bend, -self.most_velocity[1], self.most_velocity[1]),
                    elapsed + 1.0,
                ]
            )
            next_first, next_second = following[..., 0], following[..., 1]
            height = -cos(next_first) - cos(next_second + next_first)
            terminated = height > 1.0
            truncated = following[..., 4] >= float(self.time_limit)
            return following, where(terminated, 0.0, -1.0), terminated, truncated

    def _moved(self, at: State, torque: Tensor) -> State:
        """Take one fourth-order Runge-Kutta step."""
        h = self.time_step
        k1 = self._derivative(at, torque)
        k2 = self._derivative(_shifted(at, k1, h / 2.0), torque)
        k3 = self._derivative(_shifted(at, k2, h / 2.0), torque)
        k4 = self._derivative(_shifted(at, k3, h), torque)
        moved = [
            y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            for y, a, b, c, d in zip(at, k1, k2, k3, k4, strict=True)
        ]
        return moved[0], moved[1], moved[2], moved[3]

    def _derivative(self, at: State, torque: Tensor) -> State:
        """Evaluate the equations of motion (Sutton & Barto 2018, section 11.3): links of 1 m, 1 kg,
        inertia 1 kg m2.
        """
        first, second, turn, bend = at
        bent = cos(second)
        d1 = 0.25 + (1.25 + bent) + 2.0
        d2 = 0.25 + 0.5 * bent + 1.0
        phi2 = 0.5 * self.gravity * cos(first + second - math.pi / 2.0)
        phi1 = (
            -0.5 * (bend * bend) * sin(second)
            - bend * turn * sin(second)
            + 1.5 * self.gravity * cos(first - math.pi / 2.0)
            + phi2
        )
        bending = (torque + d2 / d1 * phi1 - 0.5 * (turn * turn) * sin(second) - phi2) / (
            1.25 - d2 * d2 / d1
        )
        turning = -(d2 * bending + phi1) / d1
        return turn, bend, turning, bending


def _shifted(at: State, slope: State, by: float) -> State:
    moved = [y + by * k for y, k in zip(at, slope, strict=True)]
    return moved[0], moved[1], moved[2], moved[3]


def _wrapped(angle: Tensor) -> Tensor:
    """Wrap an angle to [-pi, pi)."""
    return angle - 2.0 * math.pi * floor((angle + math.pi) / (2.0 * math.pi))
