"""Ranges of index expressions, and whether 32 bits hold their values.

An interval is a pair (lower, upper), both inclusive. Parts count as well as the whole, since a
quotient is computed from its dividend.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping

from workbench.errors import SizeError
from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.expressions.atoms import Named
from workbench.polyhedral.expressions.evaluation import fold
from workbench.polyhedral.sets.relations import dims_of, hull, is_empty
from workbench.program.bodies import IndexValue, walk
from workbench.program.sizes import numbers
from workbench.program.values import Equations, Statement

Interval = tuple[int, int]
Intervals = Mapping[str, Interval]
IndexRange = tuple[Expression, Expression]
"""A lower bound and an exclusive upper bound, both as expressions."""
INT32 = 1 << 31


def interval(e: Expression, of: Intervals) -> Interval:
    """Return the values of an expression, given those of all names in it."""
    return fold(e, lambda a: of[a.name], _FUNCTIONS, _sum, lambda part: interval(part, of))


def intervals(sizes: Mapping[str, int], ranges: Iterable[tuple[str, IndexRange]]) -> Intervals:
    """Return the values of sizes and dims: a dim's range is over sizes and the dims before it."""
    of = {name: (n, n) for name, n in sizes.items()}
    for dim, (lower, upper) in ranges:
        of[dim] = interval(lower, of)[0], interval(upper, of)[1] - 1
    return of


def fits_int32(e: Expression, of: Intervals) -> bool:
    """Tell whether 32 bits hold the values of an expression and of all its parts."""
    lower, upper = interval(e, of)
    inside = (part for a in e.atoms() if not isinstance(a, Named) for part in a.parts)
    return (
        lower >= -INT32 and upper < INT32 and all(_in_int32(interval(part, of)) for part in inside)
    )


def check_indices(equations: Equations, sizes: Mapping[str, int]) -> None:
    """Raise SizeError where an index of 32 bits could pass them at these sizes."""
    for statement, value in _narrow(equations):
        of = intervals(sizes, _ranges(equations, statement, value.expression))
        if not fits_int32(value.expression, of):
            lower, upper = interval(value.expression, of)
            used = {n: sizes[n] for n in sizes if n in _sizes_of(equations, value.expression)}
            reached = upper if upper >= INT32 else lower
            raise SizeError(
                f"wb.index({value.expression}) in {statement.array} reaches {reached} "
                f"({numbers(used)}), more than int32 holds, which it was traced with; write "
                f'wb.index({value.expression}, dtype="int64") or trace the program at these sizes',
                statement.line,
            )


@remembered(64)
def _narrow(equations: Equations) -> tuple[tuple[Statement, IndexValue], ...]:
    """List the indices of 32 bits, each once."""
    return tuple(dict.fromkeys(_indices(equations)))


def _indices(equations: Equations) -> Iterator[tuple[Statement, IndexValue]]:
    for statement in equations.statements:
        for body in walk(statement.body):
            if isinstance(body, IndexValue) and body.dtype == "int32":
                yield statement, body


def _ranges(
    equations: Equations, statement: Statement, e: Expression
) -> Iterator[tuple[str, IndexRange]]:
    """Yield the ranges over sizes of the dims that `e` needs, at a statement's instances."""
    parts = ((statement.domain, statement.dims), (statement.reduction, statement.reduction_dims))
    for text, dims in parts:
        if dims and not e.variables <= set(equations.dim) and not is_empty(text):
            yield from zip(dims_of(text), hull(text), strict=True)
        else:
            for d in dims:
                yield (
                    d,
                    (expression(0), equations.dim[d].size if d in equations.dim else expression(1)),
                )


def _sizes_of(equations: Equations, e: Expression) -> set[str]:
    dims = (equations.dim[d].size for d in e.variables if d in equations.dim)
    return set(e.sizes).union(*(size.sizes for size in dims))


def _in_int32(values: Interval) -> bool:
    return values[0] >= -INT32 and values[1] < INT32


def _sum(constant: int, terms: Iterable[tuple[Interval, int]]) -> Interval:
    lower = upper = constant
    for values, factor in terms:
        ends = [end * factor for end in values]
        lower, upper = lower + min(ends), upper + max(ends)
    return lower, upper


def _at_ends(function: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    """Apply a function of two numbers to intervals; its extremes lie where both are at an end."""

    def of_intervals(left: Interval, right: Interval) -> Interval:
        ends = [function(x, y) for x in left for y in right]
        return min(ends), max(ends)

    return of_intervals


def _either(*parts: Interval) -> Interval:
    *_, then, otherwise = parts
    return min(then[0], otherwise[0]), max(then[1], otherwise[1])


_FUNCTIONS: Mapping[str, Callable[..., Interval]] = {
    "floor_divide": _at_ends(lambda x, y: x // max(y, 1)),
    "multiply": _at_ends(operator.mul),
    "minimum": _at_ends(min),
    "maximum": _at_ends(max),
    "where": _either,
}
