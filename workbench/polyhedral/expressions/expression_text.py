"""The text of expressions, as one would write it: `t % 4` for `t - 4 * (t // 4)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from workbench.polyhedral.expression import Expression


def expression_text(e: Expression) -> str:
    """Print an expression: a remainder as such, a positive term first."""
    remainder = _remainder(e)
    if remainder is not None:
        rest, division = remainder
        text = f"{wrapped(division.dividend)} % {wrapped(division.divisor)}"
        return text if rest == 0 else f"{rest} + {text}"
    parts: list[str] = []
    for a, coefficient in e.terms:
        text = atom_text(a)
        if isinstance(a, FloorDivision) and coefficient != 1:
            text = f"({text})"
        if abs(coefficient) != 1:
            text = f"{abs(coefficient)} * {text}"
        parts.append(("- " if coefficient < 0 else "+ ") + text)
    if e.constant or not parts:
        parts.append(f"{'-' if e.constant < 0 else '+'} {abs(e.constant)}")
    positive = next((part for part in parts if part[0] == "+"), None)
    if positive is not None:  # `k - t`, not `-t + k`
        parts.remove(positive)
        parts.insert(0, positive)
    text = " ".join(parts)
    return text[2:] if text.startswith("+ ") else "-" + text[2:]


def atom_text(a: Atom) -> str:
    """Print an atom."""
    if isinstance(a, Named):
        return a.name
    if isinstance(a, FloorDivision):
        return f"{wrapped(a.dividend, bare=(Product, FloorDivision))} // {wrapped(a.divisor)}"
    if isinstance(a, Extremum):
        return f"{a.kind}({a.left}, {a.right})"
    if isinstance(a, Product):
        return f"{wrapped(a.left, bare=(Product,))} * {wrapped(a.right)}"
    conditions = " and ".join(f"{c} == 0" for c in a.conditions)
    return f"({a.then} if {conditions} else {a.otherwise})"


def wrapped(e: Expression, *, bare: tuple[type, ...] = ()) -> str:
    """Print an expression as a factor; single atoms of the types `bare` need no parentheses
    there.
    """
    names: tuple[type, ...] = (Variable, Size, Extremum, Choice, *bare)
    single = len(e.terms) == 1 and not e.constant and e.terms[0][1] == 1
    simple = (not e.terms and e.constant >= 0) or (single and isinstance(e.terms[0][0], names))
    return str(e) if simple else f"({e})"


def _remainder(e: Expression) -> tuple[Expression, FloorDivision] | None:
    """Split `rest + t % 4`, held as `rest + t - 4 * (t // 4)`, into the rest and `t // 4`."""
    for term in e.terms:
        for division, divisor in _times_divisor(term[0], -term[1]):
            if division.divisor == divisor:
                others = replace(e, terms=tuple(t for t in e.terms if t is not term))
                rest = others - division.dividend
                if len(rest.terms) + len(division.dividend.terms) + 1 == len(e.terms):
                    return rest, division
    return None


def _times_divisor(a: Atom, factor: int) -> Iterator[tuple[FloorDivision, Expression | int]]:
    """Yield a term as a division times its possible divisor."""
    if isinstance(a, FloorDivision):
        yield a, factor
    elif isinstance(a, Product) and factor == 1:
        for one, other in ((a.left, a.right), (a.right, a.left)):
            if len(one.terms) == 1 and not one.constant and one.terms[0][1] == 1:
                inner = one.terms[0][0]
                if isinstance(inner, FloorDivision):
                    yield inner, other
