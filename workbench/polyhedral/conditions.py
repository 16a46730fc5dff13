"""Conditions over expressions, for an `if` between loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from workbench.polyhedral.expression import Expression, ExpressionLike, choice, minimum

_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(frozen=True)
class AffineComparison:
    """A comparison `left relation right`; the relation is "==", "!=", "<" or "<="."""

    left: Expression
    relation: str
    right: Expression

    @property
    def text(self) -> str:
        """The condition as Python text."""
        return f"{self.left} {self.relation} {self.right}"

    def holds(self, at: Callable[[Expression], Any]) -> Any:
        """Tell whether it holds, given the values of expressions: integers, or arrays of them."""
        return _RELATIONS[self.relation](at(self.left), at(self.right))

    def substitute(self, values: Mapping[str, ExpressionLike]) -> AffineComparison:
        """Replace dimensions and sizes by name."""
        return AffineComparison(
            self.left.substitute(values), self.relation, self.right.substitute(values)
        )


@dataclass(frozen=True)
class Compound:
    """A condition that holds where all ("and") or any ("or") of its parts hold."""

    kind: str
    parts: tuple[Condition, ...]

    @property
    def text(self) -> str:
        """The condition as Python text."""
        texts = (p.text if isinstance(p, AffineComparison) else f"({p.text})" for p in self.parts)
        return f" {self.kind} ".join(texts)

    def holds(self, at: Callable[[Expression], Any]) -> Any:
        """Tell whether it holds, given the values of expressions: integers, or arrays of them."""
        combine = operator.and_ if self.kind == "and" else operator.or_
        return reduce(combine, (part.holds(at) for part in self.parts))

    def substitute(self, values: Mapping[str, ExpressionLike]) -> Compound:
        """Replace dimensions and sizes by name."""
        return Compound(self.kind, tuple(p.substitute(values) for p in self.parts))


Condition = AffineComparison | Compound


def names_in(condition: Condition) -> frozenset[str]:
    """Return the dimensions that a condition depends on."""
    if isinstance(condition, AffineComparison):
        return condition.left.variables | condition.right.variables
    return frozenset[str]().union(*(names_in(part) for part in condition.parts))


def negated(condition: Condition) -> Condition:
    """Return the condition that holds where this one does not."""
    if isinstance(condition, Compound):
        kind = "or" if condition.kind == "and" else "and"
        return Compound(kind, tuple(negated(p) for p in condition.parts))
    if condition.relation in ("<", "<="):
        other = "<=" if condition.relation == "<" else "<"
        return AffineComparison(condition.right, other, condition.left)
    other = "!=" if condition.relation == "==" else "=="
    return AffineComparison(condition.left, other, condition.right)


def selected(condition: Condition, then: Expression, otherwise: Expression) -> Expression:
    """Return `then` where the condition holds, else `otherwise`, as one expression."""
    if isinstance(condition, Compound):
        # and: the first part decides unless it holds; or: unless it does not.
        result = then if condition.kind == "and" else otherwise
        for part in reversed(condition.parts):
            if condition.kind == "and":
                result = selected(part, result, otherwise)
            else:
                result = selected(part, then, result)
        return result
    left, right = condition.left, condition.right
    if condition.relation == "==":
        return choice((left - right,), then, otherwise)
    if condition.relation == "!=":
        return choice((left - right,), otherwise, then)
    slack = right - left - (1 if condition.relation == "<" else 0)
    return choice((minimum(slack, 0),), then, otherwise)
