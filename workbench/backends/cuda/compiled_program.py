"""Programs on a GPU, compiled when they are first run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench.backends.compiling.requests import checked_request, run_finite
from workbench.backends.cuda.building.shared_limits import expect_shared
from workbench.backends.cuda.driver import Driver, Kernels
from workbench.backends.cuda.run import CudaRun
from workbench.backends.cuda.run_memory import RunMemory
from workbench.backends.externals import Externals
from workbench.backends.protocol import CompilerWork, Execution, Progress
from workbench.backends.tracker import Capacity
from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.kernel_functions import all_functions, launched
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import ProgramKernels
from workbench.errors import CompilerError
from workbench.lowering.loop_program import LoopProgram
from workbench.program.values import Program


@dataclass(frozen=True)
class CudaProgram:
    """A program whose kernels a driver compiles, when it is first run or prepared."""

    program: Program
    kernels: ProgramKernels = field(repr=False)
    """Those of the program, with memory held in rows."""
    driver: Driver = field(repr=False)
    _loaded: dict[str, Kernels] = field(default_factory=dict, repr=False)
    _launched: dict[str, list[Function | Stages]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, program: Program, kernels: ProgramKernels, driver: Driver) -> CudaProgram:
        """Return a program on a GPU, from its kernels."""
        return cls(program, gpu_kernels(kernels), driver)

    @property
    def loop_program(self) -> LoopProgram:
        """The loop program that the kernels are launched from."""
        return self.kernels.loops

    @cached_property
    def source(self) -> str:
        """The generated text for float32."""
        return "\n".join(function.text for function in all_functions(self.launched("float32")))

    def launched(self, dtype: str) -> list[Function | Stages]:
        """Return what the kernels become for a dtype, in order."""
        if dtype not in self._launched:
            self._launched[dtype] = list(launched(self.kernels, dtype))
        return self._launched[dtype]

    def prepare(self, dtype: str = "float32") -> CompilerWork:
        """Generate, compile and load the kernels for runs with a dtype; return the compiler's
        work.
        """
        return self.loaded(dtype).work

    def loaded(self, dtype: str) -> Kernels:
        """Return the kernels for a dtype, compiled and loaded. Raises RunError for more shared
        memory than a block has, CompilerError with the statement that the compiler speaks of.
        """
        if dtype not in self._loaded:
            made = list(all_functions(self.launched(dtype)))
            expect_shared(self.program, made, self.driver.block_bytes)
            try:
                self._loaded[dtype] = self.driver.load(made)
            except CompilerError as error:
                if error.statement is not None:
                    error.line = self.program.statement[error.statement].line
                raise
        return self._loaded[dtype]

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
        memory = self.memory(known, seed, dtype, capacity, given or {})
        run = CudaRun(self.kernels, self.launched(dtype), self.loaded(dtype), memory, on_progress)
        with Externals(self.program.equations, known, seed) as externals:
            return run.run(externals)

    def memory(
        self,
        sizes: Mapping[str, int],
        seed: int,
        dtype: str,
        capacity: Capacity,
        given: Mapping[str, Any],
    ) -> RunMemory:
        """Return the memory of a run at all sizes. Raises OutOfMemoryError."""
        self.prepare(dtype)
        made = self.launched(dtype)
        return RunMemory(
            self.program, self.kernels, made, self.driver, sizes, seed, dtype, capacity, given
        )
