"""Several independent choices at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, pairwise
from operator import add
from typing import Any

from workbench.errors import ProgramError
from workbench.language.distributions.categorical import Categorical
from workbench.language.distributions.entries import dims_of
from workbench.language.random import draws
from workbench.language.tracing.functions import stack
from workbench.language.tracing.nodes import as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope, user_line
from workbench.polyhedral.expression import whole
from workbench.program.operations.dtypes import INTEGERS
from workbench.program.operations.shapes import shape_text


class MultiCategorical:
    """Independent choices, one among `sizes[k]` for each k: `logits`, of inner shape (sum of
    sizes,), has their unnormalised log-probabilities one after the other, and so has `mask`, if
    given.

    Values are integers of inner shape (number of sizes,): the actions of a Gymnasium MultiDiscrete.
    A mask is as that of a `Categorical`.
    """

    def __init__(
        self, logits: TensorLike, sizes: Sequence[int], mask: TensorLike | None = None
    ) -> None:
        self.sizes = _sizes(sizes)
        self.logits = cast(as_tensor(logits), "float")
        ends = [0, *accumulate(self.sizes)]
        masked = None if mask is None else as_tensor(mask)
        for what, x in (("logits", self.logits), ("a mask", masked)):
            if x is not None and x.shape != (ends[-1],):
                raise ProgramError(
                    f"MultiCategorical of sizes {self.sizes} expects {what} of inner shape "
                    f"({ends[-1]},), found {x!r} of inner shape {shape_text(x.shape)}",
                    user_line(),
                )
        self.parts = tuple(
            Categorical(
                self.logits[..., start:end], None if masked is None else masked[..., start:end]
            )
            for start, end in pairwise(ends)
        )

    @property
    def mode(self) -> Tensor:
        """The most probable choices (int32)."""
        return self._each(lambda k: self.parts[k].mode)

    def sample(self, over: Any = ()) -> Tensor:
        """Draw all choices (int32) for each instance of the dims of the logits and of `over` (one
        dim or a tuple); along all other dims they are the same. By inversion, as `Categorical`;
        constant to `gradient`.
        """
        with scope("policy"):
            dims = dims_of(*(part.logits for part in self.parts), over=over)
            uniform = draws("uniform", (len(self.sizes),), dims)
            return self._each(lambda k: self.parts[k].at(uniform[..., k]))

    def log_probability(self, action: TensorLike) -> Tensor:
        """Return log p(action), the sum of those of the choices; `action` has one integer each."""
        action = as_tensor(action)
        if action.shape != (len(self.sizes),) or action.dtype not in INTEGERS:
            raise ProgramError(
                f"the action of a MultiCategorical of sizes {self.sizes} is {len(self.sizes)} "
                f"integers, found {action!r} ({action.dtype}{shape_text(action.shape)})",
                user_line(),
            )
        return self._sum(lambda k: self.parts[k].log_probability(action[..., k]))

    def entropy(self) -> Tensor:
        """Return the entropy in nats, the sum of those of the choices."""
        return self._sum(lambda k: self.parts[k].entropy())

    def kl(self, other: MultiCategorical) -> Tensor:
        """Return KL(self || other) in nats, the sum of those of the choices."""
        if self.sizes != other.sizes:
            raise ProgramError(
                f"KL of a MultiCategorical of sizes {self.sizes} and one of sizes {other.sizes}",
                user_line(),
            )
        return self._sum(lambda k: self.parts[k].kl(other.parts[k]))

    def _each(self, of: Callable[[int], Tensor]) -> Tensor:
        with scope("policy"):
            return stack([of(k) for k in range(len(self.sizes))])

    def _sum(self, of: Callable[[int], Tensor]) -> Tensor:
        with scope("policy"):
            return reduce(add, [of(k) for k in range(len(self.sizes))])


def _sizes(sizes: Any) -> tuple[int, ...]:
    """Return the numbers of choices as Python numbers (`space.nvec` is NumPy's)."""
    numbers = [whole(n) for n in sizes] if hasattr(sizes, "__iter__") else [None]
    checked = tuple(n for n in numbers if n is not None and n > 0)
    if not numbers or len(checked) < len(numbers):
        raise ProgramError(
            f"MultiCategorical of sizes {sizes!r}; expected the number of choices of each, like "
            "(3, 2)",
            user_line(),
        )
    return checked
