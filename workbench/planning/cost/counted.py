"""Programs with their work counted for a backend: what predictions at any sizes are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.kernel_functions import all_functions, launched
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.cuda.memory.device_memory import other_copies, run_bytes
from workbench.codegen.cuda.small_kernels import is_wide, small_in_a_row
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.run_memory import peak_bytes
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import SPACES, Apply, walk
from workbench.lowering.lower import lower
from workbench.planning.cost.kernels.kernel_seconds import kernel_cost
from workbench.planning.cost.kernels.kernel_steps import KernelStep, kernel_steps
from workbench.planning.cost.kernels.side_by_side import KernelPlace, OnMultiprocessors, OnThreads
from workbench.planning.cost.lengths import Lengths
from workbench.planning.cost.seconds import Share, cost
from workbench.planning.cost.work import CostItem, steps_of
from workbench.planning.machine.constants import Machine
from workbench.program.values import Program


class Counted(Protocol):
    """A lowered program whose work is counted."""

    @property
    def loops(self) -> LoopProgram:
        """The loop program."""
        ...

    @property
    def called(self) -> frozenset[str]:
        """The names of the external objects that a run calls."""
        ...

    def shares(
        self,
        sizes: Mapping[str, int],
        dtype: str,
        machine: Machine,
        threads: int,
        lengths: Lengths,
    ) -> dict[str, Share]:
        """Return the cost of each statement; under "" that of what is between them."""
        ...

    def peak_bytes(self, sizes: Mapping[str, int], dtype: str, threads: int) -> Mapping[str, int]:
        """Return the most bytes held at one time, by memory space."""
        ...

    def copies(self, sizes: Mapping[str, int], threads: int) -> Mapping[str, int]:
        """Return how many there are at a time of each buffer that a block has for itself."""
        ...


@dataclass(frozen=True)
class CountedArrays:
    """A loop program of array operations, which one thread calls."""

    loops: LoopProgram

    @cached_property
    def _steps(self) -> tuple[CostItem, ...]:
        return steps_of(self.loops)

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of the external objects that a run calls."""
        return frozenset(
            str(record.option["name"])
            for record in walk(self.loops.body)
            if isinstance(record, Apply) and record.function == "external"
        )

    def shares(
        self,
        sizes: Mapping[str, int],
        dtype: str,
        machine: Machine,
        threads: int,
        lengths: Lengths,
    ) -> dict[str, Share]:
        """Return the cost of each statement; under "" that of what is between them."""
        return cost(self._steps, sizes, dtype, machine, lengths)

    def peak_bytes(self, sizes: Mapping[str, int], dtype: str, threads: int) -> Mapping[str, int]:
        """Return the most bytes held at one time, by memory space."""
        return {space: self.loops.peak(sizes, dtype, space) for space in SPACES}

    def copies(self, sizes: Mapping[str, int], threads: int) -> Mapping[str, int]:
        """Return how many there are at a time of each buffer that a block has for itself."""
        return {}


@dataclass(frozen=True)
class CountedKernels:
    """A program of compiled kernels."""

    made: ProgramKernels

    @property
    def loops(self) -> LoopProgram:
        """The loop program that kernels are launched from."""
        return self.made.loops

    @cached_property
    def _steps(self) -> dict[str, tuple[KernelStep, ...]]:
        return {}

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of the external objects that a run calls."""
        return frozenset(str(call.option["name"]) for call in self.made.calls)

    def shares(
        self,
        sizes: Mapping[str, int],
        dtype: str,
        machine: Machine,
        threads: int,
        lengths: Lengths,
    ) -> dict[str, Share]:
        """Return the cost of each statement; under "" that of what is between them."""
        if dtype not in self._steps:
            self._steps[dtype] = kernel_steps(self.made, FLOAT_BYTES[dtype])
        on_threads = OnThreads(machine, threads)
        return kernel_cost(
            self._steps[dtype], self.made, sizes, dtype, machine, on_threads, lengths
        )

    def peak_bytes(self, sizes: Mapping[str, int], dtype: str, threads: int) -> Mapping[str, int]:
        """Return the most bytes held at one time, by memory space."""
        return {space: peak_bytes(self.made, sizes, dtype, threads, space) for space in SPACES}

    def copies(self, sizes: Mapping[str, int], threads: int) -> Mapping[str, int]:
        """Return how many there are at a time of each buffer that a block has for itself."""
        return dict.fromkeys(self.made.loops.own, threads)


@dataclass(frozen=True)
class CountedFunctions:
    """A program of kernels that are functions on a GPU, with memory held in rows."""

    made: ProgramKernels

    @property
    def loops(self) -> LoopProgram:
        """The loop program that functions are launched from."""
        return self.made.loops

    @cached_property
    def _by_dtype(self) -> dict[str, tuple[tuple[KernelStep, ...], list[Function | Stages]]]:
        return {}

    def _counted(self, dtype: str) -> tuple[tuple[KernelStep, ...], list[Function | Stages]]:
        if dtype not in self._by_dtype:
            steps = kernel_steps(self.made, FLOAT_BYTES[dtype])
            self._by_dtype[dtype] = steps, list(launched(self.made, dtype))
        return self._by_dtype[dtype]

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of the external objects that a run calls."""
        return frozenset(str(call.option["name"]) for call in self.made.calls)

    def shares(
        self,
        sizes: Mapping[str, int],
        dtype: str,
        machine: Machine,
        threads: int,
        lengths: Lengths,
    ) -> dict[str, Share]:
        """Return the cost of each statement; under "" that of what is between them."""
        steps, functions = self._counted(dtype)
        by_kernel: dict[int, KernelPlace] = {}
        for row, one in zip(small_in_a_row(self.made), functions, strict=True):
            *before, last = (self.made.kernels[number] for number in row)
            placed = KernelPlace(tuple(all_functions((one,))))
            beside = replace(placed, launches=False) if is_wide(self.made, last) else KernelPlace()
            by_kernel |= {id(kernel): beside for kernel in before} | {id(last): placed}
        runs = OnMultiprocessors(machine, by_kernel)
        return kernel_cost(steps, self.made, sizes, dtype, machine, runs, lengths)

    def peak_bytes(self, sizes: Mapping[str, int], dtype: str, threads: int) -> Mapping[str, int]:
        """Return the most bytes held at one time, by memory space."""
        _, functions = self._counted(dtype)
        return run_bytes(self.made, functions, sizes, dtype)

    def copies(self, sizes: Mapping[str, int], threads: int) -> Mapping[str, int]:
        """Return how many there are at a time of each buffer that a block has for itself; none
        of what lies in shared memory.
        """
        _, functions = self._counted("float32")  # blocks are the same in all dtypes
        return other_copies(self.made, functions, sizes)


def counted(program: Program, backend: str) -> Counted:
    """Lower a program for a backend and count its work."""
    if backend == "cuda":
        return CountedFunctions(gpu_kernels(program_kernels(program)))
    if backend == "native":
        return CountedKernels(program_kernels(program))
    return CountedArrays(lower(program))
