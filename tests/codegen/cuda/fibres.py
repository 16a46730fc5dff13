"""CUDA text that a C compiler compiles: kernels run thread by thread in place of compiled ones.

All else is as in a run of compiled C: the driver, the memory, checks, results. So a program's
outputs are those of its CUDA kernels, to be compared bit by bit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kernels.builds import Build
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.codegen.cuda.headers import OWN, device_header
from workbench.codegen.cuda.kernel_functions import Function, functions
from workbench.codegen.cuda.small_kernels import held_in_rows, small_in_a_row
from workbench.codegen.kernels import KernelRecords, ProgramKernels, program_kernels
from workbench.codegen.printing.c_names import c_name, title
from workbench.codegen.printing.program_text import HERE, RUNTIME, _Writer
from workbench.codegen.printing.value_text import REALS, STORED
from workbench.errors import RunError
from workbench.names import unique
from workbench.program.values import Program

THREADS = (Path(__file__).parent / "threads.h").read_text(encoding="utf-8")


def _begin() -> str:
    text = "".join(map(device_header, OWN))
    own = "\n".join(line for line in text.splitlines() if not line.startswith("#include"))
    return f'#define RUNTIME_ELSEWHERE\n#include "permutation.h"\n{THREADS}\n{own}\n'


class FibreWriter(_Writer):
    """The writer of a program whose kernels are fibres, but for those of one thread alone."""

    def __init__(self, made: ProgramKernels, dtype: str) -> None:
        super().__init__(made, REALS[dtype], stamped=False)
        self.of_threads: dict[int, tuple[Function | None, bool]] = {}
        for row, threads in zip(small_in_a_row(made), functions(made, dtype), strict=True):
            self.of_threads |= {number: (threads, number == row[-1]) for number in row}
        self.told: set[str] = set()
        """The variables so far that hold what a launch is told."""

    def units(self) -> Iterator[tuple[str, str]]:
        """Yield the runtime, and all else as one unit."""
        yield RUNTIME, HERE
        texts = []
        for place, kernel in enumerate(self.made.kernels):
            name = unique(c_name(f"kernel_{title(kernel)}"), self.taken)
            self.kernels[name], _ = self._kernel(name, kernel, place)
            self.functions.add(name, self.kernels[name], None)
            texts.append(self.kernels[name])
        yield "program", "\n".join([_begin(), *texts, self._driver()])

    def _kernel(
        self, function: str, kernel: KernelRecords, number: int
    ) -> tuple[str, set[str] | None]:
        self.alone.add(function)
        threads, is_last = self.of_threads[number]
        if threads is None:
            return super()._kernel(function, kernel, number)[0], None
        names = {v: f"{v}_of_{threads.name}" for v in threads.variables}
        new = [name for name in names.values() if name not in self.told]
        self.told |= set(new)
        told = [f"    {names[v]} = {self.names[v]};" for v in kernel.variables if v in names]
        begin = [f"static int64_t {name};" for name in new]
        declared = self._declared(function, kernel)
        if not is_last:  # they run where the last of them stands
            return "\n".join([*begin, self._function(declared, ["    (void)run;", *told])]), None
        launch = self._launching(function, threads, declared, told)
        return "\n".join([*begin, threads.text, launch]), None

    def _launching(self, name: str, threads: Function, declared: str, told: Sequence[str]) -> str:
        """Return the function that launches kernels."""
        arrays = []
        for array in threads.arrays:
            buffer = self.made.buffers[array]
            count, stored = self._show(buffer.elements), STORED[self._kind(buffer.dtype)]
            where = f"run->buffers[{self.slots[array]}]"
            arrays.append(f'GIVEN({stored}, "{array}", {where}, {count})')
        sizes = (self.names[n] for n in threads.sizes)
        variables = (f"{v}_of_{threads.name}" for v in threads.variables)
        given = ", ".join(["run", f"memory_of_{name}", "own_bytes", *arrays, *sizes, *variables])
        blocks, own_bytes = self._show(threads.blocks), self._show(threads.own_bytes)
        lines = [
            f"static unsigned char *memory_of_{name};",
            self._function(
                f"static void threads_of_{name}(void)",
                [
                    f"    const int64_t own_bytes = {own_bytes};",
                    f"    fibre_{threads.name}({given});",
                ],
            ),
            self._function(
                declared,
                [
                    "    begin_launches(run);",
                    f"    memory_of_{name} = own_memory_of({own_bytes} * {blocks});",
                    *told,
                    f"    launch({blocks}, {threads.threads}, threads_of_{name});",
                ],
            ),
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class FibreProgram(CompiledProgram):
    """A program whose kernels are fibres."""

    def text_units(self, dtype: str) -> Iterator[tuple[str, str]]:
        """Yield the units."""
        return FibreWriter(self.kernels, dtype).units()

    def watched(
        self, sizes: Mapping[str, int], dtype: str, left_out: int = 0, once: int = 0
    ) -> tuple[Mapping[str, Any], str]:
        """Return the outputs of a run, and the first fault in it, "" if there is none. The barrier
        in line `left_out` is: always, or only the time `once` that a thread comes there.
        """
        self.prepare(dtype)
        _, loaded = self._loaded[dtype]
        asked = {"faults": 0, "left_out": left_out, "left_out_once": once}
        for name, value in asked.items():
            ctypes.c_int64.in_dll(loaded, name).value = value
        outputs: Mapping[str, Any] = {}
        try:
            outputs = self.run(sizes, 3, dtype).outputs
        except RunError:  # a fault may be a number that is no index
            if not ctypes.c_int64.in_dll(loaded, "faults").value:
                raise
        if not ctypes.c_int64.in_dll(loaded, "faults").value:
            return outputs, ""
        return outputs, (ctypes.c_char * 400).in_dll(loaded, "fault").value.decode()


def fibres(program: Program) -> FibreProgram:
    """A program that runs as fibres."""
    return FibreProgram(program, held_in_rows(program_kernels(program)), Build().found())
