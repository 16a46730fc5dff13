"""The most that this machine does in a second: arithmetic, and bytes read from memory."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache

import numpy as np

from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import find
from workbench.backends.native.building.load import load
from workbench.codegen.runtime import HEADERS, PEAKS, header
from workbench.errors import CompilerError, UnavailableError

UNIT = Unit("peaks", f'#include "{PEAKS}"\n')
LINE = 64
GROUP = 64
"""The numbers that are read at a time: a multiple of four vectors of any processor."""
LEAST_BYTES, MOST_BYTES = 16 << 10, 64 << 20
TURNS, READ = 400_000, 64 << 20
"""The turns of a trial of arithmetic, and the bytes that one of memory reads: some milliseconds."""
TRIALS = 5


@dataclass(frozen=True)
class Peaks:
    """The most operations of arithmetic in a second, a fused multiply-add being two, and the most
    bytes read, of so many threads as if each had a core's.
    """

    flops_per_second: float
    bytes_per_second: float


def peaks(held: int, dtype: str, threads: int = 1) -> Peaks | None:
    """Measure the peaks for a dtype, and for memory of which `held` bytes are read again and again;
    None where there is no C compiler.
    """
    least = min(max(held, LEAST_BYTES), MOST_BYTES)
    try:
        one = _of_a_core(1 << (least - 1).bit_length(), dtype)
    except (CompilerError, UnavailableError):
        return None
    return Peaks(one.flops_per_second * threads, one.bytes_per_second * threads)


@cache
def _of_a_core(held: int, dtype: str) -> Peaks:
    """Measure one core, once in a process for each level of memory."""
    headers = {name: header(name) for name in (*HEADERS, PEAKS)}
    _, library = load([UNIT], find(), headers)
    kind = ctypes.c_float if dtype == "float32" else ctypes.c_double
    operations = library.operations_f if dtype == "float32" else library.operations_d
    operations.restype = library.bytes.restype = ctypes.c_double
    given = (kind * 3)(0.999, 0.001, 0.0)
    sink = (ctypes.c_float * 1)()
    count = held // 4 // GROUP * GROUP
    block = np.ones(count + LINE, np.float32)
    begin = ctypes.c_void_p((block.ctypes.data + LINE - 1) // LINE * LINE)
    turns = ctypes.c_int64(max(READ // held, 1))
    return Peaks(
        max(operations(given, ctypes.c_int64(TURNS)) for _ in range(TRIALS)),
        max(library.bytes(begin, ctypes.c_int64(count), turns, sink) for _ in range(TRIALS)),
    )
