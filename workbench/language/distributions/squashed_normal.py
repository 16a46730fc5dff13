"""A normal distribution squashed into bounds, as of soft actor-critic."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from workbench.errors import ProgramError
from workbench.language.distributions.entries import total, value_of
from workbench.language.distributions.normal import Normal
from workbench.language.tracing.functions import clip, log1p, softplus, tanh
from workbench.language.tracing.nodes import as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope, user_line
from workbench.program.operations.shapes import broadcast_shapes

INSIDE = 1.0 - 2.0**-24
"""The greatest float32 below 1."""


class SquashedNormal:
    """Independent entries low + (high - low) * (1 + tanh(x)) / 2, x being normal with `mean` and
    `std` (Haarnoja et al. 2018, "Soft Actor-Critic", appendix C).

    `low` and `high` are numbers, or arrays of the inner shape. There is no closed form of its mean
    and its entropy; minus the mean log-probability of samples estimates the latter.
    """

    def __init__(
        self,
        mean: TensorLike,
        std: TensorLike,
        low: float | np.ndarray = -1.0,
        high: float | np.ndarray = 1.0,
    ) -> None:
        self.normal = Normal(mean, std)
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        try:
            fits = broadcast_shapes([self.shape, self.low.shape, self.high.shape]) == self.shape
        except ProgramError:
            fits = False
        if not fits or not (self.low < self.high).all() or not np.isfinite(self._half).all():
            raise ProgramError(
                f"SquashedNormal between {low!r} and {high!r}; expected finite bounds, each lower "
                f"one below the upper one, of the inner shape {self.shape} or numbers",
                user_line(),
            )

    @property
    def shape(self) -> Any:
        """The inner shape."""
        return self.normal.shape

    @property
    def median(self) -> Tensor:
        """The median of each entry: the squashed mean of the normal, for acting without noise."""
        with scope("policy"):
            return self._squashed(self.normal.mean)

    def reparameterized(self) -> SquashedNormal:
        """Return the same distribution, its samples differentiable in mean and std."""
        other = SquashedNormal(self.normal.mean, self.normal.std, self.low, self.high)
        other.normal = self.normal.reparameterized()
        return other

    def sample(self, over: Any = ()) -> Tensor:
        """Draw for each instance of the dims of mean and standard deviation and of `over` (one dim
        or a tuple); along all other dims the draw is the same. Constant to `gradient` unless
        `.reparameterized()`.
        """
        return self.sample_with_log_probability(over)[0]

    def sample_with_log_probability(self, over: Any = ()) -> tuple[Tensor, Tensor]:
        """Return a draw as `sample`, and its log density, computed from the normal draw itself:
        exact however near to a bound the draw is.
        """
        with scope("policy"):
            before = self.normal.sample(over)
            return self._squashed(before), self._log_density(before)

    def log_probability(self, value: TensorLike) -> Tensor:
        """Return the log density, summed over the inner axes. Of the distance from a bound to the
        middle, 2**-24 counts as not reached: there the inverse of tanh has no value.
        """
        value = value_of("a SquashedNormal", self.shape, cast(as_tensor(value), "float"))
        with scope("policy"):
            inside = clip((value - self._middle) / self._half, -INSIDE, INSIDE)
            return self._log_density(0.5 * (log1p(inside) - log1p(-inside)))

    def entropy(self) -> NoReturn:
        """Refuse: there is no closed form."""
        raise ProgramError(
            "the entropy of a SquashedNormal has no closed form; -log_probability of "
            "sample_with_log_probability() estimates it",
            user_line(),
        )

    def kl(self, other: SquashedNormal) -> Tensor:
        """Return KL(self || other) in nats, summed over the inner axes: that of the normals, as the
        bounds have to be the same.
        """
        same = np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high)
        if not same:
            raise ProgramError(
                f"KL of a SquashedNormal between {self.low} and {self.high} and one between "
                f"{other.low} and {other.high}: expected the same bounds",
                user_line(),
            )
        return self.normal.kl(other.normal)

    @property
    def _middle(self) -> float | np.ndarray:
        return _number(0.5 * (self.low + self.high))

    @property
    def _half(self) -> float | np.ndarray:
        return _number(0.5 * (self.high - self.low))

    def _squashed(self, x: Tensor) -> Tensor:
        return tanh(x) * self._half + self._middle

    def _log_density(self, x: Tensor) -> Tensor:
        """Return the log density at the squashed x: that of x, less the log derivative, 1 -
        tanh(x)**2 = 4 / (exp(x) + exp(-x))**2 times half the distance of the bounds.
        """
        log_slope = 2.0 * (math.log(2.0) - x - softplus(-2.0 * x)) + _number(np.log(self._half))
        return self.normal.log_probability(x) - total(log_slope, self.shape)


def _number(x: Any) -> float | np.ndarray:
    """Return an array, or its only number."""
    return x if np.ndim(x) else float(x)
