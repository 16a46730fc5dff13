"""The diagonal normal distribution."""

from __future__ import annotations

import math
from typing import Any

from workbench.language.distributions.entries import (
    dims_of,
    expect_positive,
    shape_of_entries,
    total,
    value_of,
)
from workbench.language.random import draws
from workbench.language.tracing.functions import log, stop_gradient
from workbench.language.tracing.nodes import as_tensor
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope


class Normal:
    """Independent normals, one per entry of the inner shape of `mean` (a diagonal Gaussian)."""

    def __init__(self, mean: TensorLike, std: TensorLike) -> None:
        self.mean = as_tensor(mean)
        self.std = as_tensor(std)
        self._reparameterized = False
        self.shape = shape_of_entries(
            "Normal expects a mean and a standard deviation", self.mean, self.std
        )
        expect_positive(std=self.std)

    @property
    def mode(self) -> Tensor:
        """The value of highest density: the mean."""
        return self.mean

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
            noise = draws("normal", self.shape, dims_of(self.mean, self.std, over=over))
            value = self.mean + self.std * noise
            return value if self._reparameterized else stop_gradient(value)

    def log_probability(self, value: TensorLike) -> Tensor:
        """Return the log density, summed over the inner axes."""
        value = value_of("a Normal", self.shape, as_tensor(value))
        with scope("policy"):
            z = (value - self.mean) / self.std
            return total(-0.5 * z * z - log(self.std) - 0.5 * math.log(2 * math.pi))

    def entropy(self) -> Tensor:
        """Return the differential entropy in nats, summed over the inner axes."""
        with scope("policy"):
            per_entry = log(self.std) + 0.5 * (1.0 + math.log(2 * math.pi))
            return total(per_entry, self.shape)

    def kl(self, other: Normal) -> Tensor:
        """Return KL(self || other) in nats, summed over the inner axes."""
        with scope("policy"):
            ratio = self.std / other.std
            z = (self.mean - other.mean) / other.std
            return total(0.5 * (ratio * ratio + z * z - 1.0) - log(ratio))
