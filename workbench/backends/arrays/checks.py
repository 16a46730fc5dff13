"""The checks of generated source while it runs; a failure names statement, instance and line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.backends.arrays.infinities import Infinities
from workbench.errors import RunError
from workbench.program.sizes import numbers
from workbench.program.values import Equations
from workbench.program.wellformed.sentences import impossible

Named = Sequence[tuple[str, int]]
"""Loop dimensions with their values, or array axes with the value of their first position."""


@dataclass(frozen=True)
class Checks:
    """The checks of one program over the array module `xp`."""

    equations: Equations
    xp: Any
    infinities: Infinities | None = None
    """The origins of infinities, where values are checked to be finite."""

    def functions(self) -> dict[str, Callable[..., None]]:
        """Return the checks under the names that generated source calls."""
        return {
            "check_finite": self.finite,
            "check_index": self.index,
            "check_within": self.within,
            "check_possible": self.possible,
            "check_length": self.length,
            "check_all": self.nonempty,
        }

    def finite(self, value: Any, statement: str, instance: Named, axes: Named) -> None:
        """Require that no element of a statement's result is NaN.

        An infinite one must have an infinite operand.
        """
        assert self.infinities is not None
        if value.dtype.kind != "f":
            self.infinities.forget()
            return
        wrong = self.xp.isnan(value) | self.infinities.among(value)
        self.infinities.forget()
        if bool(wrong.any()):
            place, where = self._first(wrong, statement, instance, axes)
            raise self._error(
                f"{self._array(statement)} is {float(value[place])} at {where}, "
                "the first value that is not finite",
                statement,
            )

    def index(
        self,
        index: Any,
        lower: int,
        upper: int,
        array: str,
        dim: str,
        statement: str,
        instance: Named,
        axes: Named,
    ) -> None:
        """Require that every index of a gather is inside the array."""
        if not index.size or (int(index.min()) >= lower and int(index.max()) < upper):
            return
        wrong = (index < lower) | (index >= upper)
        place, where = self._first(wrong, statement, instance, axes)
        raise self._error(
            f"{self.equations.array[array].called} is read at {dim} = {int(index[place])}, "
            f"outside {lower} to {upper - 1}, "
            f"by {self._array(statement)} at {where}",
            statement,
        )

    def within(
        self, index: Any, lower: Any, upper: Any, statement: str, instance: Named, axes: Named
    ) -> None:
        """Require every index of a gather in the range that the program promises."""
        wrong = (index < lower) | (index >= upper)
        if not bool(wrong.any()):
            return
        place, where = self._first(wrong, statement, instance, axes)
        position, low, high = (
            int(self.xp.broadcast_to(x, wrong.shape)[place]) for x in (index, lower, upper)
        )
        raise self._error(
            f"the index {position} of {self._array(statement)} at {where} is not within {low} to "
            f"{high - 1}, as the program promises",
            statement,
        )

    def possible(self, highest: Any, statement: str, instance: Named, axes: Named) -> None:
        """Require that every greatest logit is above -inf, and finite where values are checked."""
        wrong = highest == -self.xp.inf
        if self.infinities is not None:
            wrong = ~self.xp.isfinite(highest)
        if bool(wrong.any()):
            place, where = self._first(wrong, statement, instance, axes)
            if bool(highest[place] != -self.xp.inf):
                said = f"a logit of a Categorical is {float(highest[place])} at {where}"
                raise self._error(said, statement)
            raise self._error(impossible(where), statement)

    def length(self, n: int, dim: str, statement: str, instance: Named, axes: Named) -> None:
        """Require that a maximum has at least one element."""
        if n <= 0:
            where = _spelled(dict(instance), self.equations.statement[statement].dims)
            raise self._error(
                f"{self._array(statement)} at {where} combines no elements over {dim}: an empty "
                f"{self.equations.statement[statement].combiner} has no value",
                statement,
            )

    def nonempty(self, some: Any, statement: str, instance: Named, axes: Named) -> None:
        """Require that every instance of a maximum has at least one element."""
        if not bool(some.all()):
            _, where = self._first(~some, statement, instance, axes)
            raise self._error(
                f"{self._array(statement)} at {where} combines no elements: an empty "
                f"{self.equations.statement[statement].combiner} has no value",
                statement,
            )

    def _first(
        self, wrong: Any, statement: str, instance: Named, axes: Named
    ) -> tuple[tuple[int, ...], str]:
        place = tuple(int(k) for k in self.xp.argwhere(wrong)[0])
        at = dict(instance) | {d: low + k for (d, low), k in zip(axes, place, strict=False)}
        return place, _spelled(at, self.equations.statement[statement].dims)

    def _array(self, statement: str) -> str:
        return self.equations.array[self.equations.statement[statement].array].called

    def _error(self, message: str, statement: str) -> RunError:
        return RunError(message, self.equations.statement[statement].line)


def _spelled(at: dict[str, int], dims: Sequence[str]) -> str:
    return numbers({d: at[d] for d in dims if d in at}) or "its only instance"
