"""Atoms, of which an expression is a sum: names of dimensions and sizes, and functions of other
expressions, which are their parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self, cast

if TYPE_CHECKING:
    from workbench.polyhedral.expression import Expression


class Named:
    """A dimension or size by its name. Equal ones are one object: the sums of which an expression
    is made look them up far more often than they are made.
    """

    __slots__ = ("name",)
    name: str
    _known: ClassVar[dict[tuple[type[Named], str], Named]] = {}

    def __new__(cls, name: str) -> Self:
        known = Named._known.get((cls, name))
        if known is None:
            made = super().__new__(cls)
            object.__setattr__(made, "name", name)
            known = Named._known.setdefault((cls, name), made)
        return cast(Self, known)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} of {self!r} is fixed")

    def __reduce__(self) -> tuple[type[Named], tuple[str]]:
        return type(self), (self.name,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Variable(Named):
    """A dimension (a loop variable) by its name."""

    __slots__ = ()


class Size(Named):
    """A size parameter, fixed for a run, by its name."""

    __slots__ = ()


@dataclass(frozen=True)
class FloorDivision:
    """A floor division `dividend // divisor`.

    The divisor is positive. Affine iff the divisor is a constant.
    """

    dividend: Expression
    divisor: Expression
    function: ClassVar[str] = "floor_divide"

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that it is computed from."""
        return self.dividend, self.divisor


@dataclass(frozen=True)
class Extremum:
    """The minimum or maximum of two expressions (`kind` is "min" or "max")."""

    kind: str
    left: Expression
    right: Expression

    @property
    def function(self) -> str:
        """The function by its NumPy name."""
        return "minimum" if self.kind == "min" else "maximum"

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that it is computed from."""
        return self.left, self.right


@dataclass(frozen=True)
class Product:
    """A product of two expressions, neither of them a constant. Never affine."""

    left: Expression
    right: Expression
    function: ClassVar[str] = "multiply"

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that it is computed from."""
        return self.left, self.right


@dataclass(frozen=True)
class Choice:
    """A choice: `then` where every expression of `conditions` equals 0, else `otherwise`."""

    conditions: tuple[Expression, ...]
    then: Expression
    otherwise: Expression
    function: ClassVar[str] = "where"

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that it is computed from."""
        return *self.conditions, self.then, self.otherwise


Atom = Named | FloorDivision | Extremum | Product | Choice
