"""Integer expressions and conditions as C over 64-bit integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from workbench.polyhedral.conditions import AffineComparison, Condition
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.expressions.atoms import Named
from workbench.polyhedral.expressions.evaluation import fold

Name = Callable[[str], str]
"""The C name of a loop variable, a size or a local."""


def expression_text(e: Expression, name: Name) -> str:
    """Return an expression as C."""

    def named(a: Named) -> str:
        return name(a.name)

    def at(part: Expression) -> str:
        return expression_text(part, name)

    return fold(e, named, _FUNCTIONS, _sum, at)


def condition_text(condition: Condition, name: Name) -> str:
    """Return a condition as C."""
    if isinstance(condition, AffineComparison):
        left, right = (expression_text(e, name) for e in (condition.left, condition.right))
        return f"{left} {condition.relation} {right}"
    sign = " && " if condition.kind == "and" else " || "
    return sign.join(f"({condition_text(part, name)})" for part in condition.parts)


def _sum(constant: int, values: Iterable[tuple[str, int]]) -> str:
    parts = []
    for text, factor in values:
        product = text if abs(factor) == 1 else f"{abs(factor)} * {text}"
        parts.append((" - " if factor < 0 else " + ") + product)
    if constant or not parts:
        parts.append(f"{' - ' if constant < 0 else ' + '}{abs(constant)}")
    if len(parts) > 1 and parts[0].startswith(" - "):
        first = next((p for p in parts if p.startswith(" + ")), None)
        if first is not None:
            parts.remove(first)
            parts.insert(0, first)
    text = "".join(parts)
    text = text[3:] if text.startswith(" + ") else f"-{text[3:]}"
    return text if len(parts) == 1 and not text.startswith("-") else f"({text})"


def _chosen(*parts: str) -> str:
    *conditions, then, otherwise = parts
    return f"({' && '.join(f'{c} == 0' for c in conditions)} ? {then} : {otherwise})"


_FUNCTIONS: Mapping[str, Callable[..., str]] = {
    "floor_divide": lambda left, right: f"floor_divide_l({left}, {right})",
    "minimum": lambda left, right: f"minimum_l({left}, {right})",
    "maximum": lambda left, right: f"maximum_l({left}, {right})",
    "multiply": lambda left, right: f"{left} * {right}",
    "where": _chosen,
}
