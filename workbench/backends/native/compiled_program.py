"""A program as compiled C: its units, its memory, its runs."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends.compiling.dtypes import element_type
from workbench.backends.compiling.kernel_files import keep
from workbench.backends.compiling.requests import checked_request, run_finite
from workbench.backends.externals import Externals
from workbench.backends.failed_checks import failed_check
from workbench.backends.native.building.build import Library, build_ahead
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler
from workbench.backends.native.building.load import load
from workbench.backends.native.building.named import load_named, name_library, named
from workbench.backends.native.run_arguments import CALL, Arguments
from workbench.backends.protocol import CompilerWork, Execution, Progress
from workbench.backends.run_progress import RunProgress
from workbench.backends.tracker import ALL, Capacity, spaces
from workbench.codegen.kernels import ProgramKernels
from workbench.codegen.printing.program.program_names import slots
from workbench.codegen.printing.program.program_text import ProgramText, program_text, units_of
from workbench.codegen.run_memory import LINE, RunMemory, array_bytes, peak_bytes, run_memory
from workbench.codegen.runtime import headers
from workbench.errors import CompilerError, RunError, warn
from workbench.lowering.attribution import attributed
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import DEVICE, HOST, Buffer
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program


@dataclass(frozen=True)
class CompiledProgram:
    """A program whose kernels a C compiler makes, when it is first run or prepared."""

    program: Program
    kernels: ProgramKernels = field(repr=False)
    compiler: Compiler
    stored: bool = True
    """False if the kernels are in no file yet: they go there when their C is compiled."""
    file: str = ""
    """The name of that file, by which their library is known; empty if they are to be in none."""
    _loaded: dict[str, tuple[Library, ctypes.CDLL]] = field(default_factory=dict, repr=False)
    _laid: dict[Any, tuple[RunMemory, RunMemory]] = field(default_factory=dict, repr=False)

    @property
    def loop_program(self) -> LoopProgram:
        """The loop program that the kernels are launched from."""
        return self.kernels.loops

    def text(self, dtype: str = "float32") -> ProgramText:
        """Return the generated C for a dtype."""
        return program_text(self.kernels, dtype)

    @cached_property
    def source(self) -> str:
        """The generated C for float32."""
        return str(self.text())

    def prepare(self, dtype: str = "float32") -> CompilerWork:
        """Generate, compile and load the code for runs with a dtype; return the compiler's work. It
        warns where what was compiled cannot be kept for later.
        """
        if dtype not in self._loaded:
            found = load_named(self._name(dtype)) if self.file and self.stored else None
            self._loaded[dtype] = found or self._made(dtype)
        library, _ = self._loaded[dtype]
        return CompilerWork(0.0 if library.cached else library.seconds, library.cpu_seconds)

    def _made(self, dtype: str) -> tuple[Library, ctypes.CDLL]:
        """Generate the code, and compile what is not known of it."""
        units = self._units(dtype)
        try:
            with self._keeping_kernels():
                made = load(units, self.compiler, headers())
        except CompilerError as error:
            if error.statement is not None:
                error.line = self.program.statement[error.statement].line
            raise
        if made[0].note:
            warn(made[0].note)
        elif self.file:
            name_library(self._name(dtype), made[0])
        return made

    def _name(self, dtype: str) -> str:
        """Return the name of the library of these kernels, which is found without their text."""
        return named([self.file, dtype], self.compiler, headers())

    def text_units(self, dtype: str) -> Iterator[tuple[str, str]]:
        """Yield the units of the generated C for a dtype, each when its kernels are made."""
        return units_of(self.kernels, dtype)

    def _units(self, dtype: str) -> list[Unit]:
        """Return all units. Where kernels are made anew, one is compiled while the next is
        generated.
        """
        units: list[Unit] = []
        for name, text in self.text_units(dtype):
            units.append(Unit(name, text))
            if not self.stored:
                build_ahead(units[-1], self.compiler, headers())
        return units

    @contextmanager
    def _keeping_kernels(self) -> Iterator[None]:
        """Store the kernels, if they are in no file, while a compiler is waited for."""
        if self.stored or self._loaded or not self.file:
            yield
            return
        thread = threading.Thread(target=keep, args=(self.program, self.kernels, self.file))
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def library(self, dtype: str = "float32") -> Library:
        """Return the compiled library for a dtype: its file, and what compiling took."""
        self.prepare(dtype)
        return self._loaded[dtype][0]

    def memory(self, sizes: Mapping[str, int], dtype: str) -> tuple[RunMemory, RunMemory]:
        """Lay out the memory of a run at all sizes, of the device and of the host: once."""
        asked = dtype, *sizes.items()
        if asked not in self._laid:
            device, host = (run_memory(self.kernels, sizes, dtype, s) for s in (DEVICE, HOST))
            self._laid[asked] = device, host
        return self._laid[asked]

    def peak(self, sizes: Mapping[str, int], dtype: str = "float32", threads: int = 1) -> int:
        """Return the bytes of device memory that a run takes: outputs, arrays, scratch memory, and
        for each thread memory of a block.
        """
        return peak_bytes(self.kernels, sizes, dtype, threads)

    def run(
        self,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        on_progress: Progress | None = None,
        check_finite: bool = False,
        capacity: Capacity = None,
        given: Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> Execution:
        """Run once; see `protocol.Compiled`. With `check_finite` NumPy runs instead."""
        if check_finite:
            return run_finite(self.program, sizes, seed, dtype, on_progress, capacity, given)
        known, seed = checked_request(self.program.equations, sizes, seed)
        self.prepare(dtype)
        run = NativeRun(self, known, seed, dtype, capacity, on_progress, given or {}, threads)
        return self.finished(run, seed)

    def finished(self, run: NativeRun, seed: int) -> Execution:
        """Run what is ready to run, with the external objects of a seed."""
        with Externals(self.program.equations, run.sizes, seed) as externals:
            return run.run(self._loaded[run.dtype][1], externals)


class NativeRun:
    """One run: its memory, its launches, what kernels call."""

    def __init__(
        self,
        compiled: CompiledProgram,
        sizes: Mapping[str, int],
        seed: int,
        dtype: str,
        capacity: Capacity,
        on_progress: Progress | None,
        given: Mapping[str, Any],
        threads: int,
    ) -> None:
        self.compiled, self.sizes, self.dtype = compiled, sizes, dtype
        self.threads = threads
        self.made = compiled.kernels
        self.error: BaseException | None = None
        self._allocate(seed, capacity)
        outputs = {
            result.name: self.results[result.buffer].transpose(result.axes)
            for result in self.made.loops.results
        }
        self.progress = RunProgress(self.made.loops, sizes, on_progress, outputs)
        self._give(given)

    # -- memory ------------------------------------------------------------------------------------

    def _allocate(self, seed: int, capacity: Capacity) -> None:
        made, sizes = self.made, self.sizes
        described = partial(attributed, made.loops, self.compiled.program)
        sharing = partial(array_bytes, made, self.compiled.program, sizes, self.dtype)
        memory = spaces(np, capacity, described, sharing)
        books = memory.device
        self.results = {
            name: books.allocate(name, self._shape(buffer), self._dtype(buffer), "nan")
            for name, buffer in made.buffers.items()
            if buffer.initial == "nan"
        }
        device, host = self.compiled.memory(sizes, self.dtype)
        asked = [(books, device.bytes(self.threads)), (memory.host, host.bytes(self.threads))]
        self.blocks = [
            one.allocate(ALL, (needed + LINE if needed else 0,), np.uint8) for one, needed in asked
        ]
        self.peak = memory.peak
        numbers = slots(made)
        self.places = np.zeros(len(numbers) + 1, np.int64)
        self.own_places = np.zeros(len(numbers) + 1, np.int64)
        self.buffers = np.zeros(len(numbers) + 1, np.uintp)
        for layout in (device, host):
            for name, place in layout.arrays.places.items():
                self.places[numbers[name]] = place
            for block in layout.blocks:
                for name, place in () if block is None else block.places.items():
                    self.own_places[numbers[name]] = place
        for name, array in self.results.items():
            self.buffers[numbers[name]] = array.ctypes.data
        self.scratch = np.array([*device.scratch, 0], np.int64)
        self.stop = np.zeros(1, np.int64)
        self.known = np.array([*self.sizes.values(), 0], np.int64)
        begin, begin_host = map(_aligned, self.blocks)
        self.arguments = Arguments(
            sizes=self.known.ctypes.data,
            buffers=self.buffers.ctypes.data,
            arena=begin,
            host=begin_host,
            places=self.places.ctypes.data,
            scratch=self.scratch.ctypes.data,
            own=begin + device.arrays.bytes,
            own_bytes=device.own_bytes,
            own_host=begin_host + host.arrays.bytes,
            own_host_bytes=host.own_bytes,
            own_places=self.own_places.ctypes.data,
            stop=self.stop.ctypes.data,
            seed=seed,
            main_thread=threading.current_thread() is threading.main_thread(),
        )

    def _give(self, given: Mapping[str, Any]) -> None:
        """Let the kernels know where the values from outside are."""
        dtypes = {
            str(call.options["name"]): self._element(call.dtype)
            for statement in self.compiled.program.statements
            for call in statement.calls
            if OPERATIONS[call.operation].given
        }
        arrays = [np.ascontiguousarray(given[n], dtypes[n]) for n in self.made.given]
        apart = [
            array.strides[k] // array.itemsize
            for array, names in zip(arrays, self.made.given.values(), strict=True)
            for k in range(len(names))
        ]
        self.outside = arrays
        self.given = np.array([*(a.ctypes.data for a in arrays), 0], np.uintp)
        self.apart = np.array([*apart, 0], np.int64)
        self.arguments.given = self.given.ctypes.data
        self.arguments.apart = self.apart.ctypes.data

    def _shape(self, buffer: Buffer) -> tuple[int, ...]:
        return tuple(n.evaluate(self.sizes) for n in buffer.shape)

    def _dtype(self, buffer: Buffer) -> Any:
        return self._element(buffer.dtype)

    def _element(self, dtype: str) -> Any:
        return element_type(dtype, self.dtype)

    # -- running -----------------------------------------------------------------------------------

    def run(self, library: ctypes.CDLL, externals: Externals) -> Execution:
        """Run all kernels; raise what a check or an external object has to say."""
        self.arguments.call = CALL(partial(self._call, externals))
        start = time.perf_counter()
        try:
            self._start_threads(library)
            self._launch(library.begin)
            for value in self.progress.iterations:
                self._launch(library.iteration, ctypes.c_int64(value))
                self.progress.step()
            self._launch(library.end)
            self.progress.finish()
        except KeyboardInterrupt:
            pass
        finally:
            library.close_pool(ctypes.byref(self.arguments))
        return self.progress.execution(time.perf_counter() - start, self.peak, self.dtype)

    def _start_threads(self, library: ctypes.CDLL) -> None:
        if self.threads == 1:
            return
        library.open_pool.restype = ctypes.c_int64
        started = library.open_pool(ctypes.byref(self.arguments), ctypes.c_int64(self.threads))
        if started < self.threads:
            raise RunError(
                f"the system started {started} of {self.threads} threads; ask for fewer by threads="
            )

    def _launch(self, entry: Callable[..., Any], *values: Any) -> None:
        entry(ctypes.byref(self.arguments), *values)
        if self.error is not None:
            raise self.error
        if self.arguments.failed:
            check = self.made.checks[self.arguments.failed - 1]
            instance, numbers = self.arguments.instance, self.arguments.numbers
            raise failed_check(self.made.program.equations, check, instance, numbers)
        if self.stop[0]:
            raise KeyboardInterrupt

    def _call(
        self, externals: Externals, site: int, instance: Any, out: int, operands: Any
    ) -> None:
        """Let an external object write its result where a kernel wants it."""
        option = self.made.calls[site].option
        at = [(d, instance[k]) for k, (d, _) in enumerate(option["instance"])]
        given = [
            self._array(operands[k], *described) for k, described in enumerate(option["shapes"])
        ]
        result = self._array(out, *option["shape"])
        try:
            names = (option["name"], option["method"], option["statement"])
            externals.call(*names, at, result, *given)
        except BaseException as error:  # C cannot pass it on
            self.error = error
            self.stop[0] = 1

    def _array(self, address: int, dtype: str, shape: Any) -> npt.NDArray[Any]:
        """Return memory at an address as an array."""
        element = self._element(dtype)
        lengths = tuple(n.evaluate(self.sizes) for n in shape)
        count = int(np.prod(lengths, dtype=np.int64))
        block = (ctypes.c_char * (count * element.itemsize)).from_address(address)
        return np.frombuffer(block, element, count).reshape(lengths)


def _aligned(block: npt.NDArray[np.uint8]) -> int:
    """Return the first address in a block that begins a cache line."""
    return (block.ctypes.data + LINE - 1) // LINE * LINE
