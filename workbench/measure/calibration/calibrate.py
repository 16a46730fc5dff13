"""Measures the constants of predictions, through the functions that generated source calls, and
keeps them in the user's cache directory. Needs a quiet machine for a few seconds.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from workbench.backends import get
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.cuda.backend import CudaBackend, driver
from workbench.backends.protocol import Backend
from workbench.measure.calibration import probes
from workbench.measure.calibration.calibrate_gpu import measured_gpu
from workbench.measure.calibration.calibrate_kernels import measured_kernels
from workbench.measure.calibration.stopwatch import Stopwatch
from workbench.planning.machine.calibrated import save
from workbench.planning.machine.constants import Machine, Rates
from workbench.planning.machine.defaults import DEFAULTS

FLOATS = ("float32", "float64")

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found", float, tuple[int, float])


def calibrate(backend: str) -> tuple[Machine, Path]:
    """Measure and keep the constants of this machine and backend; return them and their file.

    Raises UnavailableError for a backend that is unknown or not available.
    """
    chosen = get(backend)
    if backend == "native":
        machine = measured_kernels()
        return machine, save(machine)
    if isinstance(chosen, CudaBackend):
        machine = measured_gpu(driver(), chosen.device())
        return machine, save(machine)
    compiled = chosen.compile(probes.EMPTY)
    assert isinstance(compiled, CompiledArrays)
    with compiled.around(chosen.threads(None)):
        watch = Stopwatch(compiled.xp, compiled.functions)
        machine = measured(chosen, watch)
    return machine, save(machine)


def measured(backend: Backend, watch: Stopwatch) -> Machine:
    """Return the constants, from the seconds of the probes."""
    call = _least(partial(probes.calls, watch))
    call |= {"external": DEFAULTS[backend.name].call["external"]}  # nobody knows what is called
    product, panel = _by_dtype(watch, call["dot"])
    touched, seconds = probes.first_touch(watch)
    warm, cold = probes.cold_calls(watch)
    return Machine(
        backend=backend.name,
        call=call,
        row=_rows(watch, call, product["float32"], panel["float32"]),
        element=_elements(watch, call),
        byte=_bytes(watch, call["elementwise"]),
        product=product,
        panel=panel,
        fresh=seconds / touched,
        cold=max(1.0, cold / warm),
        device=backend.device(),
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={
            "python": platform.python_version(),
            watch.xp.__name__: watch.xp.__version__,
        },
    )


def _least(probe: Callable[[], dict[Key, Found]]) -> dict[Key, Found]:
    """Return the least of two rounds, a second or so apart: a disturbance seldom lasts as long."""
    first, second = probe(), probe()
    return {key: min(first[key], second[key]) for key in first}


def _elements(watch: Stopwatch, call: Rates) -> dict[str, dict[str, float]]:
    """Return seconds of an element by kind and dtype, without the call's own."""
    seconds: dict[str, dict[str, float]] = {}
    for dtype in FLOATS:
        for kind, (n, spent) in _least(partial(probes.elements, watch, dtype)).items():
            own = call.get(kind, call["elementwise"])
            seconds.setdefault(kind, {})[dtype] = max(0.0, spent - own) / n
    return seconds


def _rows(watch: Stopwatch, call: Rates, product: float, panel: float) -> dict[str, float]:
    """Return seconds of an inner loop by kind."""
    spent = _least(partial(probes.rows, watch))
    rows = {kind: max(0.0, t - call[kind]) / n for kind, (n, t) in spent.items()}
    n = probes.WIDE
    rows["matmul"] = max(0.0, rows["matmul"] - 2 * n**3 * product - 3 * n * n * panel)
    return rows | {"cast": rows["copy"], "fill": rows["copy"]}


def _bytes(watch: Stopwatch, call: float) -> tuple[tuple[int, float], ...]:
    """Return seconds of a byte by working set."""
    spent = _least(partial(probes.bytes_moved, watch))
    return tuple((n, max(0.0, t - call) / n) for n, t in spent.items())


def _by_dtype(watch: Stopwatch, call: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return seconds by dtype: of an arithmetic operation of a matrix product, and of an operand's
    element.
    """
    product, panel = {}, {}
    for dtype in FLOATS:
        spent = _least(partial(probes.products, watch, dtype))
        (largest, seconds), *others = spent.items()
        product[dtype] = seconds / (2.0 * np.prod(largest).item())
        panel[dtype] = _panel(dict(others), call, product[dtype])
    return product, panel


def _panel(spent: Mapping[tuple[int, int, int], float], call: float, product: float) -> float:
    """Return the median seconds of an operand's element of small products, beyond their
    arithmetic.
    """
    each = [
        (t - call - 2 * m * k * n * product) / (m * k + k * n + m * n)
        for (m, k, n), t in spent.items()
    ]
    return max(0.0, float(np.median(each)))
