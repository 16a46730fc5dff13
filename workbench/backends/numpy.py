"""Programs on NumPy: the portable default."""

from __future__ import annotations

import numpy as np

from workbench.backends.arrays.array_functions import functions_of
from workbench.backends.arrays.compiled import CompiledArrays, compile_arrays
from workbench.backends.threads import blas_threads, using_blas_threads
from workbench.processor import processor
from workbench.program.values import Program


class NumPyBackend:
    """Generated source over NumPy."""

    name = "numpy"

    def unavailable(self) -> str | None:
        """Return None: always available."""
        return None

    def device(self) -> str:
        """Return the processor."""
        return processor()

    def threads(self, asked: int | None) -> int:
        """Return the threads of matrix products; see `protocol.Backend`."""
        return blas_threads(asked)

    def compile(self, program: Program) -> CompiledArrays:
        """Lower and generate."""
        return compile_arrays(program, np, functions_of(np), around=using_blas_threads)
