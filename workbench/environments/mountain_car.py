"""Mountain car (Moore 1990) with discrete pushes, as Gymnasium's MountainCar-v0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.environments.actions import discrete
from workbench.environments.environment import Environment
from workbench.language.random import uniform
from workbench.language.tracing.functions import cast, clip, cos, stack, unstack, where
from workbench.language.tracing.nodes import literal
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope


@dataclass(frozen=True)
class MountainCar(Environment):
    """An underpowered car in a valley; actions push left (0), not at all (1), right (2); reward -1
    a step.

    State: position (m), velocity (m a step), elapsed steps. The episode terminates at position 0.5
    on the right hill and is truncated after `time_limit` steps. `step` never restarts.
    """

    time_limit: int = 200

    state_size = 3
    observation_size = 2
    action_count = 3

    left, right, goal = -1.2, 0.6, 0.5
    most_velocity = 0.07
    push = 0.001
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
            way = cast(discrete("MountainCar", action, 3) - 1, float)
            velocity = velocity + (way * self.push + cos(3.0 * position) * -self.gravity)
            velocity = clip(velocity, -self.most_velocity, self.most_velocity)
            next_position = clip(position + velocity, self.left, self.right)
            stopped = (next_position == self.left) & (velocity < 0.0)
            following = stack([next_position, where(stopped, 0.0, velocity), elapsed + 1.0])
            terminated = (following[..., 0] >= self.goal) & (following[..., 1] >= 0.0)
            truncated = following[..., 2] >= float(self.time_limit)
            return following, literal(-1.0), terminated, truncated
