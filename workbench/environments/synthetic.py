"""Two environments for measuring memory: they only have observations of a chosen size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.environments.environment import Environment
from workbench.language.random import draws, uniform
from workbench.language.tracing.functions import absolute, broadcast_to, cumsum, reshape, stack
from workbench.language.tracing.nodes import as_tensor, literal
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope


@dataclass(frozen=True)
class Trivial(Environment):
    """One scalar that the action moves by 0.1 left (0) or right (1); reward minus its absolute
    value.

    The observation (large, as in TimeRL's tables) is a ramp of `observation_shape`, from 1 / n to 1
    in its n entries, times the scalar: computed again from one number by one product an entry.
    State: the scalar, elapsed steps. Truncated after `time_limit` steps.
    """

    observation_shape: tuple[int, ...] = (4,)
    time_limit: int = 1000

    state_size = 2
    action_count = 2

    @property
    def observation_size(self) -> int:
        """Entries of the observation, which is flat."""
        return math.prod(self.observation_shape)

    def reset(self, over: Any) -> Tensor:
        """Draw the scalar in [-1, 1), for each instance of `over`."""
        with scope("environment"):
            return stack([uniform(-1.0, 1.0, over=over), 0.0])

    def observe(self, state: Tensor) -> Tensor:
        """Return the scalar times each entry of the ramp."""
        with scope("environment"):
            n = self.observation_size
            ramp = cumsum(broadcast_to(literal(1.0), (n,))) / n
            return reshape(state[..., 0], (1,)) * ramp

    def step(self, state: Tensor, action: TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated."""
        with scope("environment"):
            moved = state[..., 0] + (2.0 * as_tensor(action) - 1.0) * 0.1
            following = stack([moved, state[..., 1] + 1.0])
            terminated = following[..., 1] < 0.0
            truncated = following[..., 1] >= float(self.time_limit)
            return following, -absolute(following[..., 0]), terminated, truncated


@dataclass(frozen=True)
class Noisy(Trivial):
    """As `Trivial`, but every entry of the observation has its own noise and must be stored."""

    noise: float = 0.1

    def observe(self, state: Tensor) -> Tensor:
        """Return the scalar plus normal noise, entry by entry."""
        with scope("environment"):
            draw = draws("normal", (self.observation_size,), state.dims)
            return reshape(state[..., 0], (1,)) + self.noise * draw
