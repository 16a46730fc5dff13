"""The driver of CuPy beside a stand-in for it: what it asks for, and what it makes of refusals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from workbench.algorithms import reinforce
from workbench.backends.cuda import cupy_driver
from workbench.backends.cuda.cupy_driver import CuPyDriver, _Kernel
from workbench.backends.cuda.driver import Stream
from workbench.backends.protocol import CompilerWork
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.errors import RunError, UnavailableError
from workbench.transforms import Persist
from workbench.variants.variant import variant


class CUDARuntimeError(RuntimeError):
    """As CuPy's: with the number of CUDA's error."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"CUDA error {status}")


class CUDADriverError(RuntimeError):
    """As CuPy's."""


class FakeStream:
    """A stream that may be lost."""

    made: ClassVar[list[FakeStream]] = []

    def __init__(self, non_blocking: bool) -> None:
        assert non_blocking
        self.made.append(self)
        self.ptr = len(self.made)
        self.capturing = False
        self.lost: Exception | None = None
        self.log: list[str] = []

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def begin_capture(self) -> None:
        self.capturing = True

    def wait_event(self, event: FakeEvent) -> None:
        self.log.append(f"follows {event.stream.ptr}")
        if event.stream.capturing:
            self.capturing = True

    def is_capturing(self) -> bool:
        return self.capturing

    def end_capture(self) -> Any:
        assert self.capturing
        others = [s for s in self.made if s.capturing and s is not self]
        joined = {f"follows {other.ptr}" for other in others}
        assert joined <= {*self.log}, "CUDA: a stream is not joined"
        for other in others:
            other.capturing = False
        self.capturing = False
        return SimpleNamespace(launch=lambda stream: stream.log.append("graph"))

    def synchronize(self) -> None:
        assert not self.capturing
        if self.lost is not None:
            raise self.lost


class FakeEvent:
    """An event of a stream: one that waits for it is captured with that stream."""

    def __init__(self, disable_timing: bool) -> None:
        assert disable_timing

    def record(self, stream: FakeStream) -> None:
        self.stream = stream


class FakeDevice:
    """The only device."""

    compute_capability = "90"
    attributes: ClassVar = {"MultiProcessorCount": 132, "MaxSharedMemoryPerBlockOptin": 232_448}

    def __init__(self, number: int = 0) -> None:
        self.id = number

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class FakeMemory:
    """A little memory."""

    def __init__(self, count: int) -> None:
        if count > 1000:
            raise CUDARuntimeError(2 if count < 10_000 else 3)
        self.ptr = 4096


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        memcpyDefault=4,
        getDeviceCount=lambda: 1,
        driverGetVersion=lambda: 13_000,
        memGetInfo=lambda: (10, 20),
        memcpyAsync=lambda *given: None,
    )
    cuda = SimpleNamespace(
        runtime=runtime,
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        Device=FakeDevice,
        Stream=FakeStream,
        Event=FakeEvent,
        Memory=FakeMemory,
    )
    FakeStream.made.clear()
    fake = SimpleNamespace(cuda=cuda)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    cupy_driver.unavailable.cache_clear()
    yield fake
    cupy_driver.unavailable.cache_clear()


def kernel(called: Callable[..., None], name: str = "kernel_x") -> _Kernel:
    return _Kernel(called, name, 128, 64)


