"""Programs on NumPy: the portable default."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backends.arrays.array_functions import Functions, functions_of
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

    def prepare_ahead(self) -> None:
        """Do nothing: array operations are there."""

    def compile(self, program: Program) -> CompiledArrays:
        """Lower and generate."""
        return compile_arrays(program, np, numpy_functions(), around=using_blas_threads)


def numpy_functions() -> Functions:
    """Return NumPy's functions under the names of the table, but for those that are wrong."""
    return functions_of(np, ours={"negative": _negative, "isfinite": _isfinite})


def _negative(x: Any, out: Any) -> None:
    """Negate as a product, which has the zeros of `np.negative` and wraps as it does.

    With AVX-512 the `np.negative` of NumPy 2.4 reads neighbours where it should read every fourth
    number of 4 bytes, if the result's elements lie apart too.
    """
    np.multiply(x, -1, out=out)


def _isfinite(x: Any, out: Any) -> None:
    """Tell what is finite in an array of its own, and copy it.

    With AVX-512 the `np.isfinite` of NumPy 2.4 writes truth values next to each other, though the
    result's elements lie apart.
    """
    out[...] = np.isfinite(x)
