"""Expressions as isl text, and isl's piecewise affine functions as expressions.

isl's parser has `min`, `max` and `floor` but no choice. So an expression is a list of cases: a
condition and the affine text that holds under it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import islpy as isl

from workbench.errors import ProgramError
from workbench.polyhedral.expression import (
    Expression,
    choice,
    expression,
    maximum,
    minimum,
    size,
    variable,
)
from workbench.polyhedral.expressions.atoms import Named, Variable
from workbench.polyhedral.expressions.evaluation import fold
from workbench.polyhedral.sets.isl_names import dim_name, size_name, user_name

Case = tuple[str, str]
"""A condition ("" where it always holds) and the affine text under it."""


def affine_text(e: Expression) -> list[Case]:
    """Return the expression as isl text, one case for each way its choices can fall.

    Raises ProgramError where the expression is not affine.
    """
    if not e.is_affine:
        raise ProgramError(f"non-affine index {e}: only sums, constants as factors and as divisors")
    return _cases(e)


def constraint(left: str, relation: str, right: Expression) -> str:
    """Return `left relation right` as isl text, choices spelled out."""
    return _related(left, relation, affine_text(right))


def _related(left: str, relation: str, cases: Sequence[Case]) -> str:
    parts = [
        f"({condition} and {left} {relation} {text})" if condition else f"{left} {relation} {text}"
        for condition, text in cases
    ]
    return parts[0] if len(parts) == 1 else "(" + " or ".join(parts) + ")"


def parameters_text(names: Iterable[str]) -> str:
    """Return `[p_B, p_T]` for the sizes B and T, sorted."""
    return "[" + ", ".join(size_name(n) for n in sorted(set(names))) + "]"


def dims_text(names: Iterable[str]) -> str:
    """Return `d_b, d_t` for the dimensions b and t."""
    return ", ".join(dim_name(n) for n in names)


def _cases(e: Expression) -> list[Case]:
    return fold(e, lambda a: [("", _name(a))], _FUNCTIONS, _sum_cases, _cases)


def _name(a: Named) -> str:
    return dim_name(a.name) if isinstance(a, Variable) else size_name(a.name)


def _sum_cases(constant: int, terms: Iterable[tuple[list[Case], int]]) -> list[Case]:
    total: list[Case] = [("", str(constant))]
    for cases, coefficient in terms:
        sign = "-" if coefficient < 0 else "+"
        total = _paired(f"{{}} {sign} {abs(coefficient)}*{{}}", total, cases)
    return total


def _paired(form: str, left: list[Case], right: list[Case]) -> list[Case]:
    """Write two expressions in a form, each case of one with each of the other."""
    return [(_both(c, d), form.format(s, t)) for c, s in left for d, t in right]


def _chosen_cases(*parts: list[Case]) -> list[Case]:
    *conditions, then, otherwise = parts
    holds = "(" + " and ".join(_related("0", "=", cases) for cases in conditions) + ")"
    return [
        *((_both(holds, c), f"({t})") for c, t in then),
        *((_both(f"not {holds}", c), f"({t})") for c, t in otherwise),
    ]


_FUNCTIONS: Mapping[str, Callable[..., list[Case]]] = {
    "floor_divide": partial(_paired, "floor(({})/{})"),
    "minimum": partial(_paired, "min({}, {})"),
    "maximum": partial(_paired, "max({}, {})"),
    "where": _chosen_cases,
}


def _both(left: str, right: str) -> str:
    return f"{left} and {right}" if left and right else left or right


def to_expression(
    function: isl.PwAff, dims: Sequence[str] = (), context: isl.Set | None = None
) -> Expression:
    """Turn a piecewise affine function of sizes and `dims` (by position) into an expression.

    `context` is what is known of the dimensions and sizes; outside it the result may be anything.
    Pieces that are the least or greatest of their functions become `min` and `max`.
    """
    if context is not None:
        function = function.gist(context)
    pieces: list[_Piece] = []

    def collect(where: isl.Set, aff: isl.Aff) -> None:
        known, formula = isl.PwAff.from_aff(aff), _aff_expression(aff, dims)
        where.foreach_basic_set(
            lambda part: pieces.append((isl.Set.from_basic_set(part), known, formula))
        )

    function.coalesce().foreach_piece(collect)
    if context is not None:
        pieces = [(p.intersect(context), f, e) for p, f, e in pieces]
        pieces = [piece for piece in pieces if not piece[0].is_empty()] or pieces[:1]
    if not pieces:
        raise ProgramError("a bound of an empty set")
    pieces = _fewer(pieces)
    for combine, ordered in ((minimum, isl.PwAff.le_set), (maximum, isl.PwAff.ge_set)):
        if all(p.is_subset(ordered(f, g)) for p, f, _ in pieces for _, g, _ in pieces):
            first, *rest = dict.fromkeys(e for _, _, e in pieces)
            for e in rest:
                first = combine(first, e)
            return first
    result = pieces[-1][2]
    for where, _, e in pieces[-2::-1]:
        result = _chosen(where if context is None else where.gist(context), dims, e, result)
    return result


_Piece = tuple[isl.Set, isl.PwAff, Expression]


def _fewer(pieces: list[_Piece]) -> list[_Piece]:
    """Return the same function with fewer distinct formulas.

    A piece such as `1 where T = 1` beside `T where T > 1` needs no formula of its own.
    """
    for formula in sorted(dict.fromkeys(e for _, _, e in pieces), key=lambda e: len(e.terms)):
        others = [piece for piece in pieces if piece[2] != formula]
        replaced = [piece if piece[2] != formula else _elsewhere(piece, others) for piece in pieces]
        if all(piece is not None for piece in replaced):
            pieces = [piece for piece in replaced if piece is not None]
    return pieces


def _elsewhere(piece: _Piece, others: Sequence[_Piece]) -> _Piece | None:
    """Return the piece by another formula that agrees there."""
    where, function, _ = piece
    same = ((where, f, e) for _, f, e in others if where.is_subset(function.eq_set(f)))
    return next(same, None)


def _aff_expression(aff: isl.Aff, dims: Sequence[str]) -> Expression:
    denominator = math.lcm(
        int(aff.get_denominator_val().to_python()),
        int(aff.get_constant_val().get_den_val().to_python()),
    )
    scaled = aff.scale_val(isl.Val.int_from_si(aff.get_ctx(), denominator))
    result = _numerator(scaled, dims)
    return result if denominator == 1 else result // denominator


def _numerator(aff: isl.Aff, dims: Sequence[str]) -> Expression:
    result = expression(int(aff.get_constant_val().to_python()))
    for position in range(aff.dim(isl.dim_type.param)):
        c = int(aff.get_coefficient_val(isl.dim_type.param, position).to_python())
        if c:
            name = aff.get_dim_name(isl.dim_type.param, position)
            result = result + size(user_name(str(name))) * c
    for position, dim in enumerate(dims):
        c = int(aff.get_coefficient_val(isl.dim_type.in_, position).to_python())
        result = result + variable(dim) * c
    for position in range(aff.dim(isl.dim_type.div)):
        c = int(aff.get_coefficient_val(isl.dim_type.div, position).to_python())
        if c:
            result = result + _aff_expression(aff.get_div(position), dims) * c
    return result


def _chosen(
    where: isl.Set, dims: Sequence[str], then: Expression, otherwise: Expression
) -> Expression:
    """Return `then` on the set `where`, else `otherwise`: `a >= 0` is written `min(a, 0) == 0`."""
    result = otherwise

    def add(piece: isl.BasicSet) -> None:
        nonlocal result
        conditions: list[Expression] = []
        for c in piece.get_constraints():
            value = _numerator(c.get_aff(), dims)
            conditions.append(value if c.is_equality() else minimum(value, 0))
        result = choice(tuple(conditions), then, result)

    where.compute_divs().foreach_basic_set(add)
    return result
