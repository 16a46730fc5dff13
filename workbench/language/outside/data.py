"""Data sets: tensors whose elements are the rows that a run is given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from workbench.errors import ProgramError, nearest
from workbench.language.tracing.given_shapes import index_of, shape_of
from workbench.language.tracing.nodes import dtype_name, record
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Tensor
from workbench.language.tracing.trace import current, dim_names, user_line
from workbench.polyhedral.expression import variable
from workbench.program.data.declared import Bound, Column, DataSet


class Data(Mapping[str, Tensor]):
    """A data set while tracing: its columns by name, tensors that nothing can be assigned to."""

    def __init__(self, declared: DataSet, columns: Mapping[str, Tensor]) -> None:
        self.declared = declared
        self._columns = columns

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._columns:
            offered = nearest(str(name), self._columns, "columns")
            raise ProgramError(
                f"{self.declared.name} has no column {name!r}: {offered}", user_line()
            )
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __setitem__(self, name: str, value: object) -> NoReturn:
        raise ProgramError(
            f"{self.declared.name}[{name!r}] is data, which is only read", user_line()
        )

    def __repr__(self) -> str:
        return f"<{self.declared.text}>"


def data(
    name: str,
    columns: Mapping[str, tuple[Any, Any]],
    over: Any,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
) -> Data:
    """Declare a data set: `log = wb.data("log", {"state": ("int32", ()), "reward": ("float", ())},
    over=k, bounds={"state": (0, 16)})`. `log["state"]` is a tensor over `k`.

    `columns` has the dtype and the inner shape of each. `over` is one dim, or several, to which
    rows are dealt out in row-major order: over `(w, k)` the slice of `w` is `K` rows in a run of
    their own. The rows are given when the program is run, `wb.run(program, data={"log": …})`, and
    their number is the default of the last size of `over`. `bounds` are what the numbers of a
    column lie in: integers `low <= x < high`, as in a range, floats `low <= x <= high`; None is no
    bound. Rows that do not fit are refused; without data, rows are drawn within the bounds where
    a program is only looked at, checked or measured.
    """
    trace, line = current(), user_line()
    if not _is_name(name):
        raise ProgramError(f"the name of a data set is {name!r}; expected a name like 'log'", line)
    if name in trace.data:
        raise ProgramError(f"there is already a data set {name!r}", line)
    given: object = columns
    if not isinstance(given, Mapping) or not given:
        raise ProgramError(
            f"{name}: the columns are {columns!r}; expected dtype and inner shape by name, "
            'like {"state": ("int32", ())}',
            line,
        )
    dims = dim_names(over)
    if not dims or len(set(dims)) < len(dims):
        raise ProgramError(f"{name}: over={over!r}; expected one dim, or several different", line)
    lengths = []
    for d in dims:
        if not trace.range(d).declared:
            raise ProgramError(f"{name}: {trace.range(d).text} is no dim of the program", line)
        lengths.append(trace.range(d).length)
    known = {} if bounds is None else bounds
    for column in known:
        if column not in columns:
            offered = nearest(str(column), map(str, columns), "columns")
            raise ProgramError(f"{name}: bounds of an unknown column {column!r}: {offered}", line)
    listed = tuple(_column(name, *entry, known.get(entry[0])) for entry in columns.items())
    declared = DataSet(name, dims, tuple(lengths), listed, line)
    trace.data[name] = declared
    return Data(declared, {column.name: _tensor(declared, column) for column in listed})


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _column(of: str, name: Any, kind: Any, bounds: Any) -> Column:
    if not _is_name(name):
        raise ProgramError(f"{of}: a column is called {name!r}; expected a name", user_line())
    if not isinstance(kind, tuple) or len(kind) != 2:
        raise ProgramError(
            f"{of}: column {name} is {kind!r}; expected a dtype and an inner shape, "
            'like ("int32", ())',
            user_line(),
        )
    dtype = dtype_name(kind[0], f"{of}: column {name}: dtype")
    shape = shape_of(kind[1], f"{of}: column {name}: shape")
    if bounds is None:
        return Column(name, dtype, shape)
    if dtype == "bool" or not isinstance(bounds, tuple | list) or len(bounds) != 2:
        expected = "none, of bools" if dtype == "bool" else "(low, high)"
        raise ProgramError(
            f"{of}: the bounds of {name} are {bounds!r}; expected {expected}", user_line()
        )
    low, high = (_bound(of, name, dtype, one) for one in bounds)
    if isinstance(low, float) and isinstance(high, float) and not low <= high:
        raise ProgramError(f"{of}: the bounds {bounds!r} of {name} hold no number", user_line())
    return Column(name, dtype, shape, low, high)


def _bound(of: str, name: str, dtype: str, bound: Any) -> Bound:
    """Return one bound: of integers a number or an expression over sizes, of floats a number."""
    if bound is None:
        return None
    if dtype == "float":
        if isinstance(bound, int | float) and not isinstance(bound, bool) and not math.isnan(bound):
            return float(bound)
    else:
        index = index_of(bound)
        if index is not None and not index.variables:
            return index
    expected = "a number" if dtype == "float" else "a whole number, or an expression over sizes"
    raise ProgramError(f"{of}: a bound of {name} is {bound!r}; expected {expected}", user_line())


def _tensor(declared: DataSet, column: Column) -> Tensor:
    """Return a column as an array whose every element is given."""
    trace, over = current(), tuple(variable(d) for d in declared.dims)
    scope = (*trace.scope, declared.name)
    array = Recurrent(column.name, column.shape, declared.dims, column.dtype, scope)
    trace.recurrents.append(array)
    value = record(
        trace,
        operation="given",
        operands=(),
        dims=trace.ordered(set(declared.dims)),
        shape=column.shape,
        dtype=column.dtype,
        options={
            "name": declared.given(column.name),
            "shape": column.shape,
            "dtype": column.dtype,
            "dims": declared.dims,
        },
    )
    array.define(over, value)
    return Tensor(array)
