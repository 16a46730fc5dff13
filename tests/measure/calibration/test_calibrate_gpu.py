"""Constants of a GPU: what the probes compute, and the file that predictions read."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from tests.codegen.cuda.fibres import FibreDriver
from workbench.measure.calibration import calibrate_gpu, gpu_probes
from workbench.measure.calibration.gpu_probes import CHAINS, THREADS, GpuProbes
from workbench.planning.machine.calibrated import file_of, machine, save


def numbers_at(address: int, count: int) -> np.ndarray:
    block = (ctypes.c_float * count).from_address(address)
    return np.frombuffer(block, np.float32, count)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_probes, "TRIALS", 1)
    monkeypatch.setattr(gpu_probes, "LAUNCHES", 3)
    monkeypatch.setattr(gpu_probes, "COPIES", 3)
    monkeypatch.setattr(gpu_probes, "SWAPPED", 1 << 12)
    monkeypatch.setattr(gpu_probes.GpuProbes.barrier, "__defaults__", (3,))
    monkeypatch.setattr(gpu_probes.GpuProbes.operation, "__defaults__", (3,))
    monkeypatch.setattr(calibrate_gpu, "WORKING_SETS", (1 << 12, 1 << 13))


def test_probes_compute_what_is_counted() -> None:
    driver = FibreDriver({}, multiprocessors=1)
    kernels = GpuProbes(driver).kernels
    memory = driver.memory(4 * 2 * THREADS)
    x = numbers_at(memory.address, 2 * THREADS)
    x[:] = np.linspace(0.25, 0.75, 2 * THREADS)
    first = x[:THREADS].copy()
    driver.launch(kernels["probe_fused_f"], 1, (0, 0, 0, memory.address, 3))
    driver.wait()
    sums = first[:, None] + np.arange(CHAINS)
    for _ in range(3):
        sums = sums * first[:, None] + first[:, None]
    np.testing.assert_allclose(x[:THREADS], sums.sum(axis=1), rtol=1e-5)
    given = (0, 0, 0, memory.address, memory.address + 4 * THREADS, THREADS)
    driver.launch(kernels["probe_copy"], 2, given)
    driver.wait()
    np.testing.assert_array_equal(x[:THREADS], x[THREADS:])
    driver.launch(kernels["probe_barriers"], 1, (0, 0, 0, memory.address, 2))
    driver.wait()
    assert driver.fault == ""
    row = np.arange(THREADS, dtype=np.float32)
    for _ in range(2):
        row = row + np.roll(row, -1)
    np.testing.assert_array_equal(x[:THREADS], row)


@pytest.mark.usefixtures("quick")
def test_the_bus_is_measured_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    driver, moved, taken = FibreDriver({}, multiprocessors=1), list[str](), [0.0]
    probes, copy = GpuProbes(driver), driver.copy
    host, memory = driver.host_memory(1 << 12), driver.memory(1 << 12)
    monkeypatch.setattr(driver, "host_memory", lambda count: host)
    monkeypatch.setattr(driver, "memory", lambda count: memory)

    def copied(to: int, source: int, count: int) -> None:
        taken[0] += 1e-3 if source == host.ctypes.data else 3e-3
        moved.append("there" if to == memory.address else "back")
        copy(to, source, count)

    monkeypatch.setattr(driver, "copy", copied)
    monkeypatch.setattr("time.perf_counter", lambda: taken[0])
    assert probes.bus() == pytest.approx(4e-3 / (2 << 12))
    assert moved == ["there", "back"] * 2


@pytest.mark.usefixtures("quick")
def test_what_is_measured_is_predicted_with() -> None:
    driver = FibreDriver({}, multiprocessors=2)
    found = calibrate_gpu.measured_gpu(driver, "a GPU")
    assert found.call["launch"] > 0 and found.call["barrier"] > 0
    assert all(seconds > 0 for _, seconds in found.byte)
    assert found.multiprocessors == 2
    assert found.bus > 0 and found.bus != machine("cuda").bus
    assert found.element["exp"]["float32"] / found.product["float32"] == pytest.approx(
        machine("cuda").element["exp"]["float32"] / machine("cuda").product["float32"]
    )
    assert save(found) == Path(file_of("cuda"))
    assert machine("cuda") == found
