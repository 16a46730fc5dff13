"""Integer expressions over dimensions and size parameters, for indices, bounds and sizes.

An expression is a canonical linear combination of atoms, so structural equality is equality of
linear forms: `t + 1 - 1 == t`. Atoms beyond dimensions and parameters are floor division, minimum,
maximum, a choice by comparison (the lexicographic successor needs it) and a product (sizes only:
isl has no products). This file knows no islpy; `isl_text.py` turns expressions into isl text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Number
from typing import NoReturn, SupportsIndex, Union

from workbench.errors import ProgramError
from workbench.polyhedral.expressions.atoms import (
    Atom,
    Choice,
    Extremum,
    FloorDivision,
    Named,
    Product,
    Size,
    Variable,
)
from workbench.polyhedral.expressions.evaluation import evaluated
from workbench.polyhedral.expressions.expression_text import atom_text, expression_text
from workbench.polyhedral.expressions.refused_arithmetic import (
    no_base,
    no_bits,
    no_operand,
    no_order,
    no_places,
    no_quotient,
    no_value,
)
from workbench.polyhedral.hashed import Hashed

ExpressionLike = Union["Expression", SupportsIndex]

_NOTHING = frozenset[str]()

unequal: ContextVar[Callable[[Expression, object], None] | None]
unequal = ContextVar("unequal", default=None)
"""Hears of two expressions, or an expression and a number, that are found not to be the same."""


@dataclass(frozen=True, eq=False)
class Expression(Hashed):
    """A sum `constant + sum(coefficient * atom)`, terms sorted, no zero coefficient.

    `==` compares structurally and gives a plain bool.
    """

    constant: int
    terms: tuple[tuple[Atom, int], ...] = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Expression):
            same = self.constant == other.constant and self.terms == other.terms
        else:
            number = other if isinstance(other, int) else whole(other)
            if number is None:
                return NotImplemented
            same = not self.terms and self.constant == number
        if not same and (hear := unequal.get()) is not None:
            hear(self, other)
        return same

    def _compared(self, other: object) -> NoReturn:
        raise no_order(self, other)

    def __index__(self) -> int:
        raise no_value(self)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __add__(self, other: ExpressionLike) -> Expression:
        right = _operand(self, "+", other)
        if right is None:
            return NotImplemented
        if not right.terms:
            return Expression(self.constant + right.constant, self.terms)
        return _linear(self.constant + right.constant, [*self.terms, *right.terms])

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return Expression(-self.constant, tuple((a, -c) for a, c in self.terms))

    def __sub__(self, other: ExpressionLike) -> Expression:
        right = _operand(self, "-", other)
        if right is None:
            return NotImplemented
        if not right.terms:
            return Expression(self.constant - right.constant, self.terms)
        negated = [(a, -c) for a, c in right.terms]
        return _linear(self.constant - right.constant, [*self.terms, *negated])

    def __rsub__(self, other: ExpressionLike) -> Expression:
        left = _operand(self, "-", other)
        return NotImplemented if left is None else left + (-self)

    def __mul__(self, other: ExpressionLike) -> Expression:
        right = _operand(self, "*", other)
        if right is None:
            return NotImplemented
        if not right.terms:
            return self._scaled(right.constant)
        if not self.terms:
            return right._scaled(self.constant)
        return _product(self, right)

    def _scaled(self, factor: int) -> Expression:
        if factor == 1:
            return self
        terms = tuple((a, c * factor) for a, c in self.terms) if factor else ()
        return Expression(self.constant * factor, terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: ExpressionLike) -> Expression:
        right = _operand(self, "//", other)
        if right is None:
            return NotImplemented
        if not right.terms:
            if right.constant <= 0:
                raise ProgramError(f"division of {self} by {right}: the divisor must be positive")
            if right.constant == 1:
                return self
            whole = Expression(0, tuple((a, c) for a, c in self.terms if not c % right.constant))
            if whole.terms or not self.terms:  # `(4 * n + t) // 4` is `n + t // 4`
                rest = self - whole
                divided = tuple((a, c // right.constant) for a, c in whole.terms)
                below = Expression(rest.constant // right.constant)
                return Expression(0, divided) + (rest // right if rest.terms else below)
        return atom(FloorDivision(self, right))

    def __truediv__(self, other: object) -> Expression:
        if not isinstance(other, (Expression, int, float)):
            return NotImplemented
        raise no_quotient(self, other)

    def __rtruediv__(self, other: object) -> Expression:
        if not isinstance(other, (int, float)):
            return NotImplemented
        raise no_quotient(other, self)

    def __rfloordiv__(self, other: ExpressionLike) -> Expression:
        left = _operand(self, "//", other)
        return NotImplemented if left is None else left // self

    def __mod__(self, other: ExpressionLike) -> Expression:
        right = _operand(self, "%", other)
        return NotImplemented if right is None else self - right * (self // right)

    def __rmod__(self, other: ExpressionLike) -> Expression:
        left = _operand(self, "%", other)
        return NotImplemented if left is None else left % self

    def __divmod__(self, other: ExpressionLike) -> tuple[Expression, Expression]:
        return self // other, self % other

    def __pow__(self, other: int) -> Expression:
        exponent = whole(other)
        if exponent is None or exponent < 1:
            if not isinstance(other, (Number, Expression)):
                return NotImplemented
            raise no_operand(self, "**", other)
        return self if exponent == 1 else self * self ** (exponent - 1)

    def __rpow__(self, other: object) -> Expression:
        if not isinstance(other, Number):
            return NotImplemented
        raise no_base(other, self)

    def __lshift__(self, other: int) -> Expression:
        return self * self._power_of_two("<<", other)

    def __rshift__(self, other: int) -> Expression:
        return self // self._power_of_two(">>", other)

    def _power_of_two(self, sign: str, places: object) -> int:
        count = whole(places)
        if count is None or count < 0:
            raise no_places(self, sign, places)
        return 1 << count

    def __and__(self, other: object) -> Expression:
        if not isinstance(other, (Number, Expression)):
            return NotImplemented
        raise no_bits(self)

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
        return expression_text(self)

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
        if not self.terms:
            return self.constant
        value: int = evaluated(
            self, lambda a: int(values[a.name]), lambda part: part.evaluate(values)
        )
        return value

    def substitute(self, values: Mapping[str, ExpressionLike]) -> Expression:
        """Replace dimensions *and* sizes by name."""
        if values.keys().isdisjoint(self.variables) and values.keys().isdisjoint(self.sizes):
            return self
        constant = self.constant
        terms: list[tuple[Atom, int]] = []
        for a, factor in self.terms:
            if not isinstance(a, Named):
                parts = [part.substitute(values) for part in a.parts]
                value = _EXPRESSIONS[a.function](*parts)
            elif a.name in values:
                value = expression(values[a.name])
            else:
                terms.append((a, factor))
                continue
            constant += value.constant * factor
            terms += value.terms if factor == 1 else [(b, c * factor) for b, c in value.terms]
        return _linear(constant, terms)


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
    """Return a constant and terms in any order, some of the same atom, as an expression."""
    if len(terms) > 1:
        collected: dict[Atom, int] = {}
        for a, c in terms:
            collected[a] = collected.get(a, 0) + c
        terms = [term for term in collected.items() if term[1]]
        if len(terms) > 1:
            terms.sort(key=lambda term: _order(term[0]))
    return Expression(constant, tuple(terms))


_KINDS: tuple[type, ...] = (Product, FloorDivision, Variable, Size, Extremum, Choice)
"""The types of atoms, in their order within an expression."""


@lru_cache(maxsize=8192)
def _order(a: Atom) -> tuple[int, str]:
    """Return the place of an atom in a sum: sums of the same atoms are made again and again."""
    return _KINDS.index(type(a)), atom_text(a)


@lru_cache(maxsize=8192)
def _product(left: Expression, right: Expression) -> Expression:
    """Return the product of two expressions that are no constants, one object for equal ones."""
    left, right = sorted((left, right), key=str)
    return atom(Product(left, right))


def _operand(e: Expression, sign: str, other: object) -> Expression | None:
    """Return what `e` is computed with, None if it is no number. Raises ProgramError for numbers
    that are not whole.
    """
    if isinstance(other, Expression):
        return other
    number = int(other) if isinstance(other, int) else whole(other)
    if number is None and isinstance(other, Number):
        raise no_operand(e, sign, other)
    return None if number is None else Expression(number)


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


# -- functions -------------------------------------------------------------------------------------


_EXPRESSIONS: Mapping[str, Callable[..., Expression]] = {
    "floor_divide": operator.floordiv,
    "multiply": operator.mul,
    "minimum": minimum,
    "maximum": maximum,
    "where": lambda *parts: choice(parts[:-2], *parts[-2:]),
}
