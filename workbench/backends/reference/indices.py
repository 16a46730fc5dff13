"""Index expressions at given sizes as Python functions, and writes solved for their instance.

Made once per statement so that an instance costs a function call instead of a walk over
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from workbench.polyhedral.expression import (
    Atom,
    Expression,
    Extremum,
    FloorDivision,
    Product,
    Size,
    Variable,
    variable,
)

Point = tuple[int, ...]
Index = Callable[[Point], Point]


def compiled(
    expressions: Sequence[Expression], dims: Sequence[str], sizes: Mapping[str, int]
) -> Index:
    """The expressions' values as a function of a point over `dims`."""
    names = {dim: f"p[{k}]" for k, dim in enumerate(dims)}
    values = "".join(f"{_source(e, names, sizes)}, " for e in expressions)
    return cast(Index, eval(f"lambda p: ({values})"))


def solved(
    write: Sequence[Expression], dims: Sequence[str], sizes: Mapping[str, int]
) -> Index | None:
    """From an element to the one instance that can write it, or None where this is not read off.

    Solves an index at a time for a dimension with a constant factor; the answer must be checked
    against the domain and the write.
    """
    names: dict[str, str] = {}
    lines = []
    for _ in dims:
        for position, e in enumerate(write):
            unknown = [d for d in sorted(e.variables) if d not in names]
            if len(unknown) != 1 or not e.coefficient(unknown[0]):
                continue
            factor = e.coefficient(unknown[0])
            rest = e - variable(unknown[0]) * factor
            if unknown[0] in rest.variables:
                continue
            found = f"(e[{position}] - {_source(rest, names, sizes)}) // {factor}"
            names[unknown[0]] = f"d{len(names)}"
            lines.append(f"    {names[unknown[0]]} = {found}\n")
    if any(d not in names for d in dims):
        return None
    values = "".join(f"{names[d]}, " for d in dims)
    scope: dict[str, object] = {}
    exec(f"def solve(e):\n{''.join(lines)}    return ({values})", scope)
    return cast(Index, scope["solve"])


def _source(e: Expression, names: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    parts = [str(e.constant)] if e.constant or not e.terms else []
    for a, coefficient in e.terms:
        text = _atom_source(a, names, sizes)
        parts.append(text if coefficient == 1 else f"{coefficient} * {text}")
    return f"({' + '.join(parts)})"


def _atom_source(a: Atom, names: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    if isinstance(a, Variable):
        return names[a.name]
    if isinstance(a, Size):
        return str(sizes[a.name])
    if isinstance(a, FloorDivision):
        return f"({_source(a.dividend, names, sizes)} // {_source(a.divisor, names, sizes)})"
    if isinstance(a, Extremum):
        return f"{a.kind}({_source(a.left, names, sizes)}, {_source(a.right, names, sizes)})"
    if isinstance(a, Product):
        return f"({_source(a.left, names, sizes)} * {_source(a.right, names, sizes)})"
    holds = " and ".join(f"{_source(c, names, sizes)} == 0" for c in a.conditions)
    then, otherwise = _source(a.then, names, sizes), _source(a.otherwise, names, sizes)
    return f"({then} if {holds} else {otherwise})"
