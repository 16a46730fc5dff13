"""Programs as kernels on a GPU."""

from __future__ import annotations

from functools import lru_cache

from workbench.backends.compiling.kernel_files import keep, kernels_of
from workbench.backends.cuda.building import nvrtc
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.cuda.cupy_driver import CuPyDriver, device, unavailable
from workbench.backends.threads import expect_threads
from workbench.errors import UnavailableError, WorkbenchError
from workbench.program.values import Program


class CudaBackend:
    """Generated CUDA text, compiled when a program is first run."""

    name = "cuda"

    def unavailable(self) -> str | None:
        """Return what a GPU needs that is not here, or None."""
        return unavailable() or nvrtc.unavailable()

    def device(self) -> str:
        """Return the GPU in use."""
        return device()

    def threads(self, asked: int | None) -> int:
        """Return one, which gives the GPU its work."""
        if asked is not None and expect_threads(asked, anywhere=True) != 1:
            raise WorkbenchError(f"threads {asked!r}; on cuda one thread gives the GPU its work")
        return 1

    def prepare_ahead(self) -> None:
        """Make CUDA ready for this process."""
        driver()

    def compile(self, program: Program) -> CudaProgram:
        """Lower a program to kernels. Raises UnavailableError where they cannot run."""
        reason = self.unavailable()
        if reason is not None:
            raise UnavailableError(f"cuda: {reason}")
        kernels, name, stored = kernels_of(program)
        made = CudaProgram.of(program, kernels, driver())
        if not stored:
            keep(program, kernels, name)
        return made


@lru_cache(maxsize=1)
def driver() -> CuPyDriver:
    """Return this process's GPU."""
    return CuPyDriver()
