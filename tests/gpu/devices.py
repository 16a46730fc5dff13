"""The GPU that programs run on, or in its place the fibres that rehearse it."""

from __future__ import annotations

from functools import cache
from typing import Any

from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.cuda.driver import Driver
from workbench.codegen.kernels import program_kernels
from workbench.program.values import Program

GPU, REHEARSED = "gpu", "fibres"


@cache
def driver(where: str) -> Driver:
    """The driver of a GPU, or of fibres."""
    if where == REHEARSED:
        from tests.codegen.cuda.fibres import FibreDriver

        return FibreDriver({})
    from workbench.backends.cuda.cupy_driver import CuPyDriver

    return CuPyDriver()


def name_of(where: str) -> str:
    """The device's name."""
    if where == REHEARSED:
        return REHEARSED
    from workbench.backends.cuda.cupy_driver import device

    return device()


def compiled(program: Program, where: str) -> CudaProgram:
    """A program on the device."""
    return CudaProgram.of(program, program_kernels(program), driver(where))


def fault_of(where: str) -> str:
    """What fibres found wrong so far; a GPU says nothing."""
    found: Any = driver(where)
    return str(found.fault) if where == REHEARSED else ""
