"""The shorter way to write an expression with a minimum or maximum in it."""

from __future__ import annotations

from workbench.polyhedral.expression import Expression, atom, maximum, minimum
from workbench.polyhedral.expressions.atoms import Extremum, Named


def shortest(e: Expression) -> Expression:
    """Move the terms beside a minimum or maximum into it where that is shorter.

    `min(T, 4 * n + 4) - 4 * n` becomes `min(T - 4 * n, 4)`.
    """
    for a, factor in e.terms:
        if isinstance(a, Extremum) and factor in (1, -1):
            rest = e - atom(a) * factor
            least = (a.kind == "min") == (factor == 1)
            extremum = minimum if least else maximum
            drawn = extremum(a.left * factor + rest, a.right * factor + rest)
            if _parts_in(drawn) < _parts_in(e):
                return drawn
    return e


def _parts_in(e: Expression) -> int:
    """Count the numbers and names that an expression is written with, about."""
    atoms = (a for a, _ in e.terms if not isinstance(a, Named))
    inner = sum(_parts_in(part) for a in atoms for part in a.parts)
    return inner + len(e.terms) + bool(e.constant)
