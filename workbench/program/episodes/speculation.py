"""Programs whose episodes end, as backends run them.

A lane whose episode has ended runs on beside others that are open: whatever it computes is read by
nothing. So it must not fail. Each index, number of choices or divisor that it computes is replaced,
where the episode has ended, by one that is as good as any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression
from workbench.program.episodes.held import Held, chooses, opens_of, own_held
from workbench.program.values import Body, Call, End, Equations, IndexValue, Literal, Read

_REPLACED = {
    "within": 0,
    "take": 1,
    "possible": 0,
    "floor_divide": 1,
    "remainder": 1,
    "one_hot": 0,
}
"""Operations that fail on some operands, with the position of that operand."""


@remembered(64)
def harmless(equations: Equations) -> Equations:
    """Return the equations in which an instance that is not executed cannot fail: the same object
    where that is so already.
    """
    opens = opens_of(equations)
    statements = []
    for s in equations.statements:
        body = _harmless(s.body, own_held(s), equations, opens)
        statements.append(s if body == s.body else replace(s, body=body))
    if all(new is s for new, s in zip(statements, equations.statements, strict=True)):
        return equations
    return replace(equations, statements=tuple(statements))


def _harmless(body: Body, held: Held, equations: Equations, opens: Mapping[str, End]) -> Body:
    if isinstance(body, Read):
        index = tuple(
            e
            if isinstance(e, Expression)
            else _or(_harmless(e, held, equations, opens), held, IndexValue(lower, e.dtype))
            for e, (lower, _) in zip(body.index, equations.array[body.array].extent, strict=True)
        )
        return replace(body, index=index)
    if not isinstance(body, Call):
        return body
    chosen = chooses(body, opens)
    arguments = [
        _harmless(a, (*held, *chosen) if chosen and k == 1 else held, equations, opens)
        for k, a in enumerate(body.arguments)
    ]
    position = _REPLACED.get(body.operation)
    if position is not None:
        risky = arguments[position]
        arguments[position] = _or(risky, held, _safe(body, risky, arguments))
    return replace(body, arguments=tuple(arguments))


def _safe(call: Call, risky: Body, arguments: list[Body]) -> Body:
    """Return an operand on which an operation cannot fail."""
    if call.operation == "within":
        return arguments[1]
    number = 0 if call.operation in ("take", "possible", "one_hot") else 1
    return Literal(float(number) if risky.dtype == "float" else number, risky.dtype)


def _or(body: Body, held: Held, otherwise: Body) -> Body:
    """Return `body` where all of what is open is, else `otherwise`."""
    if not held or isinstance(body, (Literal, IndexValue)):
        return body
    opened: list[Body] = list(dict.fromkeys(held))
    condition = reduce(_both, opened)
    if isinstance(body, Call) and body.operation == "where" and body.arguments[0] == condition:
        return body
    return Call("where", (condition, body, otherwise), body.dtype, body.shape)


def _both(left: Body, right: Body) -> Body:
    return Call("logical_and", (left, right), "bool")
