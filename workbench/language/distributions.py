"""Distributions over actions: sample, log-probability, entropy."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from workbench.errors import ProgramError
from workbench.language.random import draws
from workbench.language.tracing.functions import (
    broadcast_to,
    cumsum,
    exp,
    log,
    log_normalized,
    stop_gradient,
    where,
)
from workbench.language.tracing.nodes import apply, as_tensor, cast
from workbench.language.tracing.tensor import Node, Tensor, TensorLike
from workbench.language.tracing.trace import dim_names, scope, user_line
from workbench.program.operations.shapes import broadcast_shapes, shape_text


class Categorical:
    """A choice among the entries of the last inner axis of `logits` (unnormalised log-
    probabilities).

    A choice whose logit is -inf is illegal (an action mask: `wb.where(legal, logits, -inf)`): it is
    never sampled, its log-probability is -inf and constant to `gradient`. Where all choices are
    illegal, a run stops and names the instance.
    """

    def __init__(self, logits: TensorLike) -> None:
        if not isinstance(logits, Tensor):
            logits = cast(as_tensor(logits), "float")
        choices = logits.shape[0] if len(logits.shape) == 1 else None
        if not isinstance(choices, int) or logits.dtype != "float":
            raise ProgramError(
                f"Categorical expects logits of inner shape (choices,), found {logits!r}",
                user_line(),
            )
        self.logits = logits
        self.choices = choices

    @cached_property
    def log_probabilities(self) -> Tensor:
        """Normalised log-probabilities, inner shape (choices,)."""
        with scope("policy"):
            highest = apply("possible", self.logits.max(axis=0))
            log_probabilities = log_normalized(self.logits, highest, 0)
            return log_probabilities

    @cached_property
    def probabilities(self) -> Tensor:
        """Probabilities, inner shape (choices,)."""
        with scope("policy"):
            probabilities = exp(self.log_probabilities)
            return probabilities

    def sample(self, over: Any = ()) -> Tensor:
        """Draw one choice (int32) per instance of the dims of the logits and of `over` (one dim or
        a tuple).

        Along all other dims the choice is the same: where the logits do not vary over environments
        b, `sample(over=b)` draws for each of them. By inversion: the count of cumulative
        probabilities <= u; those that equal the last one count as 1 whatever rounding makes of
        them. Constant to `gradient`.
        """
        with scope("policy"):
            uniform = draws("uniform", (), _dims_of(self.logits, over=over))
            cumulative = cumsum(self.probabilities)
            below, total = cumulative[..., : self.choices - 1], cumulative[..., self.choices - 1]
            passed = (below <= uniform) & (below < total)
            chosen = cast(passed, "int32").sum(axis=0)
            if isinstance(chosen.source, Node):
                chosen.source.choices = self.choices
            return chosen

    def log_probability(self, action: TensorLike) -> Tensor:
        """Return log p(action); `action` is an integer scalar."""
        action = as_tensor(action)
        if action.shape or action.dtype not in ("int32", "int64"):
            raise ProgramError(
                f"the action of a Categorical is an integer scalar, found {action!r}", user_line()
            )
        with scope("policy"):
            chosen = apply("take", self.log_probabilities, action)
            return where(chosen == -math.inf, -math.inf, chosen)

    def entropy(self) -> Tensor:
        """Return -sum p log p, in nats; an illegal choice adds nothing."""
        with scope("policy"):
            return -self._expected(self.log_probabilities)

    def kl(self, other: Categorical) -> Tensor:
        """Return KL(self || other) in nats: infinite where a choice is illegal to other only."""
        with scope("policy"):
            return self._expected(self.log_probabilities - other.log_probabilities)

    def _expected(self, values: Tensor) -> Tensor:
        """Return the mean of a value per choice; those of probability 0 add nothing, even
        infinite.
        """
        p = self.probabilities
        return (p * where(p > 0.0, values, 0.0)).sum(axis=0)


class Normal:
    """Independent normals, one per entry of the inner shape of `mean` (a diagonal Gaussian)."""

    def __init__(self, mean: TensorLike, std: TensorLike) -> None:
        self.mean = as_tensor(mean)
        self.std = as_tensor(std)
        self._reparameterized = False
        try:
            self.shape = broadcast_shapes([self.mean.shape, self.std.shape])
        except ProgramError:
            raise ProgramError(
                "Normal expects a mean and a standard deviation of one inner shape, "
                f"found {self.mean!r} and {self.std!r}",
                user_line(),
            ) from None

    def reparameterized(self) -> Normal:
        """Return the same distribution, its samples differentiable in mean and std."""
        other = Normal(self.mean, self.std)
        other._reparameterized = True
        return other

    def sample(self, over: Any = ()) -> Tensor:
        """Draw mean + std * noise for each instance of the dims of mean and standard deviation and
        of `over` (one dim or a tuple); along all other dims the draw is the same.

        Constant to `gradient` unless `.reparameterized()`.
        """
        with scope("policy"):
            noise = draws("normal", self.shape, _dims_of(self.mean, self.std, over=over))
            value = self.mean + self.std * noise
            return value if self._reparameterized else stop_gradient(value)

    def log_probability(self, value: TensorLike) -> Tensor:
        """Return the log density, summed over the inner axes."""
        value = as_tensor(value)
        if value.shape not in (self.shape, ()):
            raise ProgramError(
                f"a Normal of inner shape {shape_text(self.shape)} has no value of inner shape "
                f"{shape_text(value.shape)}: {value!r}",
                user_line(),
            )
        with scope("policy"):
            z = (value - self.mean) / self.std
            return _total(-0.5 * z * z - log(self.std) - 0.5 * math.log(2 * math.pi))

    def entropy(self) -> Tensor:
        """Return the differential entropy in nats, summed over the inner axes."""
        with scope("policy"):
            per_entry = log(self.std) + 0.5 * (1.0 + math.log(2 * math.pi))
            return _total(broadcast_to(per_entry, self.shape))

    def kl(self, other: Normal) -> Tensor:
        """Return KL(self || other) in nats, summed over the inner axes."""
        with scope("policy"):
            ratio = self.std / other.std
            z = (self.mean - other.mean) / other.std
            return _total(0.5 * (ratio * ratio + z * z - 1.0) - log(ratio))


def _total(x: Tensor) -> Tensor:
    for _ in x.shape:
        x = x.sum(axis=0)
    return x


def _dims_of(*xs: Tensor, over: Any) -> tuple[str, ...]:
    """Return the dims that the tensors vary over, and those of `over`."""
    added = dim_names(over) if over != () else ()
    return tuple(dict.fromkeys([*(d for x in xs for d in x.dims), *added]))
