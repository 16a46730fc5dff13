"""CUDA by CuPy: memory to the byte, machine code from files, three streams, their graphs.

The only file that imports cupy. CuPy's memory pools and its compiler are not used: the first round
up and keep what is freed, the second flushes numbers near 0 to 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends.cuda.building.build import cubins, units
from workbench.backends.cuda.driver import Kernels, Stream
from workbench.codegen.cuda.functions import Function
from workbench.errors import RunError, UnavailableError, installing

WHEEL = "cupy-cuda13x"
LEAST_DRIVER = 13000
"""The oldest driver that runs machine code of the compiler's release, as CUDA numbers it: 13.0."""
TOO_LITTLE_MEMORY = 2
"""`cudaErrorMemoryAllocation`."""
NAMED = 3
"""The kernels that an error names."""


@lru_cache(maxsize=1)
def unavailable() -> str | None:
    """Return why there is no GPU for CuPy, or None."""
    try:
        import cupy
    except ImportError:
        return f"CuPy is not installed: {installing(WHEEL)}"
    runtime = cupy.cuda.runtime
    try:
        count, version = runtime.getDeviceCount(), runtime.driverGetVersion()
    except Exception as error:  # the driver's own exceptions, whatever is missing
        return f"no usable GPU: {error}"
    if not count:
        return "no GPU was found"
    if version < LEAST_DRIVER:
        has, needs = (f"{v // 1000}.{v % 1000 // 10}" for v in (version, LEAST_DRIVER))
        return f"the NVIDIA driver is for CUDA {has}; install one for CUDA {needs} or newer"
    return None


