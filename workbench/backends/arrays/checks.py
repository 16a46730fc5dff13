"""The checks of generated source while it runs; a failure names statement, instance and line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.backends.arrays.infinities import Infinities
from workbench.backends.failed_checks import error_of, failed, point_at, written_by
from workbench.program.operations import matrices
from workbench.program.values import Equations

Named = Sequence[tuple[str, int]]
"""Loop dimensions with their values, or array axes with the value of their first position."""


Inside = Any
"""The mask of the statement's set over the axes of a value (True: it is everywhere). What is wrong
outside does not count."""


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
            "check_positive": self.positive,
            "check_existing": self.existing,
            "check_regular": self.regular,
            "check_definite": self.definite,
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
            place, at = self._first(wrong, instance, axes)
            raise error_of(
                self.equations,
                statement,
                f"{written_by(self.equations, statement)} is {float(value[place])} at "
                f"{point_at(self.equations, statement, at)}, the first value that is not finite",
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
        inside: Inside = True,
    ) -> None:
        """Require that every index of a gather is inside the array."""
        if not index.size or (int(index.min()) >= lower and int(index.max()) < upper):
            return
        wrong = self._where((index < lower) | (index >= upper), inside)
        if not bool(wrong.any()):
            return
        place, at = self._first(wrong, instance, axes)
        numbers = (int(index[place]), lower, upper)
        raise failed(self.equations, "index", statement, at, numbers, {"array": array, "dim": dim})

    def within(
        self,
        index: Any,
        lower: Any,
        upper: Any,
        statement: str,
        instance: Named,
        axes: Named,
        inside: Inside = True,
    ) -> None:
        """Require every index of a gather in the range that the program promises."""
        wrong = self._where((index < lower) | (index >= upper), inside)
        if not bool(wrong.any()):
            return
        place, at = self._first(wrong, instance, axes)
        numbers = [int(self.xp.broadcast_to(x, wrong.shape)[place]) for x in (index, lower, upper)]
        raise failed(self.equations, "within", statement, at, numbers)

    def possible(
        self,
        highest: Any,
        statement: str,
        instance: Named,
        axes: Named,
        inside: Inside = True,
    ) -> None:
        """Require that every greatest logit is above -inf, and finite where values are checked."""
        wrong = highest == -self.xp.inf
        if self.infinities is not None:
            wrong = ~self.xp.isfinite(highest)
        wrong = self._where(wrong, inside)
        if bool(wrong.any()):
            place, at = self._first(wrong, instance, axes)
            if bool(highest[place] != -self.xp.inf):
                where = point_at(self.equations, statement, at)
                said = f"a logit of a Categorical is {float(highest[place])} at {where}"
                raise error_of(self.equations, statement, said)
            raise failed(self.equations, "possible", statement, at)

    def positive(
        self, value: Any, statement: str, instance: Named, axes: Named, inside: Inside = True
    ) -> None:
        """Require that all numbers are above 0."""
        wrong = self._where(~(value > 0.0), inside)
        if bool(wrong.any()):
            raise failed(
                self.equations, "positive", statement, self._first(wrong, instance, axes)[1]
            )

    def existing(
        self,
        opened: Any,
        steps: Any,
        array: str,
        dim: str,
        statement: str,
        instance: Named,
        axes: Named,
        inside: Inside = True,
    ) -> None:
        """Require that what is read of episodes is not past their ends."""
        wrong = self._where(~opened, inside)
        if bool(wrong.any()):
            place, at = self._first(wrong, instance, axes)
            numbers, options = (int(steps[place]),), {"array": array, "dim": dim}
            raise failed(self.equations, "existing", statement, at, numbers, options)

    def regular(
        self,
        matrix: Any,
        solution: Any,
        statement: str,
        instance: Named,
        axes: Named,
        inside: Inside = True,
    ) -> None:
        """Require that equations have a solution. One that has NaN may have none."""
        if bool(self.xp.isnan(solution).any()):
            wrong = self._where(~matrices.regular(matrix), inside)
            self._matrices("regular", wrong, statement, instance, axes)

    def definite(
        self, factor: Any, statement: str, instance: Named, axes: Named, inside: Inside = True
    ) -> None:
        """Require that every matrix was positive definite, by the factors of them."""
        wrong = self._where(~matrices.definite(factor), inside)
        self._matrices("definite", wrong, statement, instance, axes)

    def _matrices(
        self, kind: str, wrong: Any, statement: str, instance: Named, axes: Named
    ) -> None:
        if bool(wrong.any()):
            raise failed(self.equations, kind, statement, self._first(wrong, instance, axes)[1])

    def _where(self, wrong: Any, inside: Inside) -> Any:
        """Return what is wrong at the points of the statement's set."""
        if inside is True:
            return wrong
        return wrong & inside.reshape(inside.shape + (1,) * (wrong.ndim - inside.ndim))

    def length(self, n: int, dim: str, statement: str, instance: Named, axes: Named) -> None:
        """Require that a maximum has at least one element."""
        if n <= 0:
            raise failed(self.equations, "nonempty", statement, dict(instance), (), {"dim": dim})

    def nonempty(self, some: Any, statement: str, instance: Named, axes: Named) -> None:
        """Require that every instance of a maximum has at least one element."""
        if not bool(some.all()):
            raise failed(
                self.equations, "nonempty", statement, self._first(~some, instance, axes)[1]
            )

    def _first(
        self, wrong: Any, instance: Named, axes: Named
    ) -> tuple[tuple[int, ...], dict[str, int]]:
        """Return the first place that is wrong, and the instance there."""
        place = tuple(int(k) for k in self.xp.argwhere(wrong)[0])
        at = dict(instance) | {d: low + k for (d, low), k in zip(axes, place, strict=False)}
        return place, at
