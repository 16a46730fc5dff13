"""Pendulum swing-up with the constants and the step of Gymnasium's Pendulum-v1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.environments.actions import continuous
from workbench.environments.environment import Environment
from workbench.language.random import uniform
from workbench.language.tracing.functions import clip, cos, floor, sin, stack, unstack
from workbench.language.tracing.nodes import apply, literal
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope


@dataclass(frozen=True)
class Pendulum(Environment):
    """A rod to be swung up and held; the action is a torque (N m), cut to [-2, 2].

    State: angle from upright (rad), angular velocity (rad/s), elapsed steps. The reward is minus
    the cost angle**2 + 0.1 velocity**2 + 0.001 torque**2, the angle taken in [-pi, pi). An episode
    never terminates and is truncated after `time_limit` steps. `step` never restarts.
    """

    time_limit: int = 200

    state_size = 3
    observation_size = 3
    action_size = 1
    action_bounds = (-2.0, 2.0)

    gravity = 10.0
    mass = 1.0
    length = 1.0
    time_step = 0.05
    most_velocity = 8.0
    most_torque = 2.0

    def reset(self, over: Any) -> Tensor:
        """Start at any angle, angular velocity in [-1, 1), for each instance of `over`."""
        with scope("environment"):
            draw = uniform(-1.0, 1.0, shape=2, over=over)
            return stack([draw[..., 0] * math.pi, draw[..., 1], 0.0])

    def observe(self, state: Tensor) -> Tensor:
        """Return cosine and sine of the angle, and the angular velocity."""
        with scope("environment"):
            angle = state[..., 0]
            return stack([cos(angle), sin(angle), state[..., 1]])

    def step(self, state: Tensor, action: TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated."""
        with scope("environment"):
            angle, velocity, elapsed = unstack(state)
            torque = clip(
                continuous("Pendulum", action, 1)[..., 0], -self.most_torque, self.most_torque
            )
            turns = floor((angle + math.pi) / (2.0 * math.pi))
            upright = angle - 2.0 * math.pi * turns
            cost = upright * upright + 0.1 * (velocity * velocity) + 0.001 * (torque * torque)
            push = 3.0 * self.gravity / (2.0 * self.length) * sin(angle)
            turn = 3.0 / (self.mass * self.length**2) * torque
            next_velocity = clip(
                velocity + (push + turn) * self.time_step, -self.most_velocity, self.most_velocity
            )
            following = stack(
                [angle + next_velocity * self.time_step, next_velocity, elapsed + 1.0]
            )
            truncated = following[..., 2] >= float(self.time_limit)
            terminated = apply("less", following[..., 2], literal(0.0))
            return following, -cost, terminated, truncated
