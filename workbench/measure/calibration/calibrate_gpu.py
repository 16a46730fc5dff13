"""The constants of a GPU, from the seconds of its probes."""

from __future__ import annotations

import datetime
import platform
from dataclasses import replace

from workbench.backends.cuda.building import nvrtc
from workbench.backends.cuda.driver import Driver
from workbench.measure.calibration.gpu_probes import GpuProbes
from workbench.planning.machine.constants import Machine
from workbench.planning.machine.defaults import DEFAULTS

FLOATS = ("float32", "float64")
WORKING_SETS = (4 << 20, 32 << 20, 128 << 20, 512 << 20)
"""Bytes of which those of L2, and those of memory, are measured."""


def measured_gpu(driver: Driver, device: str) -> Machine:
    """Measure the constants of a GPU: launches, barriers, arithmetic, bytes, and the bus to the
    host. Functions take as many operations of arithmetic as is assumed without a measurement, and
    shared memory is as much faster than L2.
    """
    built_in, probes = DEFAULTS["cuda"], GpuProbes(driver)
    product = {dtype: probes.operation(dtype) for dtype in FLOATS}
    slower = {dtype: product[dtype] / built_in.product[dtype] for dtype in FLOATS}
    byte = [(size, probes.byte(size)) for size in WORKING_SETS]
    (shared, near), (_, level_2), *_ = built_in.byte
    return replace(
        built_in,
        call=dict(built_in.call) | {"launch": probes.launch(), "barrier": probes.barrier()},
        element={
            kind: {dtype: rate * slower[dtype] for dtype, rate in rates.items()}
            for kind, rates in built_in.element.items()
        },
        byte=((shared, byte[0][1] * near / level_2), *byte),
        product=product,
        bus=probes.bus(),
        multiprocessors=driver.multiprocessors,
        shared_bytes=driver.shared_bytes,
        device=device,
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={"python": platform.python_version(), "nvrtc": nvrtc.release()},
    )
