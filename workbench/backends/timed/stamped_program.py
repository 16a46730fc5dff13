"""Compiled programs with stamps: each run tells how long its kernels took."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.native.compiled_program import CompiledProgram, NativeRun
from workbench.backends.native.run_arguments import Arguments
from workbench.backends.timed.stamps import TimedRun, logged
from workbench.codegen.kernel_records import Stamp, walk
from workbench.codegen.printing.program.program_text import ProgramText, program_text, units_of
from workbench.program.sizes import resolve

BATCH, BATCHES = 1000, 9
"""The stamps that are made in a row to know what one takes, and how often that is tried."""
SHORTEST = 0.02
"""The seconds in which the ticks of a second are counted, at least."""


class StampedArguments(Arguments):
    """The arguments of a stamped run (`stamps.h`)."""

    _fields_ = (
        ("stamped", ctypes.c_uint64),
        ("ticks", ctypes.c_void_p),
        ("calls", ctypes.c_void_p),
        ("launches", ctypes.c_void_p),
        ("launched", ctypes.c_int64),
        ("most_launches", ctypes.c_int64),
    )


@dataclass(frozen=True)
class StampedProgram(CompiledProgram):
    """A compiled program in which a stamp follows each launch, under its kernel's number; kernels
    may hold stamps of their own.
    """

    def text(self, dtype: str = "float32") -> ProgramText:
        """Return the generated C for a dtype."""
        return program_text(self.kernels, dtype, stamped=True)

    def text_units(self, dtype: str) -> Iterator[tuple[str, str]]:
        """Yield the units of the generated C for a dtype, each when its kernels are made."""
        return units_of(self.kernels, dtype, stamped=True)

    @property
    def stamps(self) -> int:
        """The number of stamps: of kernels, and behind them of what is inside."""
        inside = (r for kernel in self.kernels.kernels for r in walk(kernel.records))
        numbers = (r.number + 1 for r in inside if isinstance(r, Stamp))
        return max(numbers, default=len(self.kernels.kernels))

    def timed(
        self,
        sizes: Mapping[str, int] | None,
        seed: int,
        dtype: str,
        threads: int = 1,
        launches: int = 0,
        given: Mapping[str, Any] | None = None,
    ) -> TimedRun:
        """Run once, and remember when so many `launches` and iterations were. Stamps inside of
        kernels are for one thread.
        """
        known = resolve(self.program.equations, sizes)
        self.prepare(dtype)
        run = _StampedRun(self, known, seed, dtype, None, None, given or {}, threads)
        return run.timed(self._loaded[dtype][1], seed, launches)


class _StampedRun(NativeRun):
    """A run whose arguments have room for stamps."""

    compiled: StampedProgram

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        # all memory is touched before the run: a stamp is not to wait for the system to find some
        self.ticks = np.ones(self.compiled.stamps, np.uint64)
        self.calls = np.ones(self.compiled.stamps, np.int64)
        stamped = StampedArguments()
        ctypes.memmove(
            ctypes.byref(stamped), ctypes.byref(self.arguments), ctypes.sizeof(Arguments)
        )
        stamped.ticks = self.ticks.ctypes.data
        stamped.calls = self.calls.ctypes.data
        self.arguments: StampedArguments = stamped

    def timed(self, library: ctypes.CDLL, seed: int, most: int) -> TimedRun:
        """Run, and read the stamps."""
        cost = self._cost(library)
        self.ticks[:] = self.calls[:] = 0
        log = np.ones((most, 3), np.uint64)
        self.arguments.launches = log.ctypes.data
        self.arguments.most_launches = most
        began = _now(library)
        execution = self.compiled.finished(self, seed)
        while _now(library)[1] - began[1] < SHORTEST:
            time.sleep(SHORTEST / 4)
        ended = _now(library)
        tick = (ended[1] - began[1]) / (ended[0] - began[0])
        launches = log[: self.arguments.launched].astype(np.int64)
        return TimedRun(
            execution,
            (self.ticks * tick).tolist(),
            self.calls.tolist(),
            self.calls.tolist(),
            cost * tick,
            tuple(
                logged(number, (begin - began[0]) * tick, (end - began[0]) * tick, end)
                for number, begin, end in launches.tolist()
            ),
        )

    def _cost(self, library: ctypes.CDLL) -> float:
        """Return the ticks of a stamp."""
        taken = []
        for _ in range(BATCHES):
            self.ticks[0] = 0
            library.stamp_often(ctypes.byref(self.arguments), ctypes.c_int64(BATCH))
            taken.append(int(self.ticks[0]))
        return min(taken) / BATCH


def _now(library: ctypes.CDLL) -> tuple[int, float]:
    """Return the time in ticks and in seconds."""
    library.ticks_now.restype = ctypes.c_uint64
    before = time.perf_counter()
    ticks = int(library.ticks_now())
    return ticks, (before + time.perf_counter()) / 2
