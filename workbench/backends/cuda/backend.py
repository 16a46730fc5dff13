"""Programs on CuPy: the same generated source with a few functions replaced.

The only file that imports cupy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from workbench.backends import philox
from workbench.backends.arrays.array_functions import (
    Functions,
    functions_of,
    segment_add,
    sum_inside,
)
from workbench.backends.arrays.compiled import CompiledArrays, compile_arrays
from workbench.errors import UnavailableError, WorkbenchError, installing
from workbench.program.values import Program


class CudaBackend:
    """Generated source over CuPy."""

    name = "cuda"

    def unavailable(self) -> str | None:
        """Return why CuPy cannot run here, or None."""
        return _reason()

    def device(self) -> str:
        """Return the GPU in use."""
        import cupy

        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        return str(properties["name"].decode())

    def threads(self, asked: int | None) -> int:
        """Return one, which gives the GPU its work."""
        if asked not in (None, 1):
            raise WorkbenchError(f"threads {asked!r}; on cuda one thread gives the GPU its work")
        return 1

    def prepare_ahead(self) -> None:
        """Do nothing: array operations are there."""

    def compile(self, program: Program) -> CompiledArrays:
        """Lower and generate."""
        reason = self.unavailable()
        if reason is not None:
            raise UnavailableError(f"cuda: {reason}")
        import cupy

        return compile_arrays(program, cupy, cupy_functions(cupy), _finish(cupy))


@lru_cache(maxsize=1)
def _reason() -> str | None:
    try:
        import cupy
    except ImportError:
        return f"CuPy is not installed: {installing('cupy-cuda13x')}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # the driver's own exceptions, whatever is missing
        return f"no usable GPU: {error}"
    return None if count else "no GPU was found"


def _finish(cupy: Any) -> Any:
    """Wait for the device, so that times are of work done."""
    return cupy.cuda.get_current_stream().synchronize


def cupy_functions(cupy: Any) -> Functions:
    """Return CuPy's functions under the names of the table."""
    return functions_of(
        cupy,
        lambda row: row.cuda or row.path,
        {
            "take": lambda x, index, axis, out, mode: cupy.take(x, index, axis=axis, out=out),
            "random": partial(_random, cupy),
            "segment_add": partial(_segment_add, cupy),
            "sum_inside": partial(_sum_inside, cupy),
            "to_device": lambda x, out: out.__setitem__(..., cupy.asarray(x)),
            "to_host": lambda x, out: out.__setitem__(..., cupy.asnumpy(x)),
            "on_host": partial(_on_host, cupy),
        },
    )


def _segment_add(cupy: Any, out: Any, value: Any, indices: Any, lower: Sequence[int]) -> None:
    """Add segments on the host: the device's atomic additions come in another order every time."""
    import numpy as np

    host = np.empty(out.shape, out.dtype)
    segment_add(host, cupy.asnumpy(value), [cupy.asnumpy(k) for k in indices], lower)
    out[...] = cupy.asarray(host)


def _sum_inside(cupy: Any, spec: str, out: Any, *operands: Any) -> None:
    """Sum inside a mask on the host, if any value is infinite at all."""
    if cupy.isfinite(cupy.sum(out)):
        return
    host = cupy.asnumpy(out)
    sum_inside(spec, host, *(cupy.asnumpy(x) for x in operands))
    out[...] = cupy.asarray(host)


def _on_host(cupy: Any, function: Any, out: Any, *operands: Any) -> None:
    """Call an external object: operands go to the host, its result comes back."""
    import numpy as np

    host = np.empty(out.shape, out.dtype)
    function(host, *(cupy.asnumpy(x) for x in operands))
    out[...] = cupy.asarray(host)


def _random(cupy: Any, kind: str, out: Any, seed: int, key: int, at: Sequence[Any]) -> None:
    """Draw on the host and copy: bit-identical to every other backend."""
    import numpy as np

    host = np.empty(out.shape, out.dtype)
    here = [int(c) if isinstance(c, int) else cupy.asnumpy(c) for c in at]
    philox.fill(kind, host, seed, key, here)
    out[...] = cupy.asarray(host)
