"""The memory of a run of compiled kernels: where everything is, and how much there is of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.kernel_work import scratch_bytes
from workbench.codegen.kernels import KEPT, KernelRecords, ProgramKernels
from workbench.identity import remembered
from workbench.lowering.attribution import attributed
from workbench.lowering.loops.arena import Arena, arena, block_memory
from workbench.lowering.loops.bytes import FLOAT_BYTES, bytes_of
from workbench.lowering.loops.records import DEVICE, Allocate, walk
from workbench.polyhedral.expression import Expression
from workbench.program.values import Program

LINE = 64
"""The bytes of a cache line, with one of which memory begins."""


@dataclass(frozen=True)
class RunMemory:
    """The memory of a run in a space: its arrays, on the device with the scratch memory of kernels
    that one thread runs, and for each kernel in blocks what a thread needs for one of them.
    """

    arrays: Arena
    blocks: Sequence[Arena | None]

    @property
    def own_bytes(self) -> int:
        """The bytes of a thread."""
        return most_bytes(self.blocks)

    @property
    def scratch(self) -> list[int]:
        """The place of each kernel's scratch memory, in the arena or in the thread's memory."""
        return [
            place if block is None else block.scratch[0]
            for place, block in zip(self.arrays.scratch, self.blocks, strict=True)
        ]

    def bytes(self, threads: int) -> int:
        """Return the bytes of all: arrays, and behind them the memory of each thread."""
        return self.arrays.bytes + threads * self.own_bytes


def run_memory(
    made: ProgramKernels, sizes: Mapping[str, int], dtype: str, space: str = DEVICE
) -> RunMemory:
    """Lay out a space's memory of a run at all sizes."""
    scratch: list[int] = []
    blocks: list[Arena | None] = []
    for kernel in made.kernels:
        needed = _needed(kernel, sizes, dtype, space)
        of_block = _of_block(made, kernel, sizes, dtype, space, needed)
        scratch.append(needed if of_block is None else 0)
        blocks.append(of_block)
    own = made.loops.own
    return RunMemory(arena(made.loops.body, sizes, dtype, space, scratch, own), blocks)


def block_bytes(made: ProgramKernels, sizes: Mapping[str, int], dtype: str) -> int:
    """Return the bytes of a thread on the device, found without the kernels that no blocks run."""
    return most_bytes(
        _of_block(made, kernel, sizes, dtype, DEVICE, _needed(kernel, sizes, dtype, DEVICE))
        for kernel in made.in_blocks
    )


def most_bytes(blocks: Iterable[Arena | None]) -> int:
    """Return the bytes of the largest block."""
    return max((block.bytes for block in blocks if block is not None), default=0)


def _of_block(
    made: ProgramKernels,
    kernel: KernelRecords,
    sizes: Mapping[str, int],
    dtype: str,
    space: str,
    needed: int,
) -> Arena | None:
    """Lay out what a thread needs for one block of a kernel, scratch memory of `needed` bytes among
    it; None where it has no blocks.
    """
    if kernel.dealing is None:
        return None
    begun = (r for r in walk(kernel.body) if isinstance(r, Allocate) and not r.source)
    inside = {record.buffer.name for record in begun}
    held = dict.fromkeys(kernel.own.values())
    outside = [made.buffers[name] for name in held if name not in inside]
    return block_memory(kernel.body, outside, sizes, dtype, space, needed)


def _needed(kernel: KernelRecords, sizes: Mapping[str, int], dtype: str, space: str) -> int:
    """Return the bytes of a kernel's scratch memory in a space."""
    real = FLOAT_BYTES[dtype]
    return _scratch_bytes(kernel, real).evaluate(sizes) if space == DEVICE else 0


def peak_bytes(
    made: ProgramKernels, sizes: Mapping[str, int], dtype: str, threads: int, space: str = DEVICE
) -> int:
    """Return the bytes that a run takes in a memory space: outputs, arrays, scratch memory, and for
    each thread memory of a block.
    """
    if space != DEVICE and all(buffer.space != space for buffer in made.buffers.values()):
        return 0
    own = run_memory(made, sizes, dtype, space).bytes(threads)
    results = (b for b in made.buffers.values() if b.initial == "nan" and b.space == space)
    return sum(bytes_of(b, sizes, dtype) for b in results) + (own + LINE if own else 0)


def array_bytes(
    made: ProgramKernels, program: Program, sizes: Mapping[str, int], dtype: str, space: str
) -> dict[str, int]:
    """Return the bytes of the arrays that share a space's memory, by the user's names for them."""
    names = attributed(made.loops, program)
    return {
        names.get(name, name): bytes_of(buffer, sizes, dtype)
        for name, buffer in made.buffers.items()
        if name not in made.loops.own and buffer.space == space
    }


@remembered(KEPT)
def _scratch_bytes(kernel: KernelRecords, real: int) -> Expression:
    return scratch_bytes(kernel.records, real)
