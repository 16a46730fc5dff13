"""Rows whose value depends on the instance: random draws, and values from outside.

Also the coordinates of a statement's instances, and the scratch memory for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.lowering.loops.records import Apply
from workbench.lowering.reads import index_arrays
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Scope
from workbench.polyhedral.expression import Expression, expression, minimum, variable
from workbench.program.bodies import Call

if TYPE_CHECKING:
    from workbench.lowering.instances.linearize import Linearizer


from typing import TYPE_CHECKING

from workbench.errors import ProgramError

if TYPE_CHECKING:
    from workbench.lowering.instances.linearize import Linearizer

PHILOX_CHUNK = 8192
WORDS_PER_BLOCK = 28
"""The four-byte words that drawing holds per counter block of a chunk (64-bit arrays of halves)."""


def draw(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Fill the result with words drawn by statement and instance."""
    scope, statement = at.scope, at.statement
    out = at.result(body, target)
    shift = dict(body.options.get("shift", ()))
    coordinates = _coordinates(at, out, statement.dims, shift)
    into = out
    if not out.layout.dense:
        into = scope.flat_copy(out)
    options = {
        "kind": body.operation,
        "coordinates": coordinates,
        "origin": statement.origin or statement.name,
        "scratch": scope.scratch("int32", (_scratch(scope, body, out),)),
    }
    names = tuple(c for c in coordinates if isinstance(c, str))
    scope.records.append(Apply("random", names, into.name, tuple(options.items())))
    if into is not out:
        scope.apply("copyto", [into], out)
    return out


def given(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Fill the result with the run's given values of a name, by instance."""
    scope, out = at.scope, at.result(body, target)
    coordinates = _coordinates(at, out, body.options["dims"], {})
    names = tuple(c for c in coordinates if isinstance(c, str))
    options: dict[str, Any] = {"name": body.options["name"], "coordinates": coordinates}
    if names:  # an index by arrays makes a copy
        options["scratch"] = scope.scratch(out.dtype, out.extents)
    scope.records.append(Apply("given", names, out.name, tuple(options.items())))
    return out


def _coordinates(
    at: Linearizer, out: Value, dims: Sequence[str], shift: Mapping[str, int]
) -> tuple[str | Expression, ...]:
    """Return the instance's `dims` in order: a loop's value, or the name of an axis's values."""
    scope = at.scope
    coordinates: list[str | Expression] = []
    for d in dims:
        e = at.placed(variable(d)) + shift.get(d, 0)
        if e.variables & set(scope.axes):
            coordinates.append(
                scope.aligned(index_arrays.index_value(scope, e, "int64"), out.axes, 0).name
            )
        else:
            coordinates.append(e)
    return tuple(coordinates)


def _scratch(scope: Scope, body: Call, out: Value) -> Expression:
    """Return the memory that `philox.fill` holds while it runs, in units of four bytes."""
    inner = points = expression(1)
    for n in out.shape:
        inner = inner * n
    if body.operation == "permutation":
        return inner * 4
    for n in out.counts:
        points = points * scope.longest(n)
    return minimum(points * ((inner + 3) // 4), PHILOX_CHUNK) * WORDS_PER_BLOCK


def call(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Let the external object write its result to the target."""
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
