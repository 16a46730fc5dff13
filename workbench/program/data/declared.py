"""The declaration of a data set: what a program says of rows that a run is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from workbench.errors import SourceLine
from workbench.polyhedral.expression import Expression

Bound = Expression | float | None


@dataclass(frozen=True)
class Column:
    """A column: its dtype, the inner shape of a row's value, and the bounds of its numbers.

    Integers are at least `low` and below `high`, as in a range; floats at least `low` and at most
    `high`. None is no bound.
    """

    name: str
    dtype: str
    shape: tuple[int | Expression, ...] = ()
    low: Bound = None
    high: Bound = None

    @property
    def text(self) -> str:
        """The column as in a listing: `state: int32 in [0, 16)`."""
        shape = f"({', '.join(map(str, self.shape))}{',' * (len(self.shape) == 1)})"
        return f"{self.name}: {self.dtype}{shape if self.shape else ''}{self.bounds_text}"

    @property
    def bounds_text(self) -> str:
        """The bounds as ` in [0, 16)`, empty where there are none."""
        if self.low is None and self.high is None:
            return ""
        low = "-inf" if self.low is None else self.low
        high = "inf" if self.high is None else self.high
        return f" in [{low}, {high}{']' if self.dtype == 'float' else ')'}"


@dataclass(frozen=True)
class DataSet:
    """A data set: rows dealt out to the instances of `dims` in row-major order.

    `lengths` are those of the dims; their product is the number of rows that a run reads.
    """

    name: str
    dims: tuple[str, ...]
    lengths: tuple[Expression, ...]
    columns: tuple[Column, ...]
    line: SourceLine | None = field(default=None, compare=False)

    def given(self, column: str) -> str:
        """Return the name by which a column's values are given to a run."""
        return f"{self.name}.{column}"

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the lengths of the dims at given sizes."""
        return tuple(n.evaluate(sizes) for n in self.lengths)

    def rows(self, sizes: Mapping[str, int]) -> int:
        """Return the number of rows that a run at given sizes reads."""
        return prod(self.shape(sizes))

    @property
    def text(self) -> str:
        """The declaration as in a listing."""
        columns = ", ".join(column.text for column in self.columns)
        return f"data {self.name} over {', '.join(self.dims)}: {columns}"
