"""A GPU in a C compiler: memory is this process's, kernels run thread by thread (`threads.h`).

What is asked for is done when it is waited for, and not before: a result that is looked at too
early is not there. All else is as on a GPU: launches, graphs, memory, checks.
"""

from __future__ import annotations

import ctypes
import re
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.kernels.builds import Build
from tests.native_runs import shared_cache
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.cuda.driver import Kernels
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.load import load
from workbench.backends.protocol import CompilerWork
from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.headers import OWN, device_header
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.runtime import headers
from workbench.errors import RunError
from workbench.program.sizes import resolve
from workbench.program.values import Program

THREADS = (Path(__file__).parent / "threads.h").read_text(encoding="utf-8")
SEED = 3
_ARRAY = re.compile(r"\bARRAY\((\w+)\) (\w+)")


def unit(made: Iterable[Function]) -> str:
    """Functions as one C text, with a function that launches each."""
    own = "".join(map(device_header, OWN))
    plain = "\n".join(line for line in own.splitlines() if not line.startswith("#include"))
    begin = f'#include "number_draws.h"\n{THREADS}\n{plain}\n'
    return "\n".join([begin, *(f"{function.text}\n{_launching(function)}" for function in made)])


def _launching(function: Function) -> str:
    """The C function that launches one."""
    (head,) = (line for line in function.text.splitlines() if line.startswith("KERNEL("))
    arrays = [
        f'GIVEN({number}, "{name}", given_now[{3 + k}], counts_now[{k}])'
        for k, (number, name) in enumerate(_ARRAY.findall(head))
    ]
    first = 3 + len(arrays)
    count = first + len(function.sizes) + len(function.variables)
    numbers = [f"given_now[{k}]" for k in range(first, count)]
    own = ["(Run *)given_now[0]", "(unsigned char *)given_now[1]", "given_now[2]"]
    return (
        f"static void threads_of_{function.name}(void) {{\n"
        f"    fibre_{function.name}({', '.join([*own, *arrays, *numbers])});\n}}\n"
        f"EXPORTED void launch_{function.name}"
        "(int64_t blocks, const int64_t *given, const int64_t *counts) {\n"
        "    const uint64_t floats = begin_exact_floats();\n"
        "    given_now = given, counts_now = counts;\n"
        "    memset((void *)given[1], 0xff, (size_t)(given[2] * blocks));\n"
        f"    launch(blocks, {function.threads}, threads_of_{function.name});\n"
        "    end_exact_floats(floats);\n}\n"
    )


@dataclass(frozen=True)
class HeldMemory:
    """Memory of the device."""

    held: npt.NDArray[Any] = field(repr=False)
    address: int


