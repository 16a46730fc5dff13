"""Columns against their declaration: what does not fit is refused with its column and row.

The rows that a run reads are looked at, a part at a time; a mapped file of which a run reads little
is not read to its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.datasets.sources import Columns
from workbench.errors import SourceLine, WorkbenchError, nearest
from workbench.polyhedral.expression import Expression
from workbench.program.data.declared import Bound, Column, DataSet
from workbench.program.operations.shapes import shape_text
from workbench.program.sizes import numbers

PART = 1 << 16
"""The rows that are looked at together."""
KINDS = {"float": "f", "int32": "iu", "int64": "iu", "bool": "b"}
WORDS = {
    "float": "floats, like float32 or float64",
    "int32": "whole numbers, like int32 or int64",
    "int64": "whole numbers, like int32 or int64",
    "bool": "bool",
}


class DataError(WorkbenchError):
    """Rows that a program cannot take: another name, dtype, length, shape or bounds, or NaN."""


def expect_sets(declared: tuple[DataSet, ...], given: Mapping[str, Any], program: str) -> None:
    """Require a source for each data set, and no other."""
    names = [one.name for one in declared]
    for name in given:
        if name not in names:
            offered = nearest(name, names, "data sets")
            raise DataError(f"{program} has no data set {name!r}: {offered}")
    for one in declared:
        if one.name not in given:
            raise missing(one, program)


def missing(declared: DataSet, program: str) -> DataError:
    """Return the error for a data set without a source."""
    columns = ", ".join(f'"{column.name}": …' for column in declared.columns)
    return DataError(
        f"{program} reads the data set {declared.name!r}, which is not given; pass "
        f'data={{"{declared.name}": {{{columns}}}}}, or a file '
        f"(on the command line --data {declared.name}=FILE)",
        declared.line,
    )


def expect_columns(declared: DataSet, columns: Columns) -> None:
    """Require the declared columns and no others, their dtypes, and one number of rows."""
    name, line = declared.name, declared.line
    known = [column.name for column in declared.columns]
    for column in known:
        if column not in columns:
            raise DataError(
                f"data {name!r}: there is no column {column!r}, which the program declares; "
                f"{nearest(column, columns, 'columns')}",
                line,
            )
    for column in columns:
        if column not in known:
            raise DataError(
                f"data {name!r}: the program declares no column {column!r}; "
                f"{nearest(column, known, 'columns')}",
                line,
            )
    for one in declared.columns:
        values = columns[one.name]
        if values.dtype.kind not in KINDS[one.dtype]:
            raise DataError(
                f"data {name!r}: column {one.name} is {values.dtype}, expected {one.dtype} "
                f"({WORDS[one.dtype]})",
                line,
            )
        if not values.ndim:
            raise DataError(f"data {name!r}: column {one.name} is one number, expected rows", line)
    lengths = {column: len(columns[column]) for column in known}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"data {name!r}: the columns differ in their number of rows: {numbers(lengths)}", line
        )


def expect_rows(declared: DataSet, columns: Columns, sizes: Mapping[str, int], seen: int) -> int:
    """Require that there are enough rows, of the declared shape, and look at the values of those
    that a run reads and that were not `seen`; return how many that are.
    """
    name, line = declared.name, declared.line
    needed, there = declared.rows(sizes), len(next(iter(columns.values())))
    if needed > there:
        lengths = zip(declared.dims, declared.shape(sizes), strict=True)
        dims = " times ".join(f"{n} of {d}" for d, n in lengths)
        raise DataError(f"data {name!r}: there are {there} rows, expected {needed}: {dims}", line)
    for column in declared.columns:
        shape, found = _shape(column, sizes), columns[column.name].shape[1:]
        if found != shape:
            raise DataError(
                f"data {name!r}: a row of {column.name} has the shape {shape_text(found)}, "
                f"expected {shape_text(shape)}",
                line,
            )
        for first in range(seen, needed, PART):
            part = columns[column.name][first : min(first + PART, needed)]
            _expect_values(name, column, part, first, sizes, line)
    return max(needed, seen)


def _shape(column: Column, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(n.evaluate(sizes) if isinstance(n, Expression) else n for n in column.shape)


def _expect_values(
    name: str,
    column: Column,
    part: npt.NDArray[Any],
    first: int,
    sizes: Mapping[str, int],
    line: SourceLine | None,
) -> None:
    """Look at the rows from `first` on."""

    def refuse(wrong: npt.NDArray[np.bool_], expected: str) -> None:
        if not wrong.any():
            return
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        at = f"[{', '.join(map(str, place[1:]))}]" if len(place) > 1 else ""
        found = part[place]
        text = "NaN" if found != found else str(found)
        raise DataError(
            f"data {name!r}: row {first + place[0]} of {column.name}{at} is {text}, expected "
            f"{expected}",
            line,
        )

    if column.dtype == "float":
        refuse(np.isnan(part), "a number")
    elif column.dtype in ("int32", "int64"):
        holds = np.iinfo(column.dtype)
        refuse((part < holds.min) | (part > holds.max), f"what {column.dtype} holds")
    low, high = (_number(bound, sizes) for bound in (column.low, column.high))
    if low is not None:
        refuse(part < low, f"at least {low}{_declared(column.low)}")
    if high is not None:
        wrong = part > high if column.dtype == "float" else part >= high
        most = "at most" if column.dtype == "float" else "less than"
        refuse(wrong, f"{most} {high}{_declared(column.high)}")


def _number(bound: Bound, sizes: Mapping[str, int]) -> int | float | None:
    return bound.evaluate(sizes) if isinstance(bound, Expression) else bound


def _declared(bound: Bound) -> str:
    return f" ({bound})" if isinstance(bound, Expression) and bound.terms else ""
