"""Resources of CUDA kernels: registers, memory, and how many blocks run at once.

NVRTC's assembler tells it, so no GPU is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from workbench.backends.cuda.building import nvrtc
from workbench.backends.cuda.building.assembler import Registers, registers_of
from workbench.backends.cuda.building.build import compiled
from workbench.backends.cuda.building.multiprocessors import multiprocessor, resident_blocks
from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.errors import CompilerError
from workbench.lowering.loops.bytes import check_dtype
from workbench.program.values import Program

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class KernelResources:
    """The resources of a kernel on an architecture. Bytes that are `spilled` are stored since
    registers were too few; `stack_bytes` are those of a thread. A multiprocessor holds `blocks` of
    so many `threads` at once, no more of them since `limit` is too little.
    """

    kernel: str
    architecture: str
    threads: int
    registers: int
    spilled: int
    stack_bytes: int
    shared_bytes: int
    blocks: int
    limit: str


@dataclass(frozen=True)
class Inspection:
    """The resources of a program's kernels, as NVRTC of a `release` compiles them. Shows itself as
    a table.
    """

    release: str
    kernels: tuple[KernelResources, ...]

    def frame(self) -> pd.DataFrame:
        """Return a table with a row for each kernel and architecture."""
        import pandas as pd

        return pd.DataFrame([asdict(kernel) for kernel in self.kernels])

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(index=False))

    def __str__(self) -> str:
        return f"NVRTC {self.release}\n{self.frame().to_string(index=False)}"


def inspect_kernels(program: Program, architectures: Sequence[str], dtype: str) -> Inspection:
    """Compile the CUDA kernels of a program for each architecture, and return what they take.

    Raises WorkbenchError for an unknown architecture or dtype, UnavailableError without NVRTC,
    CompilerError where NVRTC refuses the text, with the statement that it speaks of.
    """
    check_dtype(dtype)
    limits = {name: multiprocessor(nvrtc.checked_architecture(name)) for name in architectures}
    made = list(functions(gpu_kernels(program_kernels(program)), dtype))
    found: list[KernelResources] = []
    for architecture, of in limits.items():
        resources = _resources(program, made, architecture)
        for function in made:
            told, shared = resources[function.name], function.shared_bytes
            blocks, limit = resident_blocks(of, function.threads, told.registers, shared)
            found.append(
                KernelResources(
                    function.name, architecture, function.threads, told.registers, told.spilled,
                    told.stack_bytes, shared, blocks, limit,
                )
            )  # fmt: skip
    return Inspection(nvrtc.release(), tuple(found))


def _resources(
    program: Program, made: Sequence[Function], architecture: str
) -> Mapping[str, Registers]:
    """Return what the assembler tells of each kernel by name."""
    try:
        log = "\n".join(unit.log for unit in compiled(made, architecture))
    except CompilerError as error:
        if error.statement is not None:
            error.line = program.statement[error.statement].line
        raise
    return registers_of(log)
