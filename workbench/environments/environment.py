"""The parts that all environments share, besides `reset`, `observe` and `step`."""

from __future__ import annotations

from typing import Any

from workbench.language.tracing.functions import where
from workbench.language.tracing.tensor import Tensor
from workbench.polyhedral.expression import variable


class Environment:
    """An environment; many run side by side along one dim.

    It has a `state_size`, an `observation_size`, and an `action_count` (choices) or an
    `action_size` (entries) with `action_bounds`. `step` never restarts an episode.
    """

    def reset(self, over: Any) -> Tensor:
        """Return the first state of an episode, for each instance of the dims `over`."""
        raise NotImplementedError

    def restart(self, done: Tensor, following: Tensor) -> Tensor:
        """Return the state after `step`, or where `done` the first one of another episode."""
        over = tuple(variable(d) for d in following.dims)
        return where(done, self.reset(over=over), following)
