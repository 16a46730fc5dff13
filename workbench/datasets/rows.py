"""The rows of all data sets of a program, as a run is given them: those of the user's sources, or
drawn ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from workbench.datasets.fitting import (
    DataError,
    expect_columns,
    expect_rows,
    expect_sets,
    missing,
)
from workbench.datasets.sources import Columns, columns_of, sent
from workbench.errors import WorkbenchError
from workbench.polyhedral.expression import Expression, size
from workbench.program.data.declared import Column, DataSet
from workbench.program.operations.table import OPERATIONS
from workbench.program.sizes import resolve
from workbench.program.values import Equations

Tables = dict[str, npt.NDArray[Any]]
PART_BYTES = 1 << 24
"""The bytes that are hashed together."""
UNBOUNDED = {"low": 0, "high": 2}
"""The range that integers are drawn from where no bounds are declared."""
DRAWN = "drawn"
"""The hash of rows that no source has."""


@dataclass(frozen=True)
class DataIdentity:
    """The content that a run read of a data set: its rows, and SHA-256 of them; "drawn" for drawn
    ones.
    """

    name: str
    rows: int
    sha256: str

    def __str__(self) -> str:
        content = "drawn within its bounds" if self.sha256 == DRAWN else f"{self.sha256[:12]}…"
        return f"{self.name}: {self.rows} rows, {content}"


class Rows(Protocol):
    """The rows of a program's data sets."""

    def sizes(self, given: Mapping[str, int] | None) -> Mapping[str, int] | None:
        """Return given sizes with those that follow from the number of rows."""

    def tables(
        self, sizes: Mapping[str, int], dtype: str, ahead: tuple[str, int] = ("", 0)
    ) -> Tables:
        """Return the values of the columns that the program reads, by the names under which they
        are given to a run, over the dims of their data set.

        `ahead` skips so many values of a dim: a run that goes on.
        """

    def identity(self, sizes: Mapping[str, int]) -> tuple[DataIdentity, ...]:
        """Return what tells the content apart that a run at these sizes reads."""

    def note(self) -> str:
        """Say that rows are drawn; "" where they are not."""


