"""Dtypes and shapes of bodies, computed again from the operation table and compared."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.errors import ProgramError, SourceLine, nearest
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, DType, IndexValue, Read, Shape, walk
from workbench.program.operations.dtypes import INTEGERS, promote
from workbench.program.operations.shapes import shape_text
from workbench.program.operations.table import OPERATIONS
from workbench.program.text.infix import body_text, equation
from workbench.program.values import Equations, Statement

DTYPES = ("float", *INTEGERS, "bool")


def check_types(equations: Equations, statements: Iterable[Statement]) -> None:
    """Raise ProgramError where types are not those of the row, or of the array written."""
    for array in equations.arrays:
        if array.dtype not in DTYPES:
            offered = nearest(array.dtype, DTYPES, "dtypes")
            raise ProgramError(f"{array.name}: unknown dtype {array.dtype!r}: {offered}")
    for statement in statements:
        for body in walk(statement.body):
            _check_body(equations, body, statement.line)
        _check_written(equations, statement)


def type_text(dtype: DType, shape: Shape) -> str:
    """Return `float(2,)`, or `float` for a scalar."""
    return dtype + (shape_text(shape) if shape else "")


def _check_body(equations: Equations, body: Body, line: SourceLine | None) -> None:
    expected: tuple[DType, Shape] = body.dtype, body.shape
    if isinstance(body, Call):
        expected = _computed(body, line)
    elif isinstance(body, Read):
        array = equations.array[body.array]
        expected = array.dtype, array.shape
        for index in body.index:
            if not isinstance(index, Expression) and (
                index.dtype not in INTEGERS or index.shape != ()
            ):
                raise ProgramError(
                    f"{body_text(body)}: an index is an integer scalar, "
                    f"found {type_text(index.dtype, index.shape)}",
                    line,
                )
    elif isinstance(body, IndexValue):
        expected = "int64" if body.dtype == "int64" else "int32", ()
    elif isinstance(body.value, tuple):
        expected = body.dtype, np.shape(body.value)
    if expected != (body.dtype, body.shape):
        raise ProgramError(
            f"{body_text(body)} is {type_text(*expected)}, "
            f"but noted as {type_text(body.dtype, body.shape)}",
            line,
        )


def _computed(call: Call, line: SourceLine | None) -> tuple[DType, Shape]:
    row = OPERATIONS.get(call.operation)
    if row is None:
        offered = nearest(call.operation, OPERATIONS, "operations")
        raise ProgramError(f"unknown operation {call.operation!r}: {offered}", line)
    if row.arity is not None and len(call.arguments) != row.arity:
        raise ProgramError(
            f"{call.operation} takes {row.arity} arguments, found {len(call.arguments)}", line
        )
    try:
        dtype = row.dtype([a.dtype for a in call.arguments], call.options)
        return dtype, row.shape([a.shape for a in call.arguments], call.options)
    except ProgramError as error:
        raise ProgramError(f"{body_text(call)}: {error.message}", line) from error


def _check_written(equations: Equations, statement: Statement) -> None:
    array, body = equations.array[statement.array], statement.body
    dtype, shape = body.dtype, body.shape
    if statement.combiner == "collect":
        shape = (*array.shape[:1], *shape)  # `domains_fit` compares its length with the range
    elif statement.combiner == "argmax":
        dtype = "int32"
    elif statement.combiner == "sum":
        dtype = promote(["int32", dtype])
    if (dtype, shape) != (array.dtype, array.shape):
        raise ProgramError(
            f"{equation(statement, equations)} gives {type_text(dtype, shape)}, "
            f"but {array.name} is {type_text(array.dtype, array.shape)}",
            statement.line,
        )
