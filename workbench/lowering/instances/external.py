"""Calls of an external object: operands and result are whole arrays, the object has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import ProgramError
from workbench.lowering.values.layout import Value
from workbench.program.values import Call

if TYPE_CHECKING:
    from workbench.lowering.instances.linearize import Linearizer


def call(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Let the object write its result where it is wanted."""
    scope, options = at.scope, body.options
    operands = [at.value(argument) for argument in body.arguments]
    out = at.result(body, target)
    if out.axes:
        listed = ", ".join(out.axes)
        raise ProgramError(
            f"{at.statement.name} calls {options['name']} one instance after the other, "
            f"not with {listed} as array axes",
            at.statement.line,
        )
    return scope.apply(
        "external",
        operands,
        out,
        name=options["name"],
        method=options["method"],
        statement=scope.statement,
        instance=scope.instance,
    )
