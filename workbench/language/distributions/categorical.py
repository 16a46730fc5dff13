"""A choice among several."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from workbench.errors import ProgramError
from workbench.language.distributions.entries import dims_of
from workbench.language.random import draws
from workbench.language.tracing.functions import cumsum, exp, log_normalized, where
from workbench.language.tracing.given_shapes import count_of
from workbench.language.tracing.nodes import apply, as_tensor, cast
from workbench.language.tracing.tensor import Node, Tensor, TensorLike
from workbench.language.tracing.trace import scope, user_line
from workbench.program.operations.shapes import shape_text


class Categorical:
    """A choice among the entries of `logits`, unnormalised log-probabilities of inner shape
    (choices,).

    Choices at which `mask`, booleans of that shape, is False are illegal: their logits become -inf.
    Such a choice is never sampled, its log-probability is -inf and constant to `gradient`. Where
    all choices are illegal, a run stops and names the instance.
    """

    def __init__(self, logits: TensorLike, mask: TensorLike | None = None) -> None:
        if not isinstance(logits, Tensor):
            logits = cast(as_tensor(logits), "float")
        if len(logits.shape) != 1 or logits.dtype != "float":
            raise ProgramError(
                f"Categorical expects logits of inner shape (choices,), found {logits!r}",
                user_line(),
            )
        self.logits = logits if mask is None else _masked(logits, as_tensor(mask))
        self.choices = count_of(logits, 0)

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

    @property
    def mode(self) -> Tensor:
        """The most probable choice (int32), of several the first."""
        with scope("policy"):
            return self._choice(self.log_probabilities.argmax(axis=0))

    def sample(self, over: Any = ()) -> Tensor:
        """Draw one choice (int32) per instance of the dims of the logits and of `over` (one dim or
        a tuple).

        Along all other dims the choice is the same: where the logits do not vary over environments
        b, `sample(over=b)` draws for each of them. By inversion: the count of cumulative
        probabilities <= u; those that equal the last one count as 1 whatever rounding makes of
        them. Constant to `gradient`.
        """
        with scope("policy"):
            uniform = draws("uniform", (), dims_of(self.logits, over=over))
            return self.at(uniform)

    def at(self, uniform: Tensor) -> Tensor:
        """Return the choice that a number from [0, 1) stands for."""
        cumulative = cumsum(self.probabilities)
        below, total = cumulative[..., : self.choices - 1], cumulative[..., self.choices - 1]
        passed = (below <= uniform) & (below < total)
        return self._choice(cast(passed, "int32").sum(axis=0))

    def _choice(self, chosen: Tensor) -> Tensor:
        """Return a choice, known to be one of so many."""
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


def _masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the logits with -inf where a mask is False."""
    if mask.dtype != "bool" or mask.shape != logits.shape:
        raise ProgramError(
            f"the mask of a Categorical of {shape_text(logits.shape)} logits is booleans of that "
            f"inner shape, found {mask!r} ({mask.dtype}{shape_text(mask.shape)})",
            user_line(),
        )
    source = mask.source
    if (
        isinstance(source, Node)
        and source.operation == "literal"
        and not any(source.options["value"])
    ):
        raise ProgramError("the mask of a Categorical is False everywhere", user_line())
    return where(mask, logits, -math.inf)
