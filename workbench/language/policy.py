"""Policies by environment: categorical for discrete actions, several of it for several choices,
diagonal normal for continuous ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import ProgramError
from workbench.language import nn
from workbench.language.distributions import Categorical, MultiCategorical, Normal
from workbench.language.tracing.functions import exp
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import user_line


@dataclass(frozen=True)
class Policy:
    """A distribution over actions for each observation; `networks` hold its parameters."""

    mlp: nn.Network[Tensor]
    log_std: nn.Network[Tensor] | None
    counts: tuple[int, ...] = ()
    """The choices of each part of an action, where it has several."""

    @property
    def networks(self) -> tuple[nn.Network[Tensor], ...]:
        """The networks, for `nn.parameters`."""
        return (self.mlp,) if self.log_std is None else (self.mlp, self.log_std)

    def __call__(
        self, theta: nn.Parameters | nn.ParametersAt, observation: Tensor
    ) -> Categorical | MultiCategorical | Normal:
        """Return the distribution at an observation, with the given parameters."""
        if self.counts:
            return MultiCategorical(self.mlp(theta, observation), self.counts)
        if self.log_std is None:
            return Categorical(logits=self.mlp(theta, observation))
        return Normal(self.mlp(theta, observation), exp(self.log_std(theta)))

    def best(self, theta: nn.Parameters | nn.ParametersAt, observation: Tensor) -> Tensor:
        """Return the most probable action, which takes no parameters but those of `mlp`."""
        output = self.mlp(theta, observation)
        if self.counts:
            return MultiCategorical(output, self.counts).mode
        return Categorical(logits=output).mode if self.log_std is None else output


def policy_of(
    env: Any, hidden: Sequence[int], name: str = "actor", layers: str = "unrolled"
) -> Policy:
    """Make a tanh network that returns logits, or means beside standard deviations that are the
    same for all observations (their logarithms start at 0). `layers` as in `nn.mlp`.
    """
    inputs = env.observation_size
    if hasattr(env, "action_count"):
        return Policy(nn.mlp(name, inputs, hidden, env.action_count, layers=layers), None)
    if hasattr(env, "action_counts"):
        counts = env.action_counts
        return Policy(nn.mlp(name, inputs, hidden, sum(counts), layers=layers), None, counts)
    if not hasattr(env, "action_size"):
        raise ProgramError(
            f"{env!r} has neither an action_count (discrete actions) nor action_counts (several "
            "choices) nor an action_size (continuous ones): there is no policy for it",
            user_line(),
        )
    mlp = nn.mlp(name, inputs, hidden, env.action_size, layers=layers)
    return Policy(mlp, nn.vector("log_std", env.action_size))


def choices_of(env: Any) -> int:
    """Return the number of an environment's actions, for what takes the best of them."""
    if not hasattr(env, "action_count"):
        raise ProgramError(
            f"{env!r} has no action_count (discrete actions): there is no best one of its actions",
            user_line(),
        )
    return int(env.action_count)


def bounds_of(env: Any) -> tuple[Any, Any]:
    """Return the least and the greatest action of an environment, for a policy that keeps to them.

    Numbers, or arrays of an action's shape.
    """
    if not hasattr(env, "action_size") or not hasattr(env, "action_bounds"):
        raise ProgramError(
            f"{env!r} has no action_size and action_bounds (continuous actions from a least to a "
            "greatest one): there is no policy that keeps to them",
            user_line(),
        )
    low, high = env.action_bounds
    return low, high
