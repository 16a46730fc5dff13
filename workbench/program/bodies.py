"""Bodies of statements: what one instance computes, as a tree of literals, values of dimensions,
reads and calls of operations (`operations`). All are immutable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from workbench.errors import SourceLine
from workbench.polyhedral.accesses import Access, Between, Tied
from workbench.polyhedral.expression import Expression, expression

DType = str
"""A dtype: "float" (float32 or float64, chosen when run), "int32", "int64" or "bool"."""

Shape = tuple[int | Expression, ...]
"""An inner shape, fixed for a run. An entry may be a size (a permutation of `B * T` samples)."""


@dataclass(frozen=True, eq=False)
class Literal:
    """A constant: a Python number, or a nested tuple of numbers for a constant tensor. Equal ones
    have zeros of equal signs too, as results depend on them.
    """

    value: Any
    dtype: DType
    shape: Shape = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        equal = (self.value, self.dtype, self.shape) == (other.value, other.dtype, other.shape)
        return equal and self._negative_zeros == other._negative_zeros

    def __hash__(self) -> int:
        return hash((self.value, self.dtype, self.shape))

    @cached_property
    def _negative_zeros(self) -> tuple[int, ...]:
        """Their positions in the flattened value."""
        if self.dtype != "float":
            return ()
        values = np.asarray(self.value, dtype=float).ravel()
        return tuple(np.flatnonzero((values == 0) & np.signbit(values)).tolist())


@dataclass(frozen=True)
class IndexValue:
    """The value of an integer expression over the point's dimensions and the sizes, as a scalar."""

    expression: Expression
    dtype: DType = "int32"
    shape: Shape = ()


@dataclass(frozen=True)
class Read:
    """The element of `array` at `index`.

    The index has an expression per array dimension, or an integer scalar body (gather).
    """

    array: str
    index: tuple[Expression | Body, ...]
    dtype: DType
    shape: Shape = ()
    line: SourceLine | None = field(default=None, compare=False, repr=False)
    """The user's line that reads it, where that is known: not always the statement's."""

    @property
    def access(self) -> Access:
        """The access relation; data-dependent indices by their known range."""
        index = (
            e if isinstance(e, Expression) else known_range(e) or _tied(e, self.index)
            for e in self.index
        )
        return Access(self.array, tuple(index))


@dataclass(frozen=True)
class Call:
    """An operation of the table in `operations/table.py` on inner tensors."""

    operation: str
    arguments: tuple[Body, ...]
    dtype: DType
    shape: Shape = ()
    attributes: tuple[tuple[str, Any], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The attributes as a dict."""
        return dict(self.attributes)


Body: TypeAlias = Literal | IndexValue | Read | Call


def known_range(body: Body) -> Between | None:
    """Return the range that `within` promises of an integer body, moved by what it adds."""
    inner, by = _moved(body)
    if not isinstance(inner, Call) or inner.operation != "within":
        return None
    lower, upper = inner.arguments[1:]
    if not isinstance(lower, IndexValue) or not isinstance(upper, IndexValue):
        return None
    return Between(lower.expression + by, upper.expression + by)


def _moved(body: Expression | Body) -> tuple[Expression | Body, Expression]:
    """Return what an index adds an expression to, and the expression."""
    if isinstance(body, Call) and body.operation in ("add", "subtract"):
        left, right = body.arguments
        if body.operation == "add" and isinstance(left, IndexValue):
            left, right = right, left
        if isinstance(right, IndexValue):
            inner, by = _moved(left)
            more = right.expression if body.operation == "add" else right.expression * -1
            return inner, by + more
    return body, expression(0)


def _tied(body: Body, index: tuple[Expression | Body, ...]) -> Tied | None:
    """Return what `within` of a tuple promises of an index: bounds that hold where other entries of
    the read have given values.
    """
    inner, by = _moved(body)
    if not isinstance(inner, Call) or inner.operation != "within":
        return None
    ends = [_bound_where(bound, index, by) for bound in inner.arguments[1:]]
    places = {end[0] for end in ends if end is not None}
    if len(places) != 1:
        return None
    lower, upper = (None if end is None else end[1:] for end in ends)
    return Tied(places.pop(), lower, upper)


def _bound_where(
    bound: Body, index: tuple[Expression | Body, ...], by: Expression
) -> tuple[tuple[int, ...], tuple[Expression, ...], Expression] | None:
    """Return the positions of entries of a read, their values where a bound holds, and the bound,
    moved like the index; None where it is none of that kind.
    """
    if not isinstance(bound, Call) or bound.operation != "where":
        return None
    condition, there, _ = bound.arguments
    known = dict(_moved(entry) for entry in index)
    places = [_moved(entry)[0] for entry in index]
    at, values = [], []
    for test in _conjuncts(condition):
        if not isinstance(test, Call) or test.operation != "equal":
            return None
        entry, value = test.arguments
        if entry not in known or not isinstance(value, IndexValue):
            return None
        at.append(places.index(entry))
        values.append(value.expression + known[entry])
    if not isinstance(there, IndexValue):
        return None
    return tuple(at), tuple(values), there.expression + by


def _conjuncts(condition: Body) -> list[Body]:
    if isinstance(condition, Call) and condition.operation == "logical_and":
        return [part for side in condition.arguments for part in _conjuncts(side)]
    return [condition]


def walk(body: Body) -> Iterator[Body]:
    """Yield the body and all below it: arguments before the call, gather indices included."""
    if isinstance(body, Call):
        for argument in body.arguments:
            yield from walk(argument)
    elif isinstance(body, Read):
        for index in body.index:
            if not isinstance(index, Expression):
                yield from walk(index)
    yield body


def reads(body: Body) -> Iterator[Read]:
    """Yield every read of the body, those inside gather indices included."""
    return (b for b in walk(body) if isinstance(b, Read))
