"""The arguments of compiled kernels (`run.h`) as a structure of this process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

MOST_NUMBERS = 8
MOST_DIMS = 16

CALL = ctypes.CFUNCTYPE(
    None,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
)


class Arguments(ctypes.Structure):
    """All that a kernel is given but the variables of the loops around it."""

    _fields_: ClassVar[Sequence[tuple[str, Any]]] = (
        ("sizes", ctypes.c_void_p),
        ("buffers", ctypes.c_void_p),
        ("arena", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("places", ctypes.c_void_p),
        ("given", ctypes.c_void_p),
        ("apart", ctypes.c_void_p),
        ("scratch", ctypes.c_void_p),
        ("own", ctypes.c_void_p),
        ("own_bytes", ctypes.c_int64),
        ("own_host", ctypes.c_void_p),
        ("own_host_bytes", ctypes.c_int64),
        ("own_places", ctypes.c_void_p),
        ("seed", ctypes.c_int64),
        ("main_thread", ctypes.c_int64),
        ("stop", ctypes.c_void_p),
        ("pool", ctypes.c_void_p),
        ("failed", ctypes.c_int64),
        ("numbers", ctypes.c_int64 * MOST_NUMBERS),
        ("instance", ctypes.c_int64 * MOST_DIMS),
        ("call", CALL),
    )