class FakeKernel:
    """A kernel that tells when it is loaded."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, name: str, loads: list[str]) -> None:
        self.name, self.loads = name, loads

    @property
    def kernel(self) -> str:
        self.loads.append(self.name)
        return self.name


def test_kernels_are_loaded_before_a_graph_is_captured(
    cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = variant(reinforce(hidden=(4,))).apply(Persist("b", 16)).program
    made = list(functions(gpu_kernels(program_kernels(program)), "float32"))
    loads = list[str]()
    paths = [Path("one.cubin"), Path("two.cubin")]
    monkeypatch.setattr(cupy_driver, "units", lambda given: [given[:1], given[1:]])
    work = CompilerWork(1.0, 2.0)
    monkeypatch.setattr(cupy_driver, "cubins", lambda given, architecture: (paths, work))
    opened: list[str] = []

    def module(path: str) -> Any:
        opened.append(path)
        return SimpleNamespace(get_function=lambda name: FakeKernel(name, loads))

    cupy.RawModule = module
    loaded = CuPyDriver().load(made)
    assert opened == ["one.cubin", "two.cubin"] and loaded.work == work
    assert loads == [function.name for function in made] == list(loaded.kernels)
    for function in made:
        kernel = loaded.kernels[function.name]
        assert (kernel.threads, kernel.shared_bytes) == (function.threads, function.shared_bytes)
        assert kernel.function.max_dynamic_shared_size_bytes == function.shared_bytes


def test_a_kernel_gets_numbers_of_eight_bytes(cupy: Any) -> None:
    calls: list[Any] = []
    CuPyDriver().launch(kernel(lambda *given, **more: calls.append((given, more))), 3, (1, -1))
    (((grid, block, given), more),) = calls
    assert (grid, block, more) == ((3,), (128,), {"shared_mem": 64})
    assert [n.view(np.int64) for n in given] == [1, -1]
    assert {n.dtype for n in given} == {np.dtype(np.uint64)}


@pytest.mark.parametrize("blocks", [0, -2])
def test_a_kernel_without_blocks_is_not_launched(cupy: Any, blocks: int) -> None:
    CuPyDriver().launch(kernel(lambda *_, **__: pytest.fail("launched")), blocks, ())


def test_too_little_memory_is_told_from_other_errors(cupy: Any) -> None:
    driver = CuPyDriver()
    assert driver.memory(8).address == 4096
    assert driver.memory(0).address == 0
    with pytest.raises(MemoryError):
        driver.memory(2000)
    with pytest.raises(CUDARuntimeError, match="error 3"):
        driver.memory(20_000)
    assert driver.free_bytes() == 10 and driver.architecture == "sm_90"


def test_a_lost_device_is_told_with_the_kernels_of_what_was_replayed(cupy: Any) -> None:
    driver = CuPyDriver()
    driver.begin_graph()
    for name in ("kernel_a", "kernel_b"):
        driver.launch(kernel(lambda *_, **__: None, name), 1, ())
    graph = driver.end_graph()
    driver.wait()
    driver.replay(graph)
    assert driver.stream.log == ["graph"]
    driver.stream.lost = CUDARuntimeError(700)
    with pytest.raises(RunError, match=r"gave up in one of kernel_a, kernel_b: .*700.*restart"):
        driver.wait()


def test_copies_of_each_way_are_on_a_stream_of_their_own(cupy: Any) -> None:
    copied: list[tuple[Any, ...]] = []
    cupy.cuda.runtime.memcpyAsync = lambda *given: copied.append(given)
    driver = CuPyDriver()
    driver.copy(1, 2, 3)
    driver.follow(driver.event(), Stream.TO_HOST)
    driver.copy(4, 5, 6, Stream.TO_HOST)
    driver.follow(driver.event(Stream.TO_HOST), Stream.TO_DEVICE)
    driver.copy(6, 5, 4, Stream.TO_DEVICE)
    driver.copy(7, 8, 0, Stream.TO_DEVICE)
    driver.follow(driver.event(Stream.TO_DEVICE))
    main, out, back = (driver.streams[stream].ptr for stream in Stream)
    assert copied == [(1, 2, 3, 4, main), (4, 5, 6, 4, out), (6, 5, 4, 4, back)]
    assert len({main, out, back}) == 3
    logs = [driver.streams[stream].log for stream in Stream]
    assert logs == [[f"follows {back}"], [f"follows {main}"], [f"follows {out}"]]


def test_a_graph_with_copies_that_ctrl_c_left_open_is_dropped(cupy: Any) -> None:
    driver = CuPyDriver()
    driver.begin_graph()
    driver.follow(driver.event(), Stream.TO_HOST)
    driver.follow(driver.event(Stream.TO_HOST), Stream.TO_DEVICE)
    assert all(stream.is_capturing() for stream in driver.streams.values())
    driver.wait()
    assert not any(stream.is_capturing() for stream in driver.streams.values())


@pytest.mark.parametrize("error", [CUDARuntimeError(700), CUDADriverError("gone")])
def test_a_lost_device_is_told_wherever_it_is_noticed(cupy: Any, error: Exception) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    driver = CuPyDriver()
    with pytest.raises(RunError, match="gave up in one of kernel_x"):
        driver.launch(kernel(refuse), 1, ())
    cupy.cuda.runtime.memcpyAsync = refuse
    with pytest.raises(RunError, match="gave up"):
        driver.copy(1, 2, 3)


def test_a_graph_that_ctrl_c_left_open_is_dropped(cupy: Any) -> None:
    driver = CuPyDriver()
    assert driver.end_graph() is None
    driver.begin_graph()
    driver.wait()
    driver.begin_graph()
    driver.begin_graph()
    assert driver.end_graph() is not None and driver.end_graph() is None


def test_what_is_missing_is_said(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (
        ("getDeviceCount", lambda: 0, "no GPU was found"),
        ("driverGetVersion", lambda: 12_040, "driver is for CUDA 12.4; install one for CUDA 13.0"),
    )
    for name, value, said in cases:
        with monkeypatch.context() as patch:
            patch.setattr(cupy.cuda.runtime, name, value)
            cupy_driver.unavailable.cache_clear()
            with pytest.raises(UnavailableError, match=f"cuda: .*{said}"):
                CuPyDriver()
