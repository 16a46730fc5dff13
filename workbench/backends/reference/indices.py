"""Index expressions at given sizes as Python functions, and writes solved for their instance.

Made once, since statements share most of their indices. An instance then costs a function call, not
a walk over expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from workbench.polyhedral.expression import Expression, ExpressionLike, variable

Point = tuple[int, ...]
Index = Callable[[Point], Point]
Sizes = tuple[tuple[str, int], ...]


def compiled(
    expressions: Sequence[Expression], dims: Sequence[str], sizes: Mapping[str, int]
) -> Index:
    """Return the expressions' values as a function of a point over `dims`."""
    return _compiled(tuple(expressions), tuple(dims), tuple(sizes.items()))


@lru_cache(maxsize=4096)
def _compiled(expressions: tuple[Expression, ...], dims: tuple[str, ...], sizes: Sizes) -> Index:
    names: dict[str, ExpressionLike] = dict(sizes)
    names.update((dim, variable(f"p[{k}]")) for k, dim in enumerate(dims))
    values = "".join(f"{e.substitute(names)}, " for e in expressions)
    return cast(Index, eval(f"lambda p: ({values})"))


def solved(
    write: Sequence[Expression], dims: Sequence[str], sizes: Mapping[str, int]
) -> Index | None:
    """Return the function from an element to the one instance that can write it, or None.

    It solves an index at a time for a dimension with a constant factor, and None means that this
    cannot work. The answer must be checked against the domain and the write.
    """
    return _solved(tuple(write), tuple(dims), tuple(sizes.items()))


@lru_cache(maxsize=4096)
def _solved(write: tuple[Expression, ...], dims: tuple[str, ...], sizes: Sizes) -> Index | None:
    names: dict[str, Expression] = {}
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
            subtracted = rest.substitute({**dict(sizes), **names})
            names[unknown[0]] = variable(f"d{len(names)}")
            lines.append(
                f"    {names[unknown[0]]} = (e[{position}] - ({subtracted})) // {factor}\n"
            )
    if any(d not in names for d in dims):
        return None
    values = "".join(f"{names[d]}, " for d in dims)
    scope: dict[str, object] = {}
    exec(f"def solve(e):\n{''.join(lines)}    return ({values})", scope)
    return cast(Index, scope["solve"])
