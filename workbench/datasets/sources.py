"""Sources of rows, opened as columns by name. What can be mapped is read when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.datasets.files import MINARI, columns_in, columns_of_episodes
from workbench.errors import WorkbenchError

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Mapped:
    """A mapped array, as another process opens it."""

    path: str
    dtype: npt.DTypeLike
    offset: int
    shape: tuple[int, ...]

    def opened(self) -> npt.NDArray[Any]:
        """Map it anew."""
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


def columns_of(name: str, source: Any, wanted: Iterable[str]) -> Columns:
    """Return the columns of the data set `name` from what the user gave for it. Of a source that
    has columns of its own, as Minari's data sets have, they are the `wanted` ones.
    """
    if isinstance(source, str | Path):
        return columns_in(name, source, wanted)
    if hasattr(source, "iterate_episodes"):
        return columns_of_episodes(name, source.iterate_episodes(), wanted)
    if isinstance(source, Mapping):
        return {str(column): _array(name, str(column), x) for column, x in source.items()}
    if _is_table(source):
        return {str(c): _array(name, str(c), source[c].to_numpy()) for c in source.columns}
    if isinstance(source, np.ndarray) and source.dtype.names:
        return {column: source[column] for column in source.dtype.names}
    raise WorkbenchError(
        f"the data {name!r} are {_kind(source)}; expected arrays by column, like "
        '{"state": states, "reward": rewards}, a structured array, a pandas table, or a file'
    )


def _is_table(source: Any) -> bool:
    """Tell whether a source is of pandas, which is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def sent(source: Any, columns: Columns) -> Any:
    """Return a source as it is given to another process: files by their names."""
    if isinstance(source, str | Path):
        is_file = not str(source).startswith(MINARI)
        return str(Path(source).absolute()) if is_file else source
    return {name: _sent(values) for name, values in columns.items()}


def _sent(values: npt.NDArray[Any]) -> npt.NDArray[Any] | Mapped:
    if not isinstance(values, np.memmap) or not isinstance(values.base, mmap):
        return np.asarray(values)
    if values.filename is None or not values.flags.c_contiguous:
        return np.asarray(values)
    return Mapped(str(values.filename), values.dtype, values.offset, values.shape)


def _array(name: str, column: str, values: Any) -> npt.NDArray[Any]:
    if isinstance(values, Mapped):
        return values.opened()
    try:
        array: npt.NDArray[Any] = np.asanyarray(values)  # a mapped array stays one
    except ValueError:
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise WorkbenchError(
            f"the data {name!r}: column {column} is {_kind(values)}; expected an array of numbers"
        )
    return array


def _kind(source: Any) -> str:
    if isinstance(source, np.ndarray):
        return f"an array of {source.dtype}"
    return f"of type {type(source).__name__}"
