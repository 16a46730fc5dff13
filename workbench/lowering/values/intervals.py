"""Bounds over sizes, and signs, of expressions whose variables run over loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from workbench.polyhedral.expression import Expression, atom, expression, maximum, minimum
from workbench.polyhedral.expressions.atoms import (
    Choice,
    Extremum,
    FloorDivision,
    Product,
    Size,
    Variable,
)
from workbench.polyhedral.shortest import shortest

Ranges = Mapping[str, tuple[Expression, Expression]]
"""The least and greatest value of each variable; later ones may depend on earlier ones."""


def greatest(e: Expression, ranges: Ranges) -> Expression:
    """Return an upper bound of `e` in which no variable of `ranges` occurs."""
    return _extreme(e, ranges, 1)


def least(e: Expression, ranges: Ranges) -> Expression:
    """Return a lower bound of `e` in which no variable of `ranges` occurs."""
    return _extreme(e, ranges, -1)


def at_least(e: Expression, bound: int, ranges: Ranges) -> bool:
    """Tell whether `e >= bound` holds for all sizes (at least 1) and all values in `ranges`."""
    floor = _floor(least(e, ranges))
    return floor is not None and floor >= bound


def _extreme(e: Expression, ranges: Ranges, way: int) -> Expression:
    for a, c in e.terms:
        if isinstance(a, (Extremum, Choice)) and atom(a).variables & set(ranges):
            rest = e - atom(a) * c
            parts = (a.left, a.right) if isinstance(a, Extremum) else (a.then, a.otherwise)
            left, right = (_extreme(part * c + rest, ranges, way) for part in parts)
            if isinstance(a, Extremum):
                smaller = (a.kind == "min") == (c > 0)
            else:
                smaller = way < 0
            return _smaller(left, right) if smaller else _larger(left, right)
        toward = way if c > 0 else -way
        if isinstance(a, FloorDivision) and a.dividend.variables & set(ranges):
            whole = _extreme(a.dividend, ranges, toward) // a.divisor
            return _extreme(e - atom(a) * c + whole * c, ranges, way)
        if isinstance(a, Product) and atom(a).variables & set(ranges):
            whole = _extreme_product(a, ranges, toward)
            return _extreme(e - atom(a) * c + whole * c, ranges, way)
    for name in reversed(list(ranges)):
        c = e.coefficient(name)
        if c:
            low, high = ranges[name]
            e = e.substitute({name: high if c * way > 0 else low})
            return _extreme(e, ranges, way)
    return e


def _extreme_product(a: Product, ranges: Ranges, way: int) -> Expression:
    """Return a bound of a product, at ends of its factors: the same end of one whatever the other
    is, where that is not negative.
    """
    lefts, rights = ((least(e, ranges), greatest(e, ranges)) for e in a.parts)
    end = slice(1, 2) if way > 0 else slice(0, 1)
    of_left = lefts[end] if at_least(rights[0], 0, {}) else lefts
    of_right = rights[end] if at_least(lefts[0], 0, {}) else rights
    ends = (left * right for left in of_left for right in of_right)
    return reduce(_larger if way > 0 else _smaller, ends)


def _smaller(left: Expression, right: Expression) -> Expression:
    if at_least(right - left, 0, {}):
        return left
    return right if at_least(left - right, 0, {}) else minimum(left, right)


def _larger(left: Expression, right: Expression) -> Expression:
    if at_least(right - left, 0, {}):
        return right
    return left if at_least(left - right, 0, {}) else maximum(left, right)


def _floor(e: Expression) -> int | None:
    """Return the least value of `e` over sizes that are at least 1, or None if not found."""
    for a, c in e.terms:
        if isinstance(a, Extremum):
            rest = e - atom(a) * c
            left, right = _floor(a.left * c + rest), _floor(a.right * c + rest)
            if (a.kind == "min") == (c > 0):
                return None if left is None or right is None else min(left, right)
            known = [v for v in (left, right) if v is not None]
            return max(known) if known else None
        if isinstance(a, Choice):
            rest = e - atom(a) * c
            left, right = _floor(a.then * c + rest), _floor(a.otherwise * c + rest)
            return None if left is None or right is None else min(left, right)
    floors = [_sum_floor(e)]
    for a, c in e.terms:
        if isinstance(a, FloorDivision) and not a.divisor.terms and not c % a.divisor.constant:
            # n - 63 <= 64 * (n // 64) <= n
            reached = a.dividend - (a.divisor - 1 if c > 0 else 0)
            floors.append(_floor(e - atom(a) * c + reached * (c // a.divisor.constant)))
    return max((value for value in floors if value is not None), default=None)


def _sum_floor(e: Expression) -> int | None:
    """Return the least values of the terms together."""
    total = e.constant
    for a, c in e.terms:
        value = _atom_floor(a)
        if c < 0 or value is None:
            return None
        total += c * value
    return total


def _atom_floor(a: object) -> int | None:
    if isinstance(a, Size):
        return 1
    if isinstance(a, FloorDivision):
        value = _floor(a.dividend)
        if value is None:
            return None
        return value // a.divisor.constant if not a.divisor.terms else (0 if value >= 0 else None)
    if isinstance(a, Product):
        left, right = _floor(a.left), _floor(a.right)
        return (
            left * right
            if left is not None and right is not None and min(left, right) >= 0
            else None
        )
    assert isinstance(a, Variable)
    return None


def length(lower: Expression, upper: Expression, ranges: Ranges) -> Expression:
    """Return `upper - lower`, at least 0."""
    n = shortest(upper - lower)
    return n if at_least(n, 0, ranges) else maximum(expression(0), n)


def greatest_length(n: Expression, ranges: Ranges) -> Expression:
    """Return an upper bound of a length, 0 at sizes at which no iteration has any."""
    return length(expression(0), greatest(n, ranges), {})


def total(sizes: Sequence[Expression]) -> Expression:
    """Return the product of lengths."""
    product = expression(1)
    for n in sizes:
        product = product * n
    return product
