"""Equations built record by record, for tests below the language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import SourceLine
from workbench.polyhedral.expression import Expression, expression, size, variable
from workbench.polyhedral.sets.relations import box, hull, image, union
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read, Shape
from workbench.program.operations.dtypes import promote
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Array, Dim, Equations, Output, Parameter, Statement

Range = tuple[Any, Any]
B, K, M, N, T = (size(n) for n in "BKMNT")
b, i, k, m, n, t = (variable(d) for d in "bikmnt")


def literal(value: Any, dtype: str | None = None) -> Literal:
    """A constant scalar."""
    kinds = {bool: "bool", int: "int32", float: "float"}
    return Literal(value, dtype or kinds[type(value)])


def read(array: str, *index: Any, dtype: str = "float", shape: Shape = ()) -> Read:
    """A read; an index is an expression, an int or a body."""
    found = tuple(e if isinstance(e, (Read, Call, IndexValue)) else expression(e) for e in index)
    return Read(array, found, dtype, shape)


def value(e: Expression) -> IndexValue:
    """The value of an index expression."""
    return IndexValue(e)


def call(operation: str, *arguments: Any, **options: Any) -> Call:
    """An operation with dtype and shape by its row's rules."""
    bodies: list[Body] = [
        a if isinstance(a, (Literal, IndexValue, Read, Call)) else literal(a) for a in arguments
    ]
    row = OPERATIONS[operation]
    dtype = row.dtype([a.dtype for a in bodies], options)
    shape = row.shape([a.shape for a in bodies], options)
    return Call(operation, tuple(bodies), dtype, shape, tuple(options.items()))


def statement(
    array: str,
    write: Sequence[Any],
    body: Any,
    domain: Mapping[str, Range],
    over: Mapping[str, Range] | None = None,
    combiner: str | None = None,
    **more: Any,
) -> Statement:
    """An equation; `domain` and `over` give half-open ranges, in order."""
    body = body if isinstance(body, (Literal, IndexValue, Read, Call)) else literal(body)
    spelled = ", ".join(str(e) for e in write)
    line = SourceLine("model.py", 1, f"{array}[{spelled}] = ...")
    return Statement(
        **{
            "name": f"{array}({spelled})",
            "dims": tuple(domain),
            "domain": box(ranges(domain)),
            "array": array,
            "write": tuple(expression(e) for e in write),
            "body": body,
            "reduction_dims": tuple(over or ()),
            "reduction": box(ranges({**domain, **over})) if over else "",
            "combiner": combiner or ("sum" if over else None),
            "origin": f"{array}({spelled})",
            "line": line,
            **more,
        }
    )


def ranges(domain: Mapping[str, Range]) -> list[tuple[str, Expression, Expression]]:
    """Ranges as bounds of a box."""
    return [(d, expression(lower), expression(upper)) for d, (lower, upper) in domain.items()]


def equations(
    *statements: Statement,
    sizes: Mapping[str, int],
    dims: Mapping[str, Any] | None = None,
    names: Mapping[str, tuple[str, ...]] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[Parameter] = (),
    **more: Any,
) -> Equations:
    """Equations whose arrays are found from its statements' writes.

    An array's dimensions are the variables of its first general write, or `names[array]`.
    """
    written: dict[str, list[Statement]] = {}
    for s in statements:
        written.setdefault(s.array, []).append(s)
    arrays = tuple(_array(a, found, (names or {}).get(a)) for a, found in written.items())
    return Equations(
        name="model",
        parameters=(*(Parameter(name, default) for name, default in sizes.items()), *parameters),
        dims=tuple(Dim(name, expression(bound)) for name, bound in (dims or {}).items()),
        arrays=arrays,
        statements=statements,
        outputs=tuple(Output(a, a) for a in (written if outputs is None else outputs)),
        **more,
    )


def _array(name: str, writers: Sequence[Statement], dims: tuple[str, ...] | None) -> Array:
    if dims is None:
        general = max(writers, key=lambda s: len(s.dims))
        variables = [sorted(e.variables) for e in general.write]
        dims = tuple(v[0] if v else f"x{position}" for position, v in enumerate(variables))
    elements = None
    for s in writers:
        piece = image(s.domain, s.dims, s.write, None, dims)
        elements = piece if elements is None else union(elements, piece)
    assert elements is not None
    first = writers[0]
    dtype = "int32" if first.combiner == "argmax" else first.body.dtype
    if first.combiner == "sum":
        dtype = promote(["int32", dtype])
    return Array(name, dims, hull(elements), dtype, first.body.shape)
