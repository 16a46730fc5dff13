"""Policies by environment: categorical for discrete actions, several of it for several choices,
independent events for flags, diagonal normal for continuous ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import ProgramError
from workbench.language import nn
from workbench.language.distributions import Bernoulli, Categorical, MultiCategorical, Normal
from workbench.language.tracing.functions import exp
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import user_line

Discrete = Bernoulli | Categorical | MultiCategorical


@dataclass(frozen=True)
class Policy:
    """A distribution over actions for each observation; `networks` hold its parameters."""

    mlp: nn.Network[Tensor]
    discrete: Callable[[Tensor], Discrete] | None = None
    """Makes the distribution of logits; None where actions are continuous."""
    log_std: nn.Network[Tensor] | None = None

    @property
    def networks(self) -> tuple[nn.Network[Tensor], ...]:
        """The networks, for `nn.parameters`."""
        return (self.mlp,) if self.log_std is None else (self.mlp, self.log_std)

    def __call__(
        self, theta: nn.Parameters | nn.ParametersAt, observation: Tensor
    ) -> Discrete | Normal:
        """Return the distribution at an observation, with the given parameters."""
        output = self.mlp(theta, observation)
        if self.discrete is not None:
            return self.discrete(output)
        assert self.log_std is not None
        return Normal(output, exp(self.log_std(theta)))

    def best(self, theta: nn.Parameters | nn.ParametersAt, observation: Tensor) -> Tensor:
        """Return the most probable action, which takes no parameters but those of `mlp`."""
        output = self.mlp(theta, observation)
        return output if self.discrete is None else self.discrete(output).mode


def policy_of(
    env: Any, hidden: Sequence[int], name: str = "actor", layers: str = "unrolled"
) -> Policy:
    """Make a tanh network that returns logits, or means beside standard deviations that are the
    same for all observations (their logarithms start at 0). `layers` as in `nn.mlp`.
    """
    outputs, discrete = _kind(env)
    mlp = nn.mlp(name, env.observation_size, hidden, outputs, layers=layers)
    if discrete is not None:
        return Policy(mlp, discrete)
    return Policy(mlp, log_std=nn.vector("log_std", outputs))


def _kind(env: Any) -> tuple[int, Callable[[Tensor], Discrete] | None]:
    """Return the outputs of a policy's network, and what makes a distribution of logits."""
    if hasattr(env, "action_count"):
        return env.action_count, lambda logits: Categorical(logits=logits)
    if hasattr(env, "action_counts"):
        counts = env.action_counts
        return sum(counts), lambda logits: MultiCategorical(logits, counts)
    if hasattr(env, "action_flags"):
        return env.action_flags, Bernoulli
    if hasattr(env, "action_size"):
        return env.action_size, None
    raise ProgramError(
        f"{env!r} has no action_count (discrete actions), action_counts (several choices), "
        "action_flags (booleans) or action_size (continuous ones): there is no policy for it",
        user_line(),
    )


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
