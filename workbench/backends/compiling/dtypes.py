"""The element types of compiled kernels, as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

_OTHERS = {"int32": np.int32, "int64": np.int64, "bool": np.bool_}


def element_type(dtype: str, real: str) -> np.dtype[Any]:
    """Return the type of elements of a dtype, in a run whose floats are `real`."""
    return np.dtype(_OTHERS.get(dtype, real))
