"""Sources of rows, opened as columns by name. What can be mapped is read when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import WorkbenchError

Columns = Mapping[str, npt.NDArray[Any]]


def columns_of(name: str, source: Any) -> Columns:
    """Return the columns of the data set `name` from what the user gave for it."""
    if isinstance(source, Mapping):
        return {str(column): _array(name, str(column), x) for column, x in source.items()}
    if isinstance(source, np.ndarray) and source.dtype.names:
        return {column: source[column] for column in source.dtype.names}
    raise WorkbenchError(
        f"the data {name!r} are {_kind(source)}; expected arrays by column, like "
        '{"state": states, "reward": rewards}, or a structured array'
    )


def _array(name: str, column: str, values: Any) -> npt.NDArray[Any]:
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
