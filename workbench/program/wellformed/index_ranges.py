"""How large the values of an index expression become: whether 32 bits hold them.

An interval is an (lower, upper) pair, both inclusive. Parts count as well as the whole, since a
quotient is computed from its dividend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from workbench.errors import SizeError
from workbench.polyhedral.expression import (
    Atom,
    Expression,
    Extremum,
    FloorDivision,
    Product,
    Size,
    Variable,
)
from workbench.polyhedral.sets.relations import dims_of, hull, is_empty
from workbench.program.sizes import numbers
from workbench.program.values import IndexValue, Program, Statement, walk

Interval = tuple[int, int]
Intervals = Mapping[str, Interval]
INT32 = 1 << 31


def interval(e: Expression, of: Intervals) -> Interval:
    """The values of an expression, given those of all names in it."""
    lower = upper = e.constant
    for a, factor in e.terms:
        ends = [end * factor for end in _atom_interval(a, of)]
        lower, upper = lower + min(ends), upper + max(ends)
    return lower, upper


def fits_int32(e: Expression, of: Intervals) -> bool:
    """Tell whether 32 bits hold the values of an expression and of all its parts."""
    lower, upper = interval(e, of)
    inside = (part for a in e.atoms() for part in _computed(a))
    return (
        lower >= -INT32 and upper < INT32 and all(_in_int32(interval(part, of)) for part in inside)
    )


def check_indices(program: Program, sizes: Mapping[str, int]) -> None:
    """Raise SizeError where an index of 32 bits could pass them at these sizes."""
    fixed = {name: (n, n) for name, n in sizes.items()}
    for statement, value in _narrow(program):
        of = _intervals(program, statement, value.expression, fixed)
        if not fits_int32(value.expression, of):
            lower, upper = interval(value.expression, of)
            used = {n: sizes[n] for n in sizes if n in _sizes_of(program, value.expression)}
            reached = upper if upper >= INT32 else lower
            raise SizeError(
                f"wb.index({value.expression}) in {statement.array} reaches {reached} "
                f"({numbers(used)}), more than int32 holds, which it was traced with; write "
                f'wb.index({value.expression}, dtype="int64") or trace the program at these sizes',
                statement.line,
            )


@lru_cache(maxsize=64)
def _narrow(program: Program) -> tuple[tuple[Statement, IndexValue], ...]:
    """List the indices of 32 bits, each once."""
    return tuple(dict.fromkeys(_indices(program)))


def _indices(program: Program) -> Iterator[tuple[Statement, IndexValue]]:
    for statement in program.statements:
        for body in walk(statement.body):
            if isinstance(body, IndexValue) and body.dtype == "int32":
                yield statement, body


def _intervals(
    program: Program, statement: Statement, e: Expression, fixed: Intervals
) -> dict[str, Interval]:
    """The values of sizes and of the dims that an expression needs."""
    found = dict(fixed)
    parts = ((statement.domain, statement.dims), (statement.reduction, statement.reduction_dims))
    for text, dims in parts:
        for d in dims:
            found[d] = (
                (0, interval(program.dim[d].size, fixed)[1] - 1) if d in program.dim else (0, 0)
            )
        if dims and not e.variables <= set(program.dim) and not is_empty(text):
            for d, (lower, upper) in zip(dims_of(text), hull(text), strict=True):
                found[d] = (interval(lower, fixed)[0], interval(upper, fixed)[1] - 1)
    return found


def _sizes_of(program: Program, e: Expression) -> set[str]:
    dims = (program.dim[d].size for d in e.variables if d in program.dim)
    return set(e.sizes).union(*(size.sizes for size in dims))


def _in_int32(values: Interval) -> bool:
    return values[0] >= -INT32 and values[1] < INT32


def _atom_interval(a: Atom, of: Intervals) -> Interval:
    if isinstance(a, (Variable, Size)):
        return of[a.name]
    if isinstance(a, (FloorDivision, Product)):
        left, right = (interval(part, of) for part in _computed(a))
        if isinstance(a, Product):
            ends = [x * y for x in left for y in right]
        else:
            ends = [x // max(y, 1) for x in left for y in right]
        return min(ends), max(ends)
    if isinstance(a, Extremum):
        left, right = interval(a.left, of), interval(a.right, of)
        pick = min if a.kind == "min" else max
        return pick(left[0], right[0]), pick(left[1], right[1])
    then, otherwise = interval(a.then, of), interval(a.otherwise, of)
    return min(then[0], otherwise[0]), max(then[1], otherwise[1])


def _computed(a: Atom) -> tuple[Expression, ...]:
    """List the expressions that an atom is computed from."""
    if isinstance(a, FloorDivision):
        return a.dividend, a.divisor
    if isinstance(a, (Extremum, Product)):
        return a.left, a.right
    if isinstance(a, (Variable, Size)):
        return ()
    return *a.conditions, a.then, a.otherwise
