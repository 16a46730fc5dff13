"""Kernels of which a GPU's constants are measured, and the seconds that they take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from workbench.backends.cuda.driver import Driver
from workbench.codegen.cuda.functions import Function
from workbench.polyhedral.expression import expression

THREADS = 256
LAUNCHES = 1000
"""Launches of a graph, of which one is measured."""
COPIES = 100
"""Copies of a graph: waiting for it takes as long as some of them."""
SWAPPED = 64 << 20
"""The bytes that go to a device and back, of which the bus is measured: for so many the wait for a
copy is nothing.
"""
TURNS = 4096
"""The turns of a loop between barriers, and of one of arithmetic."""
CHAINS = 8
"""Sums of a thread side by side: so many operations hide the time that one takes."""
TRIALS = 5

_GIVEN = "Run *run, unsigned char *own_memory, int64_t own_bytes"
_BEGIN = "    (void)run, (void)own_memory, (void)own_bytes;\n"

_EMPTY = f"KERNEL(probe_empty, {THREADS}, 1)({_GIVEN}) {{\n{_BEGIN}}}\n"
_COPY = (
    f"KERNEL(probe_copy, {THREADS}, 1)({_GIVEN}, ARRAY(float) x, ARRAY(float) y, int64_t n) {{\n"
    f"{_BEGIN}"
    "    for (int64_t k = BLOCK * BLOCK_THREADS + THREAD; k < n; k += BLOCKS * BLOCK_THREADS)\n"
    "        ST(y, k, LD(x, k));\n}\n"
)
_BARRIERS = (
    f"KERNEL(probe_barriers, {THREADS}, 1)({_GIVEN}, ARRAY(float) x, int64_t n) {{\n"
    "    SHARED_MEMORY\n"
    f"    SHARED(float, row, 0, {THREADS})\n"
    f"{_BEGIN}"
    "    const int thread = THREAD;\n"
    "    float sum = (float)thread;\n"
    "    ST(row, thread, sum);\n"
    "    for (int64_t k = 0; k < n; k++) {\n"
    "        BARRIER\n"
    f"        sum += LD(row, (thread + 1) % {THREADS});\n"
    "        BARRIER\n"
    "        ST(row, thread, sum);\n"
    "    }\n"
    "    ST(x, thread, sum);\n}\n"
)


def _fused(kind: str, number: str) -> str:
    """Return a kernel of sums of products, of which each waits for the one before."""
    return (
        f"KERNEL(probe_fused_{kind}, {THREADS}, 1)({_GIVEN}, ARRAY({number}) x, int64_t n) {{\n"
        f"{_BEGIN}"
        "    const int64_t place = BLOCK * BLOCK_THREADS + THREAD;\n"
        f"    {number} sum[{CHAINS}];\n"
        f"    const {number} factor = LD(x, place);\n"
        f"    for (int c = 0; c < {CHAINS}; c++) sum[c] = factor + ({number})c;\n"
        "    for (int64_t k = 0; k < n; k++)\n"
        f"        for (int c = 0; c < {CHAINS}; c++)\n"
        f"            sum[c] = fused_{kind}(sum[c], factor, factor);\n"
        f"    for (int c = 1; c < {CHAINS}; c++) sum[0] += sum[c];\n"
        "    ST(x, place, sum[0]);\n}\n"
    )


def _function(name: str, text: str, arrays: Sequence[str], shared_bytes: int = 0) -> Function:
    none = expression(0)
    sizes = ("n",) if arrays else ()
    return Function(name, text, (), THREADS, shared_bytes, none, none, tuple(arrays), sizes, (), ())


EMPTY = _function("probe_empty", _EMPTY, ())
COPY = _function("probe_copy", _COPY, ("x", "y"))
BARRIERS = _function("probe_barriers", _BARRIERS, ("x",), 4 * THREADS)
FUSED = {
    "float32": _function("probe_fused_f", _fused("f", "float"), ("x",)),
    "float64": _function("probe_fused_d", _fused("d", "double"), ("x",)),
}


class GpuProbes:
    """The probes on a GPU, compiled."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.kernels = driver.load([EMPTY, COPY, BARRIERS, *FUSED.values()]).kernels

    def launch(self) -> float:
        """Return the seconds of a launch in a graph."""
        driver = self.driver
        driver.begin_graph()
        for _ in range(LAUNCHES):
            driver.launch(self.kernels[EMPTY.name], 1, (0, 0, 0))
        graph = driver.end_graph()
        return self._least(lambda: driver.replay(graph)) / LAUNCHES

    def barrier(self, turns: int = TURNS) -> float:
        """Return the seconds between two barriers, with an access to shared memory."""
        return self._seconds(BARRIERS, 1, 4 * THREADS, turns) / (2 * turns)

    def operation(self, dtype: str, turns: int = TURNS) -> float:
        """Return the seconds of an operation of arithmetic, a fused multiply-add being two."""
        blocks = 8 * self.driver.multiprocessors
        item = 4 if dtype == "float32" else 8
        seconds = self._seconds(FUSED[dtype], blocks, item * THREADS * blocks, turns)
        return seconds / (2.0 * CHAINS * turns * THREADS * blocks)

    def byte(self, count: int) -> float:
        """Return the seconds of a byte where so many are copied again and again, in a graph."""
        driver, elements = self.driver, count // 8
        memory = driver.memory(8 * elements)
        driver.fill(memory.address, 0, 8 * elements)
        given = (0, 0, 0, memory.address, memory.address + 4 * elements, elements)
        kernel, blocks = self.kernels[COPY.name], 8 * driver.multiprocessors
        driver.begin_graph()
        for _ in range(COPIES):
            driver.launch(kernel, blocks, given)
        graph = driver.end_graph()
        return self._least(lambda: driver.replay(graph)) / (8 * elements * COPIES)

    def bus(self) -> float:
        """Return the seconds of a byte between pinned memory of the host and the device, over both
        ways.
        """
        driver = self.driver
        memory, host = driver.memory(SWAPPED), driver.host_memory(SWAPPED)
        there, here = memory.address, int(host.ctypes.data)

        def there_and_back() -> None:
            driver.copy(there, here, SWAPPED)
            driver.copy(here, there, SWAPPED)

        return self._least(there_and_back) / (2 * SWAPPED)

    def _seconds(self, function: Function, blocks: int, count: int, turns: int) -> float:
        driver = self.driver
        memory = driver.memory(count)
        driver.fill(memory.address, 0, count)
        given = (0, 0, 0, memory.address, turns)
        return self._least(lambda: driver.launch(self.kernels[function.name], blocks, given))

    def _least(self, ask: Callable[[], object]) -> float:
        """Return the least seconds until what is asked for is done, of some trials."""
        found = []
        for _ in range(TRIALS + 1):  # the first is slower
            self.driver.wait()
            start = time.perf_counter()
            ask()
            self.driver.wait()
            found.append(time.perf_counter() - start)
        return min(found[1:])
