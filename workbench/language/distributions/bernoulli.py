"""Independent events."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from workbench.errors import ProgramError
from workbench.language.distributions.entries import dims_of, total, value_of
from workbench.language.random import draws
from workbench.language.tracing.functions import sigmoid, softplus, where
from workbench.language.tracing.nodes import as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope, user_line


class Bernoulli:
    """Independent events, one per entry of the inner shape of `logits`: log(p / (1 - p)), finite.

    Values are booleans.
    """

    def __init__(self, logits: TensorLike) -> None:
        self.logits = cast(as_tensor(logits), "float")
        self.shape = self.logits.shape

    @cached_property
    def probabilities(self) -> Tensor:
        """The probability of each event, which is its mean."""
        with scope("policy"):
            probabilities = sigmoid(self.logits)
            return probabilities

    @property
    def mean(self) -> Tensor:
        """The mean of each entry, True counting as 1."""
        return self.probabilities

    @property
    def mode(self) -> Tensor:
        """True where an event is more probable than not."""
        with scope("policy"):
            return self.logits > 0.0

    def sample(self, over: Any = ()) -> Tensor:
        """Draw all events (bool) for each instance of the dims of the logits and of `over` (one dim
        or a tuple); along all other dims the draw is the same. Constant to `gradient`.
        """
        with scope("policy"):
            uniform = draws("uniform", self.shape, dims_of(self.logits, over=over))
            return uniform < self.probabilities

    def log_probability(self, value: TensorLike) -> Tensor:
        """Return log p(value), summed over the inner axes; `value` has booleans."""
        value = value_of("a Bernoulli", self.shape, as_tensor(value))
        if value.dtype != "bool":
            raise ProgramError(
                f"the value of a Bernoulli is of booleans, found {value!r} ({value.dtype}); write "
                "value == 1 of zeros and ones",
                user_line(),
            )
        with scope("policy"):
            return total(-softplus(where(value, -self.logits, self.logits)))

    def entropy(self) -> Tensor:
        """Return the entropy in nats, summed over the inner axes."""
        with scope("policy"):
            p = self.probabilities
            return total(p * softplus(-self.logits) + (1.0 - p) * softplus(self.logits))

    def kl(self, other: Bernoulli) -> Tensor:
        """Return KL(self || other) in nats, summed over the inner axes."""
        with scope("policy"):
            p = self.probabilities
            return total(
                p * (softplus(-other.logits) - softplus(-self.logits))
                + (1.0 - p) * (softplus(other.logits) - softplus(self.logits))
            )