class GivenRows:
    """Rows of the user's sources. Raises DataError where a source does not fit its declaration."""

    def __init__(self, equations: Equations, given: Mapping[str, Any]) -> None:
        if not isinstance(given, Mapping):
            raise WorkbenchError(f'data={given!r}; expected sources by name, like {{"log": …}}')
        expect_sets(equations.data, given, equations.name)
        self._of = equations
        self._columns: dict[str, Columns] = {}
        for declared in equations.data:
            wanted = [column.name for column in declared.columns]
            columns = columns_of(declared.name, given[declared.name], wanted)
            self._columns[declared.name] = columns
            expect_columns(declared, columns)
        self._given = given
        self._seen: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
        self._digests: dict[tuple[str, int], DataIdentity] = {}

    def __reduce__(self) -> Any:
        """Go to another process without what a file holds."""
        given = {name: sent(self._given[name], own) for name, own in self._columns.items()}
        return GivenRows, (self._of, given)

    def rows(self, name: str) -> int:
        """Return the number of rows that a data set's source has."""
        return len(next(iter(self._columns[name].values())))

    def sizes(self, given: Mapping[str, int] | None) -> Mapping[str, int] | None:
        """Return given sizes, with the last size of each data set's dims that is not given: as many
        as there are rows for.
        """
        if not self._of.data:
            return given
        known = dict(given or {})
        for declared in self._of.data:
            free = self._free(declared, known)
            if free is None:
                continue
            position, name = free
            shape = declared.shape(resolve(self._of, known))
            others = prod(n for k, n in enumerate(shape) if k != position)
            known[name] = max(1, self.rows(declared.name) // others)
        return known

    def _free(self, declared: DataSet, known: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the position and the name of the size that the number of rows decides."""
        settable = [p.name for p in self._of.parameters if p.definition is None]
        for position in reversed(range(len(declared.dims))):
            for name in settable:
                if declared.lengths[position] == size(name) and name not in known:
                    return position, name
        return None

    def tables(
        self, sizes: Mapping[str, int], dtype: str, ahead: tuple[str, int] = ("", 0)
    ) -> Tables:
        """Return the columns that the program reads as tables; what has the dtype and is in order
        is not copied.
        """
        made: Tables = {}
        for declared in self._of.data:
            whole = _further(declared, sizes, ahead)
            self._expect(declared, whole)
            columns = self._columns[declared.name]
            for name, table in _tables(self._of, declared, columns, whole, dtype).items():
                skipped = (slice(ahead[1] if d == ahead[0] else 0, None) for d in declared.dims)
                made[name] = table[tuple(skipped)]
        return made

    def columns(self, name: str) -> Columns:
        """Return the columns of a data set's source."""
        return self._columns[name]

    def _expect(self, declared: DataSet, sizes: Mapping[str, int]) -> None:
        """Look at the rows that a run reads, each once for the same sizes of bounds and shapes."""
        key = declared.name, tuple((n, sizes[n]) for n in sorted(_sizes_of(declared)))
        columns = self._columns[declared.name]
        self._seen[key] = expect_rows(declared, columns, sizes, self._seen.get(key, 0))

    def identity(self, sizes: Mapping[str, int]) -> tuple[DataIdentity, ...]:
        """Return the rows that a run reads, and SHA-256 of their columns in order."""
        return tuple(self._digest(one, one.rows(sizes)) for one in self._of.data)

    def _digest(self, declared: DataSet, rows: int) -> DataIdentity:
        if (declared.name, rows) not in self._digests:
            digest = hashlib.sha256()
            for column in declared.columns:
                values = self._columns[declared.name][column.name][:rows]
                digest.update(f"{column.name} {values.dtype.str} {values.shape}\n".encode())
                part = max(1, PART_BYTES // max(1, values[:1].nbytes))
                for first in range(0, rows, part):
                    digest.update(np.ascontiguousarray(values[first : first + part]).data)
            found = DataIdentity(declared.name, rows, digest.hexdigest())
            self._digests[declared.name, rows] = found
        return self._digests[declared.name, rows]

    def note(self) -> str:
        """Return nothing: the rows are the user's."""
        return ""


class CheckRows:
    """The first of given rows, at the small sizes of a check: over again where there are fewer, and
    drawn where a check's sizes, as bounds or shapes, do not take the given ones.
    """

    def __init__(self, equations: Equations, given: GivenRows) -> None:
        self._of, self._given = equations, given
        self._drawn = DrawnRows(equations)
        self._notes: dict[str, None] = {}

    def sizes(self, given: Mapping[str, int] | None) -> Mapping[str, int] | None:
        """Return the sizes of the given rows."""
        return self._given.sizes(given)

    def identity(self, sizes: Mapping[str, int]) -> tuple[DataIdentity, ...]:
        """Return that of the given rows."""
        return self._given.identity(sizes)

    def tables(
        self, sizes: Mapping[str, int], dtype: str, ahead: tuple[str, int] = ("", 0)
    ) -> Tables:
        """Return tables of the first rows."""
        made = self._drawn.tables(sizes, dtype)
        for declared in self._of.data:
            columns = self._first(declared, sizes)
            if columns is not None:
                made |= _tables(self._of, declared, columns, sizes, dtype)
        return made

    def _first(self, declared: DataSet, sizes: Mapping[str, int]) -> Columns | None:
        """Return as many rows as a check reads; None where they do not fit."""
        needed, there = declared.rows(sizes), self._given.rows(declared.name)
        columns = self._given.columns(declared.name)
        if needed > there:
            again = np.arange(needed) % there
            columns = {name: values[again] for name, values in columns.items()}
        try:
            expect_rows(declared, columns, sizes, 0)
        except DataError:
            self._notes[
                f"the rows of {declared.name} are drawn within their bounds: those given do not "
                "fit the sizes of a check"
            ] = None
            return None
        if needed > there:
            self._notes[f"the {there} rows of {declared.name} come over again"] = None
        return columns

    def note(self) -> str:
        """Say which rows were others than the first."""
        return "; ".join(self._notes)


class DrawnRows:
    """Rows drawn within the bounds that a program declares, where nothing is given."""

    def __init__(self, equations: Equations) -> None:
        self._of = equations

    def sizes(self, given: Mapping[str, int] | None) -> Mapping[str, int] | None:
        """Return the sizes as they are given."""
        return given

    def tables(
        self, sizes: Mapping[str, int], dtype: str, ahead: tuple[str, int] = ("", 0)
    ) -> Tables:
        """Return drawn tables, the same whenever they are asked for."""
        return {
            declared.given(column.name): _drawn(declared, column, sizes, dtype)
            for declared in self._of.data
            for column in _read(self._of, declared)
        }

    def identity(self, sizes: Mapping[str, int]) -> tuple[DataIdentity, ...]:
        """Return how many rows are drawn."""
        return tuple(DataIdentity(one.name, one.rows(sizes), DRAWN) for one in self._of.data)

    def note(self) -> str:
        """Say which rows are drawn."""
        names = " and ".join(one.name for one in self._of.data)
        return f"the rows of {names} are drawn within their bounds: no data was given"


def rows_of(equations: Equations, given: Mapping[str, Any] | None) -> Rows:
    """Return the given rows, or drawn ones where nothing is given; none for a program without data
    sets.
    """
    if given is None and equations.data:
        return DrawnRows(equations)
    return GivenRows(equations, given or {})


def expect_given(equations: Equations, rows: Rows) -> None:
    """Require that rows are the user's."""
    if isinstance(rows, DrawnRows):
        raise missing(equations.data[0], equations.name)


def in_checks(equations: Equations, rows: Rows) -> Rows:
    """Return the rows as checks at small sizes take them."""
    return CheckRows(equations, rows) if isinstance(rows, GivenRows) and equations.data else rows


def _tables(
    equations: Equations,
    declared: DataSet,
    columns: Columns,
    sizes: Mapping[str, int],
    dtype: str,
) -> Tables:
    """Return the columns that the program reads over the dims of their data set."""
    made: Tables = {}
    for column in _read(equations, declared):
        values = columns[column.name][: declared.rows(sizes)]
        shaped = values.reshape(declared.shape(sizes) + values.shape[1:])
        element = dtype if column.dtype == "float" else column.dtype
        made[declared.given(column.name)] = np.asarray(shaped, element)
    return made


def _read(equations: Equations, declared: DataSet) -> Iterator[Column]:
    """Yield the columns of a data set that statements read."""
    names = {
        call.options["name"]
        for s in equations.statements
        for call in s.calls
        if OPERATIONS[call.operation].given
    }
    yield from (column for column in declared.columns if declared.given(column.name) in names)


def _further(
    declared: DataSet, sizes: Mapping[str, int], ahead: tuple[str, int]
) -> Mapping[str, int]:
    """Return the sizes with which a data set has the skipped rows too."""
    dim, more = ahead
    if dim not in declared.dims or not more:
        return sizes
    length = declared.lengths[declared.dims.index(dim)]
    names = [name for name in sizes if length == size(name)]
    if not names:
        raise WorkbenchError(
            f"data {declared.name!r}: a run cannot go on along {dim}, whose size {length} is no "
            "size of its own"
        )
    return {**sizes, names[0]: sizes[names[0]] + more}


def _sizes_of(declared: DataSet) -> set[str]:
    """Return the sizes in bounds and inner shapes."""
    of = [e for c in declared.columns for e in (c.low, c.high, *c.shape)]
    return {name for e in of if isinstance(e, Expression) for name in e.sizes}


def _drawn(
    declared: DataSet, column: Column, sizes: Mapping[str, int], dtype: str
) -> npt.NDArray[Any]:
    seed = hashlib.sha256(declared.given(column.name).encode()).digest()[:8]
    random = np.random.default_rng(int.from_bytes(seed, "little"))
    inner = tuple(n.evaluate(sizes) if isinstance(n, Expression) else n for n in column.shape)
    shape = declared.shape(sizes) + inner
    low, high = (
        bound.evaluate(sizes) if isinstance(bound, Expression) else bound
        for bound in (column.low, column.high)
    )
    if column.dtype == "bool":
        return random.random(shape) < 0.5
    if column.dtype == "float":
        return _floats(random, shape, low, high).astype(dtype)
    least = UNBOUNDED["low"] if low is None else int(low)
    if low is None and high is not None:
        least = int(high) - UNBOUNDED["high"]
    below = least + UNBOUNDED["high"] if high is None else int(high)
    return random.integers(least, max(below, least + 1), shape, dtype=column.dtype)


def _floats(
    random: np.random.Generator, shape: tuple[int, ...], low: float | None, high: float | None
) -> npt.NDArray[np.float64]:
    """Draw floats between bounds, on the open side of one, or of a normal where there is none."""
    drawn = random.standard_normal(shape)
    if low is not None and high is not None and np.isfinite([low, high]).all():
        return random.uniform(low, high, shape)
    if low is not None and np.isfinite(low):
        return low + np.abs(drawn)
    return drawn if high is None or not np.isfinite(high) else high - np.abs(drawn)
