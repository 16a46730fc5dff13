"""Integer expressions over dimensions and size parameters, for indices, bounds and sizes.

An expression is a canonical linear combination of atoms, so structural equality is equality of
linear forms: `t + 1 - 1 == t`. Atoms beyond dimensions and parameters are floor division, minimum,
maximum, a choice by comparison (the lexicographic successor needs it) and a product (sizes only:
isl has no products). This file knows no islpy; `isl_text.py` turns expressions into isl text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from numbers import Number
from typing import Any, ClassVar, NoReturn, SupportsIndex, TypeVar, Union

import numpy as np

from workbench.errors import ProgramError
from workbench.polyhedral.hashed import Hashed


@dataclass(frozen=True)
class Variable:
    """A dimension (a loop variable) by its name."""

    name: str


@dataclass(frozen=True)
class Size:
    """A size parameter, fixed for a run, by its name."""

    name: str


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


Named = Variable | Size
Atom = Named | FloorDivision | Extremum | Product | Choice
ExpressionLike = Union["Expression", SupportsIndex]
V = TypeVar("V")

_NOTHING = frozenset[str]()


@dataclass(frozen=True, eq=False)
class Expression(Hashed):
    """A sum `constant + sum(coefficient * atom)`, terms sorted, no zero coefficient.

    `==` compares structurally and gives a plain bool.
    """

    constant: int
    terms: tuple[tuple[Atom, int], ...] = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return not self.terms and self.constant == other
        if not isinstance(other, Expression):
            number = whole(other)
            return NotImplemented if number is None else self == number
        return self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.constant, self.terms))

    def _compared(self, other: object) -> NoReturn:
        raise ProgramError(
            f"{self} has no order with {other} before the program runs; compare wb.index({self})"
        )

    def __index__(self) -> int:
        raise ProgramError(
            f"{self} has no value before the program runs: instead of a loop over range({self}), "
            f"declare a dim, k = wb.dim(k={self}); as a number of the program, wb.index({self})"
        )

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __add__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "+", other):
            return NotImplemented
        other = expression(other)
        if not other.terms:
            return Expression(self.constant + other.constant, self.terms)
        return _linear(self.constant + other.constant, [*self.terms, *other.terms])

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return Expression(-self.constant, tuple((a, -c) for a, c in self.terms))

    def __sub__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "-", other):
            return NotImplemented
        other = expression(other)
        if not other.terms:
            return Expression(self.constant - other.constant, self.terms)
        negated = [(a, -c) for a, c in other.terms]
        return _linear(self.constant - other.constant, [*self.terms, *negated])

    def __rsub__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "-", other):
            return NotImplemented
        return expression(other) + (-self)

    def __mul__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "*", other):
            return NotImplemented
        other = expression(other)
        if not other.terms:
            return _linear(
                self.constant * other.constant, [(a, c * other.constant) for a, c in self.terms]
            )
        if not self.terms:
            return other * self.constant
        left, right = sorted((self, other), key=str)
        return atom(Product(left, right))

    __rmul__ = __mul__

    def __floordiv__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "//", other):
            return NotImplemented
        other = expression(other)
        if not other.terms:
            if other.constant <= 0:
                raise ProgramError(f"division of {self} by {other}: the divisor must be positive")
            if other.constant == 1:
                return self
            whole = Expression(0, tuple((a, c) for a, c in self.terms if not c % other.constant))
            if whole.terms or not self.terms:  # `(4 * n + t) // 4` is `n + t // 4`
                rest = self - whole
                divided = tuple((a, c // other.constant) for a, c in whole.terms)
                below = Expression(rest.constant // other.constant)
                return Expression(0, divided) + (rest // other if rest.terms else below)
        return atom(FloorDivision(self, other))

    def __truediv__(self, other: object) -> Expression:
        if not isinstance(other, (Expression, int, float)):
            return NotImplemented
        raise _quotient(self, other)

    def __rtruediv__(self, other: object) -> Expression:
        if not isinstance(other, (int, float)):
            return NotImplemented
        raise _quotient(other, self)

    def __rfloordiv__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "//", other):
            return NotImplemented
        return expression(other) // self

    def __mod__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "%", other):
            return NotImplemented
        return self - expression(other) * (self // other)

    def __rmod__(self, other: ExpressionLike) -> Expression:
        if not _is_operand(self, "%", other):
            return NotImplemented
        return expression(other) % self

    def __divmod__(self, other: ExpressionLike) -> tuple[Expression, Expression]:
        return self // other, self % other

    def __pow__(self, other: int) -> Expression:
        exponent = whole(other)
        if exponent is None or exponent < 1:
            if not isinstance(other, (Number, Expression)):
                return NotImplemented
            raise _no_index(f"{_wrapped(self)} ** {other}", f"wb.index({self}) ** {other}")
        return self if exponent == 1 else self * self ** (exponent - 1)

    def __rpow__(self, other: object) -> Expression:
        if not isinstance(other, Number):
            return NotImplemented
        raise _no_index(f"{other} ** {_wrapped(self)}", f"{other} ** wb.index({self})")

    def __lshift__(self, other: int) -> Expression:
        return self * (1 << _places(self, "<<", other))

    def __rshift__(self, other: int) -> Expression:
        return self // (1 << _places(self, ">>", other))

    def __and__(self, other: object) -> Expression:
        if not isinstance(other, (Number, Expression)):
            return NotImplemented
        raise ProgramError(f"an index expression has no &, |, ^ or ~; as a number wb.index({self})")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __and__

    def __invert__(self) -> Expression:
        return self & 0

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return maximum(self, -self)

    def __iter__(self) -> Iterator[Expression]:
        self.__index__()
        raise AssertionError

    def __format__(self, how: str) -> str:
        if how:
            self.__index__()
        return self._text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    @cached_property
    def _text(self) -> str:
        remainder = _remainder(self)
        if remainder is not None:
            rest, division = remainder
            text = f"{_wrapped(division.dividend)} % {_wrapped(division.divisor)}"
            return text if rest == 0 else f"{rest} + {text}"
        parts: list[str] = []
        for a, coefficient in self.terms:
            text = _atom_text(a)
            if isinstance(a, FloorDivision) and coefficient != 1:
                text = f"({text})"
            if abs(coefficient) != 1:
                text = f"{abs(coefficient)} * {text}"
            parts.append(("- " if coefficient < 0 else "+ ") + text)
        if self.constant or not parts:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        positive = next((part for part in parts if part[0] == "+"), None)
        if positive is not None:  # `k - t`, not `-t + k`
            parts.remove(positive)
            parts.insert(0, positive)
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else "-" + text[2:]

    # -- questions -------------------------------------------------------------------------

    def atoms(self) -> Iterator[Atom]:
        """Yield every atom, nested ones included."""
        for a, _ in self.terms:
            yield a
            if not isinstance(a, Named):
                for part in a.parts:
                    yield from part.atoms()

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of the dimensions that occur."""
        return _names(self, Variable, lambda part: part.variables)

    @cached_property
    def sizes(self) -> frozenset[str]:
        """The names of the size parameters that occur."""
        return _names(self, Size, lambda part: part.sizes)

    @property
    def is_affine(self) -> bool:
        """Tell whether isl can express it: no product, no division by a parameter."""
        return not any(
            isinstance(a, Product) or (isinstance(a, FloorDivision) and a.divisor.terms)
            for a in self.atoms()
        )

    def coefficient(self, name: str) -> int:
        """Return the coefficient of the dimension `name` among the top-level terms."""
        for a, c in self.terms:
            if isinstance(a, Variable) and a.name == name:
                return c
        return 0

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the value, given every dimension and parameter that occurs by name."""
        value: int = evaluated(
            self, lambda a: int(values[a.name]), lambda part: part.evaluate(values)
        )
        return value

    def substitute(self, values: Mapping[str, ExpressionLike]) -> Expression:
        """Replace dimensions *and* sizes by name."""
        if values.keys().isdisjoint(self.variables) and values.keys().isdisjoint(self.sizes):
            return self
        return fold(
            self,
            lambda a: expression(values[a.name]) if a.name in values else atom(a),
            _EXPRESSIONS,
            _combined,
            lambda part: part.substitute(values),
        )


def fold(
    e: Expression,
    named: Callable[[Named], V],
    functions: Mapping[str, Callable[..., V]],
    total: Callable[[int, Iterable[tuple[V, int]]], V],
    at: Callable[[Expression], V],
) -> V:
    """Fold an expression into a value of any kind: an integer, an array, an interval, a text.

    `named` gives the value of a dimension or size. `functions` compute that of any other atom, by
    the name of its function, from the values `at` of its parts. `total` adds a constant and values
    with their factors.
    """

    def value(a: Atom) -> V:
        return named(a) if isinstance(a, Named) else functions[a.function](*map(at, a.parts))

    return total(e.constant, [(value(a), factor) for a, factor in e.terms])


def evaluated(e: Expression, named: Callable[[Named], Any], at: Callable[[Expression], Any]) -> Any:
    """Compute an expression over integers and arrays of them alike, its parts by `at`."""
    return fold(e, named, _NUMBERS, _sum, at)


def whole(value: object) -> int | None:
    """Return a value's number by its `__index__` (an int, a NumPy integer), or None.

    None for truth values and expressions too.
    """
    if isinstance(value, (bool, Expression)) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except (TypeError, ProgramError):  # an array has it, and a tensor, but is no number yet
        return None


def expression(value: ExpressionLike) -> Expression:
    """Make an expression from a whole number or an expression."""
    return value if isinstance(value, Expression) else Expression(operator.index(value))


def atom(a: Atom) -> Expression:
    """Return the expression that is one atom."""
    return Expression(0, ((a, 1),))


def variable(name: str) -> Expression:
    """Return the dimension `name` as an expression."""
    return atom(Variable(name))


def size(name: str) -> Expression:
    """Return the size parameter `name` as an expression."""
    return atom(Size(name))


def minimum(left: ExpressionLike, right: ExpressionLike) -> Expression:
    """Return the smaller of two expressions."""
    return _extremum("min", expression(left), expression(right))


def maximum(left: ExpressionLike, right: ExpressionLike) -> Expression:
    """Return the larger of two expressions."""
    return _extremum("max", expression(left), expression(right))


def shortest(e: Expression) -> Expression:
    """Move the terms beside a minimum or maximum into it where that is shorter.

    `min(T, 4 * n + 4) - 4 * n` becomes `min(T - 4 * n, 4)`.
    """
    for a, factor in e.terms:
        if isinstance(a, Extremum) and factor in (1, -1):
            rest = e - atom(a) * factor
            kind = a.kind if factor == 1 else {"min": "max", "max": "min"}[a.kind]
            drawn = _extremum(kind, a.left * factor + rest, a.right * factor + rest)
            if _parts_in(drawn) < _parts_in(e):
                return drawn
    return e


def _parts_in(e: Expression) -> int:
    """Count the numbers and names that an expression is written with, about."""
    atoms = (a for a, _ in e.terms if not isinstance(a, Named))
    inner = sum(_parts_in(part) for a in atoms for part in a.parts)
    return inner + len(e.terms) + bool(e.constant)


def choice(
    conditions: tuple[Expression, ...], then: ExpressionLike, otherwise: ExpressionLike
) -> Expression:
    """Return `then` where every condition equals 0, else `otherwise`."""
    then, otherwise = expression(then), expression(otherwise)
    if any(not c.terms and c.constant for c in conditions):
        return otherwise
    conditions = tuple(c for c in conditions if c.terms)
    if then == otherwise or not conditions:
        return then
    return atom(Choice(conditions, then, otherwise))


def _extremum(kind: str, left: Expression, right: Expression) -> Expression:
    if left == right:
        return left
    difference = left - right
    if not difference.terms:
        return left if (difference.constant < 0) == (kind == "min") else right
    return atom(Extremum(kind, left, right))


def _linear(constant: int, terms: list[tuple[Atom, int]]) -> Expression:
    collected: dict[Atom, int] = {}
    for a, c in terms:
        collected[a] = collected.get(a, 0) + c
    kept = [(a, c) for a, c in collected.items() if c]
    if len(kept) > 1:
        kept.sort(key=_order)
    return Expression(constant, tuple(kept))


_KINDS: tuple[type, ...] = (Product, FloorDivision, Variable, Size, Extremum, Choice)
"""The types of atoms, in their order within an expression."""


def _order(term: tuple[Atom, int]) -> tuple[int, str]:
    return _KINDS.index(type(term[0])), _atom_text(term[0])


def _remainder(e: Expression) -> tuple[Expression, FloorDivision] | None:
    """Split `rest + t % 4`, held as `rest + t - 4 * (t // 4)`, into the rest and `t // 4`."""
    for a, c in e.terms:
        for division, divisor in _times_divisor(a, -c):
            if division.divisor == divisor:
                rest = e - atom(a) * c - division.dividend
                if len(rest.terms) + len(division.dividend.terms) + 1 == len(e.terms):
                    return rest, division
    return None


def _times_divisor(a: Atom, factor: int) -> Iterator[tuple[FloorDivision, Expression]]:
    """Yield a term as a division times its possible divisor."""
    if isinstance(a, FloorDivision):
        yield a, Expression(factor)
    elif isinstance(a, Product) and factor == 1:
        for one, other in ((a.left, a.right), (a.right, a.left)):
            if len(one.terms) == 1 and not one.constant and one.terms[0][1] == 1:
                inner = one.terms[0][0]
                if isinstance(inner, FloorDivision):
                    yield inner, other


def _is_operand(e: Expression, sign: str, other: object) -> bool:
    """Tell whether arithmetic with `e` stays in whole numbers. Raises ProgramError if not."""
    if isinstance(other, (Expression, int)) or whole(other) is not None:
        return True
    if isinstance(other, Number):
        raise _no_index(f"{_wrapped(e)} {sign} {other}", f"wb.index({e}) {sign} {other}")
    return False


def _places(e: Expression, sign: str, other: object) -> int:
    """Return the number of binary places that `e` is shifted by."""
    places = whole(other)
    if places is None or places < 0:
        raise ProgramError(
            f"{_wrapped(e)} {sign} {other!r}: an index is shifted by a number of places, 0 or more"
        )
    return places


def _no_index(written: str, instead: str) -> ProgramError:
    """Return the error for arithmetic that leaves the whole numbers, with the remedy."""
    return ProgramError(
        f"{written} is no index, which is made of whole numbers; as a number of the program, "
        f"{instead}"
    )


def _quotient(left: Expression | float, right: Expression | float) -> ProgramError:
    """Return the error for a division by `/`, with the remedy."""
    written, indexed = (
        [as_text(e) if isinstance(e, Expression) else str(e) for e in (left, right)]
        for as_text in (_wrapped, lambda e: f"wb.index({e})")
    )
    floored = ""
    if not isinstance(left, float) and not isinstance(right, float):
        floored = f": an index is divided by //, as in {written[0]} // {written[1]}"
    return ProgramError(
        f"{' / '.join(written)} is no whole number{floored}; as a number of the program, "
        f"{' / '.join(indexed)}"
    )


def _wrapped(e: Expression, *, bare: tuple[type, ...] = ()) -> str:
    """Return the text as a factor; single atoms of the types `bare` need no parentheses there."""
    names: tuple[type, ...] = (Variable, Size, Extremum, Choice, *bare)
    single = len(e.terms) == 1 and not e.constant and e.terms[0][1] == 1
    simple = (not e.terms and e.constant >= 0) or (single and isinstance(e.terms[0][0], names))
    return str(e) if simple else f"({e})"


def _atom_text(a: Atom) -> str:
    if isinstance(a, Named):
        return a.name
    if isinstance(a, FloorDivision):
        return f"{_wrapped(a.dividend, bare=(Product, FloorDivision))} // {_wrapped(a.divisor)}"
    if isinstance(a, Extremum):
        return f"{a.kind}({a.left}, {a.right})"
    if isinstance(a, Product):
        return f"{_wrapped(a.left, bare=(Product,))} * {_wrapped(a.right)}"
    conditions = " and ".join(f"{c} == 0" for c in a.conditions)
    return f"({a.then} if {conditions} else {a.otherwise})"


def _names(
    e: Expression, kind: type[Named], within: Callable[[Expression], frozenset[str]]
) -> frozenset[str]:
    """Collect the names of the atoms of a kind, those of parts by `within`."""
    names = _NOTHING
    for a, _ in e.terms:
        if isinstance(a, kind):
            names |= {a.name}
        elif not isinstance(a, Named):
            names = names.union(*map(within, a.parts))
    return names


# -- functions of atoms ----------------------------------------------------------------------------


def _combined(constant: int, values: Iterable[tuple[Expression, int]]) -> Expression:
    """Add a constant and expressions with their factors."""
    terms: list[tuple[Atom, int]] = []
    for value, factor in values:
        constant += value.constant * factor
        terms += [(a, c * factor) for a, c in value.terms]
    return _linear(constant, terms)


def _sum(constant: int, values: Iterable[tuple[Any, int]]) -> Any:
    return sum((factor * value for value, factor in values), constant)


def _least(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return np.minimum(left, right)


def _greatest(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return np.maximum(left, right)


def _chosen(*parts: Any) -> Any:
    """Return the value of a choice from those of its parts."""
    *conditions, then, otherwise = parts
    holds = reduce(operator.and_, (c == 0 for c in conditions))
    if isinstance(holds, bool):
        return then if holds else otherwise
    return np.where(holds, then, otherwise)


_NUMBERS: Mapping[str, Callable[..., Any]] = {
    "floor_divide": operator.floordiv,
    "multiply": operator.mul,
    "minimum": _least,
    "maximum": _greatest,
    "where": _chosen,
}
_EXPRESSIONS: Mapping[str, Callable[..., Expression]] = {
    "floor_divide": operator.floordiv,
    "multiply": operator.mul,
    "minimum": minimum,
    "maximum": maximum,
    "where": lambda *parts: choice(parts[:-2], *parts[-2:]),
}
