"""Resources that a program's CUDA kernels take, told without a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.cuda.building import kernel_resources
from workbench.backends.cuda.building.kernel_resources import Inspection
from workbench.backends.cuda.building.nvrtc import ARCHITECTURES
from workbench.program.values import Program
from workbench.variants.variant import Variant, variant


def inspect_kernels(
    program: Program | Variant,
    architectures: Sequence[str] = ARCHITECTURES,
    dtype: str = "float32",
) -> Inspection:
    """Compile a variant's CUDA kernels for GPUs, and tell what each takes: registers, memory, and
    how many of its blocks run at once on a multiprocessor.

    Needs NVRTC (`pip install nvidia-cuda-nvrtc==13.0.48`), and no GPU. `architectures` are names as
    "sm_90". Raises WorkbenchError for an unknown architecture or dtype, UnavailableError where
    there is no NVRTC, CompilerError where it refuses a kernel.
    """
    return kernel_resources.inspect_kernels(variant(program).program, architectures, dtype)