@dataclass
class FibreDriver:
    """A GPU whose kernels know how many elements the arrays have that they are given."""

    elements: Mapping[str, int]
    log: list[str] = field(default_factory=list)
    """What was asked for, in order."""
    asked: list[tuple[str, Callable[[], object]]] = field(default_factory=list)
    """What is not done yet."""
    before: list[tuple[str, Callable[[], object]]] = field(default_factory=list)
    """What was asked for before a graph was begun."""
    multiprocessors: int = 4
    shared_bytes: int = 228 << 10
    block_bytes: int = 227 << 10
    bytes: int = 0
    """The bytes of the device's memory that are held."""
    most_bytes: int = 0

    def load(self, made: Sequence[Function]) -> Kernels:
        """Compile functions as C."""
        with shared_cache():
            library, self.library = load([Unit("program", unit(made))], Build().found(), headers())
        self.library.forget_all()
        kernels = {f.name: (f, getattr(self.library, f"launch_{f.name}")) for f in made}
        return Kernels(kernels, CompilerWork(library.seconds, library.cpu_seconds))

    def free_bytes(self) -> int:
        """A gigabyte in all."""
        return 2**30 - self.bytes

    def memory(self, count: int) -> HeldMemory:
        """Memory that holds anything."""
        if count > self.free_bytes():
            raise MemoryError
        self.bytes += count
        self.most_bytes = max(self.most_bytes, self.bytes)
        held = self._known(np.full(count + 1, 0xA5, np.uint8))
        weakref.finalize(held, self._free, count)
        return HeldMemory(held, held.ctypes.data)

    def _free(self, count: int) -> None:
        self.bytes -= count

    def host_memory(self, count: int) -> npt.NDArray[Any]:
        """Memory that holds anything."""
        return self._known(np.full(count + 1, 0xA5, np.uint8))[:count]

    def _known(self, held: npt.NDArray[Any]) -> npt.NDArray[Any]:
        address = ctypes.c_int64(held.ctypes.data)
        self.library.know(address, ctypes.c_int64(held.nbytes))
        weakref.finalize(held, self.library.forget, address)
        return held

    def copy(self, to: int, source: int, count: int) -> None:
        """Copy later."""
        self._ask(f"copy {count} bytes", lambda: ctypes.memmove(to, source, count))

    def fill(self, to: int, value: int, count: int) -> None:
        """Fill later."""
        self._ask(f"fill {count} bytes", lambda: ctypes.memset(to, value, count))

    def launch(self, kernel: Any, blocks: int, given: Sequence[int]) -> None:
        """Launch later."""
        function, launching = kernel
        numbers = (ctypes.c_int64 * len(given))(*given)
        known = [self.elements.get(name, 2**31) for name in function.arrays]
        counts = (ctypes.c_int64 * (len(known) + 1))(*known)
        text = f"launch {function.name} in {blocks}"
        self._ask(text, lambda: launching(ctypes.c_int64(blocks), numbers, counts))

    def _ask(self, text: str, do: Callable[[], object]) -> None:
        self.log.append(text)
        self.asked.append((text, do))

    def begin_graph(self) -> None:
        """Keep what was asked for before apart."""
        self.log.append("begin graph")
        self.before, self.asked = self.asked, []

    def end_graph(self) -> Any:
        """What was asked for since."""
        self.log.append("end graph")
        graph, self.asked = self.asked, self.before
        return graph

    def replay(self, graph: Any) -> None:
        """Do all of it later."""
        self.log.append(f"replay {len(graph)} launches")
        self.asked += graph

    def mark(self) -> Any:
        """A list that gets the time later."""
        mark: list[float] = []
        self.asked.append(("mark", lambda: mark.append(time.perf_counter())))
        return mark

    def seconds_between(self, one: Any, other: Any) -> float:
        """The seconds between two times."""
        return float(other[0] - one[0])

    def wait(self) -> None:
        """Do what was asked for."""
        self.log.append("wait")
        for _, do in self.asked:
            do()
        self.asked.clear()

    @property
    def fault(self) -> str:
        """The first fault of a run, "" if there is none."""
        if not ctypes.c_int64.in_dll(self.library, "faults").value:
            return ""
        return (ctypes.c_char * 400).in_dll(self.library, "fault").value.decode()


def fibres(program: Program, sizes: Mapping[str, int] | None = None) -> CudaProgram:
    """A program that runs as fibres, at these sizes."""
    made = program_kernels(program)
    known = resolve(program.equations, sizes)
    elements = {name: buffer.elements.evaluate(known) for name, buffer in made.buffers.items()}
    return CudaProgram.of(program, made, FibreDriver(elements))


def text_of(made: ProgramKernels, dtype: str = "float32") -> str:
    """The C text that is compiled for a program."""
    return unit(functions(gpu_kernels(made), dtype))


def watched(
    made: CudaProgram,
    sizes: Mapping[str, int],
    dtype: str = "float32",
    left_out: int = 0,
    once: int = 0,
    **more: Any,
) -> tuple[Mapping[str, Any], str]:
    """The outputs of a run, and the first fault in it, "" if there is none. The barrier in line
    `left_out` is: always, or only the time `once` that a thread comes there.
    """
    driver = made.driver
    assert isinstance(driver, FibreDriver)
    made.prepare(dtype)
    asked = {"faults": 0, "left_out": left_out, "left_out_once": once}
    for name, value in asked.items():
        ctypes.c_int64.in_dll(driver.library, name).value = value
    outputs: Mapping[str, Any] = {}
    try:
        outputs = made.run(sizes, SEED, dtype, **more).outputs
    except RunError:  # a fault may be a number that is no index
        if not driver.fault:
            raise
    return outputs, driver.fault
