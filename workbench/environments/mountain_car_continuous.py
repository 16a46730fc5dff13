"""Mountain car with a continuous push, as Gymnasium's MountainCarContinuous-v0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.environments.actions import continuous
from workbench.environments.environment import Environment
from workbench.language.random import uniform
from workbench.language.tracing.functions import clip, cos, stack, unstack, where
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope


@dataclass(frozen=True)
class MountainCarContinuous(Environment):
    """An underpowered car in a valley; the action is a push, cut to [-1, 1].

    State: position (m), velocity (m a step), elapsed steps. The reward is 100 at the goal, minus
    0.1 times the square of the action as given. The episode terminates at position 0.45 on the
    right hill and is truncated after `time_limit` steps. `step` never restarts.
    """

    time_limit: int = 999

    state_size = 3
    observation_size = 2
    action_size = 1
    action_bounds = (-1.0, 1.0)

    left, right, goal = -1.2, 0.6, 0.45
    most_velocity = 0.07
    power = 0.0015
    gravity = 0.0025

    def reset(self, over: Any) -> Tensor:
        """Start at rest, at a position in [-0.6, -0.4), for each instance of `over`."""
        with scope("environment"):
            return stack([uniform(-0.6, -0.4, over=over), 0.0, 0.0])

    def observe(self, state: Tensor) -> Tensor:
        """Return position and velocity."""
        return state[..., :2]

    def step(self, state: Tensor, action: TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated."""
        with scope("environment"):
            position, velocity, elapsed = unstack(state)
            wish = continuous("MountainCarContinuous", action, 1)[..., 0]
            velocity = velocity + (
                clip(wish, -1.0, 1.0) * self.power - self.gravity * cos(3.0 * position)
            )
            velocity = clip(velocity, -self.most_velocity, self.most_velocity)
            next_position = clip(position + velocity, self.left, self.right)
            stopped = (next_position == self.left) & (velocity < 0.0)
            following = stack([next_position, where(stopped, 0.0, velocity), elapsed + 1.0])
            terminated = (following[..., 0] >= self.goal) & (following[..., 1] >= 0.0)
            truncated = following[..., 2] >= float(self.time_limit)
            reward = where(terminated, 100.0, 0.0) - 0.1 * (wish * wish)
            return following, reward, terminated, truncated
