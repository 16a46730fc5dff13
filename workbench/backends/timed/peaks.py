"""The most that this machine does in a second: arithmetic, and bytes read from memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
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
    """The most operations of arithmetic in a second, a fused multiply-add being two, of so many
    threads as if each had a core's; and the most bytes that one core reads again and again, by how
    many these are.
    """

    flops_per_second: float
    core_bytes_per_second: Mapping[int, float]
    threads: int = 1

    def bytes_per_second(self, touched: float) -> float:
        """Return the most bytes read in a second where so many are touched, by all threads, each of
        its own. What is nearer is no slower.
        """
        level = _level(touched / self.threads)
        known = self.core_bytes_per_second
        held = [n for n in known if n >= level] or [max(known)]
        return max(known[n] for n in held) * self.threads

    @property
    def nearest_bytes_per_second(self) -> float:
        """The most bytes read in a second of the nearest memory that was measured."""
        return self.bytes_per_second(0)

    @property
    def farthest_bytes_per_second(self) -> float:
        """The most bytes read in a second of memory that no cache holds."""
        return self.bytes_per_second(self.threads * max(self.core_bytes_per_second))


def peaks(touched: Iterable[float], dtype: str, threads: int = 1) -> Peaks | None:
    """Measure the peaks for a dtype, and for each of these numbers of bytes; None where there is no
    C compiler.
    """
    try:
        library = _library()
    except (CompilerError, UnavailableError):
        return None
    levels = {_level(n / threads) for n in touched} | {MOST_BYTES}
    read = {n: _core_bytes_per_second(library, n) for n in sorted(levels)}
    return Peaks(_core_flops_per_second(library, dtype) * threads, read, threads)


def _level(touched: float) -> int:
    """Return the least power of two, of those that are measured, that holds so many bytes."""
    least = min(max(int(touched), LEAST_BYTES), MOST_BYTES)
    return 1 << (least - 1).bit_length()


def _library() -> ctypes.CDLL:
    headers = {name: header(name) for name in (*HEADERS, PEAKS)}
    _, library = load([UNIT], find(), headers)
    return library


@cache
def _core_flops_per_second(library: ctypes.CDLL, dtype: str) -> float:
    """Measure one core's arithmetic, once in a process."""
    kind = ctypes.c_float if dtype == "float32" else ctypes.c_double
    operations = library.operations_f if dtype == "float32" else library.operations_d
    operations.restype = ctypes.c_double
    given = (kind * 3)(0.999, 0.001, 0.0)
    return max(float(operations(given, ctypes.c_int64(TURNS))) for _ in range(TRIALS))


@cache
def _core_bytes_per_second(library: ctypes.CDLL, held: int) -> float:
    """Measure one core's reads, once in a process for each level of memory."""
    library.bytes.restype = ctypes.c_double
    sink = (ctypes.c_float * 1)()
    count = held // 4 // GROUP * GROUP
    block = np.ones(count + LINE, np.float32)
    begin = ctypes.c_void_p((block.ctypes.data + LINE - 1) // LINE * LINE)
    turns = ctypes.c_int64(max(READ // held, 1))
    return max(
        float(library.bytes(begin, ctypes.c_int64(count), turns, sink)) for _ in range(TRIALS)
    )
