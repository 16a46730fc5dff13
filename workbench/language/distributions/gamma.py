"""The gamma distribution, and the draws from it that the beta distribution needs too."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from workbench.errors import ProgramError
from workbench.language.distributions.entries import (
    dims_of,
    expect_positive,
    shape_of_entries,
    total,
    value_of,
)
from workbench.language.random import draws
from workbench.language.tracing.functions import (
    cumsum,
    digamma,
    exp,
    lgamma,
    log,
    maximum,
    sqrt,
    stop_gradient,
    where,
)
from workbench.language.tracing.nodes import apply, as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope, user_line
from workbench.program.bodies import Shape

PROPOSALS = 8
"""The proposals of a draw. All but the last are rejected with probability 0.049**7 at most, which
is below 1e-9; the last one is taken whatever it is.
"""
LEAST = 2.0**-126
"""The least normal float32: no draw is below it."""


class Gamma:
    """Independent gamma distributions with density rate**shape * x**(shape - 1) * exp(-rate * x) /
    Gamma(shape), one per entry of the inner shape of `concentration` (the shape) and `rate`; both
    are positive.
    """

    def __init__(self, concentration: TensorLike, rate: TensorLike) -> None:
        self.concentration = cast(as_tensor(concentration), "float")
        self.rate = cast(as_tensor(rate), "float")
        self.shape = shape_of_entries(
            "Gamma expects a concentration and a rate", self.concentration, self.rate
        )
        expect_positive(concentration=self.concentration, rate=self.rate)

    @property
    def mean(self) -> Tensor:
        """The mean of each entry, concentration / rate."""
        with scope("policy"):
            return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The value of highest density of each entry: 0 at concentrations up to 1."""
        with scope("policy"):
            return apply("maximum", self.concentration - 1.0, 0.0) / self.rate

    def reparameterized(self) -> NoReturn:
        """Refuse: a draw by rejection is no differentiable function of the parameters."""
        raise not_reparameterized("Gamma")

    def sample(self, over: Any = ()) -> Tensor:
        """Draw for each instance of the dims of the parameters and of `over` (one dim or a tuple);
        along all other dims the draw is the same. At least 2**-126; constant to `gradient`.
        """
        with scope("policy"):
            drawn = log_of_draws(
                self.concentration, self.shape, dims_of(self.concentration, self.rate, over=over)
            )
            return stop_gradient(maximum(exp(drawn - log(self.rate)), LEAST))

    def log_probability(self, value: TensorLike) -> Tensor:
        """Return the log density of positive numbers, summed over the inner axes."""
        value = value_of("a Gamma", self.shape, as_tensor(value))
        with scope("policy"):
            k = self.concentration
            return total(
                k * log(self.rate) + (k - 1.0) * log(value) - self.rate * value - lgamma(k),
                self.shape,
            )

    def entropy(self) -> Tensor:
        """Return the differential entropy in nats, summed over the inner axes."""
        with scope("policy"):
            k = self.concentration
            return total(k - log(self.rate) + lgamma(k) + (1.0 - k) * digamma(k), self.shape)

    def kl(self, other: Gamma) -> Tensor:
        """Return KL(self || other) in nats, summed over the inner axes (Penny 2001, eq. 30)."""
        with scope("policy"):
            k, m, ratio = self.concentration, other.concentration, other.rate / self.rate
            return total(
                (k - m) * digamma(k) - lgamma(k) + lgamma(m) - m * log(ratio) + k * (ratio - 1.0),
                self.shape,
            )


def not_reparameterized(name: str) -> ProgramError:
    """Return the refusal of samples that are differentiable in the parameters."""
    return ProgramError(
        f"samples of a {name} are drawn by rejection, and not differentiable in its parameters; "
        "use their log_probability, or a SquashedNormal",
        user_line(),
    )


def log_of_draws(concentration: Tensor, shape: Shape, dims: tuple[str, ...]) -> Tensor:
    """Return logarithms of draws with rate 1, by rejection (Marsaglia & Tsang 2000).

    With d = a - 1/3 and v = (1 + z / sqrt(9 d))**3, z being normal, d * v has the concentration a
    where log u < z**2 / 2 + d * (1 - v + log v); it is drawn for a = concentration + 1, and
    multiplied by u'**(1 / concentration) (their section 6). A draw has a fixed number of proposals,
    side by side: what it takes does not depend on data.
    """
    rows = (PROPOSALS, *shape)
    normal, uniform = draws("normal", rows, dims), draws("uniform", rows, dims)
    scale = concentration + 2.0 / 3.0
    root = maximum(1.0 + normal / sqrt(9.0 * scale), 1e-10)
    log_cube = 3.0 * log(root)
    limit = 0.5 * normal * normal + scale * (1.0 - root * root * root + log_cube)
    accepted = (log(uniform + 2.0**-25) < limit) | _last(len(shape))
    first = accepted & (cumsum(cast(accepted, "int32")) == 1)
    shrunk = log(draws("uniform", shape, dims) + 2.0**-25) / concentration
    return where(first, log_cube, 0.0).sum(axis=0) + log(scale) + shrunk


def _last(rank: int) -> Tensor:
    """Return, for each proposal, whether it is the last one, along the first of 1 + rank axes."""
    return as_tensor((np.arange(PROPOSALS) == PROPOSALS - 1).reshape(-1, *(1,) * rank))
