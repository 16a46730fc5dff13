"""The state of a run (`device_run.h`) as a structure of this process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

MOST_NUMBERS = 8
MOST_DIMS = 16


class RunState(ctypes.Structure):
    """The seed and the main loop's value; the number of the first check that failed, or 0, with its
    numbers and instance.
    """

    _fields_: ClassVar[Sequence[tuple[str, Any]]] = (
        ("seed", ctypes.c_int64),
        ("iteration", ctypes.c_int64),
        ("failed", ctypes.c_uint64),
        ("numbers", ctypes.c_int64 * MOST_NUMBERS),
        ("instance", ctypes.c_int64 * MOST_DIMS),
    )