def device() -> str:
    """Return the name of the GPU in use."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return str(properties["name"].decode())


@dataclass(frozen=True)
class _Memory:
    """Memory of the device. It goes back to it with this object."""

    held: Any = field(repr=False)
    address: int


@dataclass(frozen=True)
class _Kernel:
    """A function with the threads of a block and its bytes of shared memory."""

    function: Any = field(repr=False)
    name: str
    threads: int
    shared_bytes: int


@dataclass(frozen=True)
class _Graph:
    """A graph, and the names of the kernels in it."""

    graph: Any = field(repr=False)
    kernels: tuple[str, ...]


class CuPyDriver:
    """The current CUDA device of CuPy."""

    def __init__(self) -> None:
        reason = unavailable()
        if reason is not None:
            raise UnavailableError(f"cuda: {reason}")
        import cupy

        self.cupy, self.runtime = cupy, cupy.cuda.runtime
        self.number = cupy.cuda.Device().id
        self.streams = {stream: cupy.cuda.Stream(non_blocking=True) for stream in Stream}
        self.launched: dict[str, None] = {}
        """The kernels since it was waited for."""

    @property
    def architecture(self) -> str:
        """The device's architecture, as sm_90."""
        return f"sm_{self.cupy.cuda.Device(self.number).compute_capability}"

    @property
    def multiprocessors(self) -> int:
        """The number of its multiprocessors."""
        return int(self.cupy.cuda.Device(self.number).attributes["MultiProcessorCount"])

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory of each."""
        attributes = self.cupy.cuda.Device(self.number).attributes
        return int(attributes["MaxSharedMemoryPerMultiprocessor"])

    @property
    def block_bytes(self) -> int:
        """The most bytes of it that a block may have."""
        attributes = self.cupy.cuda.Device(self.number).attributes
        return int(attributes["MaxSharedMemoryPerBlockOptin"])

    def load(self, functions: Sequence[Function]) -> Kernels:
        """Compile functions, or find them compiled, and load them; see `driver.Driver`."""
        paths, work = cubins(functions, self.architecture)
        kernels = {}
        for path, unit in zip(paths, units(functions), strict=True):
            module = self.cupy.RawModule(path=str(path))
            for function in unit:
                loaded = module.get_function(function.name)
                _ = loaded.kernel  # CuPy loads it now, not while a graph is captured
                if function.shared_bytes:
                    loaded.max_dynamic_shared_size_bytes = function.shared_bytes
                kernels[function.name] = _Kernel(
                    loaded, function.name, function.threads, function.shared_bytes
                )
        return Kernels(kernels, work)

    def free_bytes(self) -> int:
        """Return the bytes of the device's memory that nobody has."""
        return int(self.runtime.memGetInfo()[0])

    def memory(self, count: int) -> _Memory:
        """Return new memory of the device. Raises MemoryError where there is too little."""
        if not count:
            return _Memory(None, 0)
        with self._refusing():
            held = self.cupy.cuda.Memory(count)
        return _Memory(held, int(held.ptr))

    def host_memory(self, count: int) -> npt.NDArray[Any]:
        """Return new pinned memory of the host as bytes. Raises MemoryError where there is too
        little.
        """
        if not count:
            return np.empty(0, np.uint8)
        mapped = self.runtime.hostAllocMapped | self.runtime.hostAllocPortable
        with self._refusing():
            held = self.cupy.cuda.PinnedMemory(count, mapped)
        return np.frombuffer(self.cupy.cuda.PinnedMemoryPointer(held, 0), np.uint8, count)

    def copy(self, to: int, source: int, count: int, stream: Stream = Stream.KERNELS) -> None:
        """Copy bytes between addresses of the device or of the host."""
        if count:
            kind = self.runtime.memcpyDefault  # addresses tell on which side they are
            with self._asking():
                self.runtime.memcpyAsync(to, source, count, kind, self.streams[stream].ptr)

    def event(self, stream: Stream = Stream.KERNELS) -> Any:
        """Return the event that all is done that a stream was asked for so far."""
        with self._asking():
            event = self.cupy.cuda.Event(disable_timing=True)
            event.record(self.streams[stream])
        return event

    def follow(self, event: Any, stream: Stream = Stream.KERNELS) -> None:
        """Do what a stream is asked for from now on when an event has come."""
        with self._asking():
            self.streams[stream].wait_event(event)

    @property
    def stream(self) -> Any:
        """The stream of kernels, and of all that is not beside."""
        return self.streams[Stream.KERNELS]

    def fill(self, to: int, value: int, count: int) -> None:
        """Give each of so many bytes a value."""
        if count:
            with self._asking():
                self.runtime.memsetAsync(to, value, count, self.stream.ptr)

    def launch(self, kernel: _Kernel, blocks: int, given: Sequence[int]) -> None:
        """Launch a kernel in so many blocks. It is given addresses and integers."""
        if blocks <= 0:
            return
        self.launched[kernel.name] = None
        arguments = tuple(np.uint64(n & 0xFFFF_FFFF_FFFF_FFFF) for n in given)
        with self._asking(), self.stream:
            kernel.function((blocks,), (kernel.threads,), arguments, shared_mem=kernel.shared_bytes)

    def begin_graph(self) -> None:
        """Put what is asked for from now on into a graph."""
        self._drop_graph()
        with self._asking():
            self.stream.begin_capture()

    def end_graph(self) -> _Graph | None:
        """Return the graph, None where none was begun."""
        if not self.stream.is_capturing():
            return None
        with self._asking():
            return _Graph(self.stream.end_capture(), tuple(self.launched))

    def replay(self, graph: _Graph) -> None:
        """Do what a graph holds."""
        self.launched |= dict.fromkeys(graph.kernels)
        with self._asking():
            graph.graph.launch(self.stream)

    def mark(self) -> Any:
        """Return a mark of the time when all that was asked for so far is done."""
        with self._asking():
            event = self.cupy.cuda.Event()
            event.record(self.stream)
        return event

    def seconds_between(self, one: Any, other: Any) -> float:
        """Return the seconds between two marks, both of which are waited for."""
        return float(self.cupy.cuda.get_elapsed_time(one, other)) / 1000

    def wait(self) -> None:
        """Wait until all is done; a graph that was begun is dropped. Raises RunError where a kernel
        did what it must not.
        """
        self._drop_graph()
        with self._asking():
            for stream in self.streams.values():
                stream.synchronize()
        self.launched.clear()

    def _drop_graph(self) -> None:
        """End a graph that Ctrl-C left open, behind the copies in it."""
        if self.stream.is_capturing():
            for beside in (Stream.TO_HOST, Stream.TO_DEVICE):
                if self.streams[beside].is_capturing():
                    self.follow(self.event(beside))
            with self._asking():
                self.stream.end_capture()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Ask this driver's device; turn what CUDA says of a lost one into RunError."""
        lost = (self.runtime.CUDARuntimeError, self.cupy.cuda.driver.CUDADriverError)
        try:
            with self.cupy.cuda.Device(self.number):
                yield
        except lost as error:
            names = list(self.launched)
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            where = f" in one of {', '.join(names[:NAMED])}{more}" if names else ""
            raise RunError(
                f"the GPU gave up{where}: {error}. Nothing on it can be reached from this process "
                "any more: restart it (in Jupyter, the kernel)"
            ) from None

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn CUDA's error for too little memory into MemoryError."""
        try:
            with self.cupy.cuda.Device(self.number):
                yield
        except self.runtime.CUDARuntimeError as error:
            if error.status != TOO_LITTLE_MEMORY:
                raise
            raise MemoryError(str(error)) from None
