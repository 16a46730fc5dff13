"""The GPU that programs run on, or in its place the fibres that rehearse it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.cuda.driver import Driver
from workbench.codegen.kernels import program_kernels
from workbench.program.values import Program

GPU, REHEARSED = "gpu", "fibres"


@dataclass(frozen=True)
class Asked:
    """A choice of what is tried: where, whether a few small ones are enough, and words of which one
    is in the name of each.
    """

    where: str
    few: bool = False
    only: tuple[str, ...] = ()

    def wants(self, name: str) -> bool:
        """Tell whether a thing of this name is to be tried."""
        return not self.only or any(word in name for word in self.only)


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


def release_of(where: str) -> str:
    """The release of the GPU's driver, as its own tool tells it."""
    tool = shutil.which("nvidia-smi")
    if tool is None or where == REHEARSED:
        return ""
    asked = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
    return told[0] if told else ""


def compiled(program: Program, where: str) -> CudaProgram:
    """A program on the device."""
    return CudaProgram.of(program, program_kernels(program), driver(where))


def fault_of(where: str) -> str:
    """What fibres found wrong so far; a GPU says nothing."""
    found: Any = driver(where)
    return str(found.fault) if where == REHEARSED else ""
