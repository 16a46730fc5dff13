"""Values of expressions: of any kind, by what its names and functions are there."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.polyhedral.expressions.atoms import Atom, Named

if TYPE_CHECKING:
    from workbench.polyhedral.expression import Expression

V = TypeVar("V")


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
