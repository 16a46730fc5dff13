"""The beta distribution."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from workbench.language.distributions.entries import (
    dims_of,
    expect_positive,
    shape_of_entries,
    total,
    value_of,
)
from workbench.language.distributions.gamma import LEAST, log_of_draws, not_reparameterized
from workbench.language.distributions.squashed_normal import INSIDE
from workbench.language.tracing.functions import (
    clip,
    digamma,
    exp,
    lgamma,
    log,
    log1p,
    softplus,
    stop_gradient,
    where,
)
from workbench.language.tracing.nodes import apply, as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope

FAR = -math.log(LEAST)


class Beta:
    """Independent beta distributions on (0, 1) with density x**(alpha - 1) * (1 - x)**(beta - 1) /
    B(alpha, beta), one per entry of the inner shape of `alpha` and `beta`; both are positive.

    Actions between bounds are low + (high - low) * sample (Chou, Maturana & Scherer 2017); the log
    density is then less by log(high - low).
    """

    def __init__(self, alpha: TensorLike, beta: TensorLike) -> None:
        self.alpha = cast(as_tensor(alpha), "float")
        self.beta = cast(as_tensor(beta), "float")
        self.shape = shape_of_entries("Beta expects alpha and beta", self.alpha, self.beta)
        expect_positive(alpha=self.alpha, beta=self.beta)

    @property
    def mean(self) -> Tensor:
        """The mean of each entry, alpha / (alpha + beta)."""
        with scope("policy"):
            return self.alpha / (self.alpha + self.beta)

    @property
    def mode(self) -> Tensor:
        """The value of highest density of each entry: 0 or 1 where that is a bound, and NaN where
        there is none or both are, for alpha and beta up to 1.
        """
        with scope("policy"):
            a, b = self.alpha, self.beta
            inner = (a - 1.0) / where((a > 1.0) & (b > 1.0), a + b - 2.0, 1.0)
            at_bound = where(a > 1.0, 1.0, where(b > 1.0, 0.0, math.nan))
            return where((a > 1.0) & (b > 1.0), inner, at_bound)

    def reparameterized(self) -> NoReturn:
        """Refuse: a draw by rejection is no differentiable function of the parameters."""
        raise not_reparameterized("Beta")

    def sample(self, over: Any = ()) -> Tensor:
        """Draw for each instance of the dims of the parameters and of `over` (one dim or a tuple);
        along all other dims the draw is the same. From two gamma draws x and y, as x / (x + y), at
        least 2**-126 and at most 1 - 2**-24; constant to `gradient`.
        """
        with scope("policy"):
            return _share(self._log_odds(over))

    def sample_with_log_probability(self, over: Any = ()) -> tuple[Tensor, Tensor]:
        """Return a draw as `sample`, and its log density, computed from x / y itself: exact however
        near to 1 the draw is.
        """
        with scope("policy"):
            log_odds = self._log_odds(over)
            return _share(log_odds), self._log_density(-softplus(-log_odds), -softplus(log_odds))

    def log_probability(self, value: TensorLike) -> Tensor:
        """Return the log density of numbers between 0 and 1, summed over the inner axes."""
        value = value_of("a Beta", self.shape, as_tensor(value))
        with scope("policy"):
            return self._log_density(log(value), log1p(-value))

    def entropy(self) -> Tensor:
        """Return the differential entropy in nats, summed over the inner axes."""
        with scope("policy"):
            a, b = self.alpha, self.beta
            each = (a + b - 2.0) * digamma(a + b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b)
            return total(each + self._log_integral(), self.shape)

    def kl(self, other: Beta) -> Tensor:
        """Return KL(self || other) in nats, summed over the inner axes."""
        with scope("policy"):
            a, b = self.alpha, self.beta
            more, of = other.alpha - a, other.beta - b
            each = (more + of) * digamma(a + b) - more * digamma(a) - of * digamma(b)
            return total(each + other._log_integral() - self._log_integral(), self.shape)

    def _log_integral(self) -> Tensor:
        """Return log B(alpha, beta)."""
        return lgamma(self.alpha) + lgamma(self.beta) - lgamma(self.alpha + self.beta)

    def _log_odds(self, over: Any) -> Tensor:
        """Return log(x / y) of the gamma draws, constant to `gradient`."""
        dims = dims_of(self.alpha, self.beta, over=over)
        log_x = log_of_draws(self.alpha, self.shape, dims)
        log_y = log_of_draws(self.beta, self.shape, dims)
        return stop_gradient(clip(log_x - log_y, -FAR, FAR))

    def _log_density(self, log_value: Tensor, log_rest: Tensor) -> Tensor:
        """Return the log density at a value, given its logarithm and that of 1 minus it."""
        each = (self.alpha - 1.0) * log_value + (self.beta - 1.0) * log_rest
        return total(each - self._log_integral(), self.shape)


def _share(log_odds: Tensor) -> Tensor:
    """Return x / (x + y) for log(x / y)."""
    return apply("minimum", 1.0 / (1.0 + exp(-log_odds)), INSIDE)
