"""CartPole (Barto, Sutton & Anderson 1983) with the constants and the Euler step of Gymnasium's
CartPole-v1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.environments.actions import discrete
from workbench.environments.environment import Environment
from workbench.language.random import uniform
from workbench.language.tracing.functions import absolute, cos, sin, stack, unstack, where
from workbench.language.tracing.nodes import literal
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope


@dataclass(frozen=True)
class CartPole(Environment):
    """A pole on a cart; actions push left (0) or right (1); reward 1 for every step.

    State: position (m), velocity (m/s), angle (rad), angular velocity (rad/s), elapsed steps. The
    episode terminates when |position| > 2.4 m or |angle| > 12 degrees, and is truncated after
    `time_limit` steps. `step` never restarts.
    """

    time_limit: int = 500

    state_size = 5
    observation_size = 4
    action_count = 2

    gravity = 9.8
    pole_mass = 0.1
    total_mass = 1.1
    half_length = 0.5
    pole_mass_length = 0.05
    push = 10.0
    time_step = 0.02
    position_limit = 2.4
    angle_limit = 12 * 2 * math.pi / 360

    def reset(self, over: Any) -> Tensor:
        """Return a state near upright for each instance of `over`: every entry in [-0.05, 0.05)."""
        with scope("environment"):
            start = uniform(-0.05, 0.05, shape=4, over=over)
            return stack([*unstack(start), 0.0])

    def observe(self, state: Tensor) -> Tensor:
        """Return the first four entries."""
        return state[..., :4]

    def step(self, state: Tensor, action: TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated."""
        with scope("environment"):
            x, velocity, angle, angular_velocity, elapsed = unstack(state)
            force = where(discrete("CartPole", action, 2) == 1, self.push, -self.push)
            cosine, sine = cos(angle), sin(angle)
            pushed = (
                force + self.pole_mass_length * (angular_velocity * angular_velocity) * sine
            ) / self.total_mass
            angular_acceleration = (self.gravity * sine - cosine * pushed) / (
                self.half_length
                * (4.0 / 3.0 - self.pole_mass * (cosine * cosine) / self.total_mass)
            )
            acceleration = (
                pushed - self.pole_mass_length * angular_acceleration * cosine / self.total_mass
            )
            following = stack(
                [
                    x + self.time_step * velocity,
                    velocity + self.time_step * acceleration,
                    angle + self.time_step * angular_velocity,
                    angular_velocity + self.time_step * angular_acceleration,
                    elapsed + 1.0,
                ]
            )
            next_x, next_angle = following[..., 0], following[..., 2]
            terminated = (absolute(next_x) > self.position_limit) | (
                absolute(next_angle) > self.angle_limit
            )
            truncated = following[..., 4] >= float(self.time_limit)
            return following, literal(1.0), terminated, truncated
