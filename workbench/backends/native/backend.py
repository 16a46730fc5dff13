"""Programs as compiled C on this machine's processor."""

from __future__ import annotations

from workbench.backends.compiling.kernel_files import kernels_of
from workbench.backends.native.building.build import build_ahead
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import find
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.threads import expect_threads
from workbench.codegen.runtime import RUNTIME, headers, runtime_text
from workbench.errors import UnavailableError
from workbench.processor import processor, usable_cores
from workbench.program.values import Program


class NativeBackend:
    """Generated C, compiled when a program is first run."""

    name = "native"

    def unavailable(self) -> str | None:
        """Return why there is no C compiler, or None."""
        try:
            find()
        except UnavailableError as error:
            return error.message
        return None

    def device(self) -> str:
        """Return the processor."""
        return processor()

    def threads(self, asked: int | None) -> int:
        """Return the threads of a run: all processors that this process may use, unless given."""
        return usable_cores() if asked is None else expect_threads(asked)

    def prepare_ahead(self) -> None:
        """Begin to compile the run-time unit, which all programs share, if it is not known."""
        build_ahead(Unit(RUNTIME, runtime_text(RUNTIME)), find(), headers())

    def compile(self, program: Program) -> CompiledProgram:
        """Lower a program to kernels. Raises UnavailableError where there is no C compiler."""
        kernels, name, stored = kernels_of(program)
        return CompiledProgram(program, kernels, find(), stored, name)
