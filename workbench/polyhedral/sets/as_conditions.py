"""Sets as conditions on expressions, with which an array operation masks points of a box."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import islpy as isl

from workbench.errors import ProgramError
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition
from workbench.polyhedral.expression import Expression, ExpressionLike, expression
from workbench.polyhedral.sets.as_text import dims_of, in_context, parse_set
from workbench.polyhedral.sets.isl_names import readable
from workbench.polyhedral.sets.isl_text import to_expression

Conditions = tuple[tuple[tuple[Expression, bool], ...], ...]
"""Alternatives, each a conjunction of pairs: (expression, True where it must be 0, False where at
least 0).
"""


@lru_cache(maxsize=1024)
def conditions(text: str, known: str) -> Conditions:
    """Return conditions that hold exactly at the points of `text` among the points of `known`."""
    dims = dims_of(text)
    alternatives: list[tuple[tuple[Expression, bool], ...]] = []
    points = (
        in_context(parse_set(text)).gist(in_context(parse_set(known))).compute_divs().coalesce()
    )

    def add(piece: isl.BasicSet) -> None:
        if piece.dim(isl.dim_type.div) and not _divisions_known(piece):
            raise ProgramError(f"{readable(text)} is not expressible as conditions")
        alternatives.append(
            tuple(
                (to_expression(isl.PwAff.from_aff(c.get_aff()), dims), bool(c.is_equality()))
                for c in piece.get_constraints()
                if not c.is_div_constraint()
            )
        )

    points.foreach_basic_set(add)
    return tuple(alternatives)


def _divisions_known(piece: isl.BasicSet) -> bool:
    count = piece.dim(isl.dim_type.div)
    return all(not piece.get_div(k).is_nan() for k in range(count))


def any_holds(alternatives: Conditions, values: Mapping[str, ExpressionLike]) -> Condition:
    """Return the condition that any of the alternatives holds, of dimensions with these values."""
    conjunctions: list[Condition] = []
    for alternative in alternatives:
        parts: list[Condition] = [
            AffineComparison(expression(0), "==" if equality else "<=", e.substitute(values))
            for e, equality in alternative
        ]
        conjunctions.append(parts[0] if len(parts) == 1 else Compound("and", tuple(parts)))
    return conjunctions[0] if len(conjunctions) == 1 else Compound("or", tuple(conjunctions))
