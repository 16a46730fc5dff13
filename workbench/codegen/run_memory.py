"""The memory of a run of compiled kernels: where everything is, and how much there is of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.kernel_work import scratch_bytes
from workbench.codegen.kernels import KEPT, KernelRecords, ProgramKernels
from workbench.identity import remembered
from workbench.lowering.loops.arena import Arena, arena, block_memory
from workbench.lowering.loops.bytes import FLOAT_BYTES, bytes_of
from workbench.lowering.loops.records import DEVICE, Allocate, walk
from workbench.polyhedral.expression import Expression

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
        return max((block.bytes for block in self.blocks if block is not None), default=0)

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
    real = FLOAT_BYTES[dtype]
    scratch: list[int] = []
    blocks: list[Arena | None] = []
    for kernel in made.kernels:
        needed = _scratch_bytes(kernel, real).evaluate(sizes) if space == DEVICE else 0
        of_block = None
        if kernel.dealing is not None:
            begun = (r for r in walk(kernel.body) if isinstance(r, Allocate) and not r.source)
            inside = {record.buffer.name for record in begun}
            held = dict.fromkeys(kernel.own.values())
            outside = [made.buffers[name] for name in held if name not in inside]
            of_block = block_memory(kernel.body, outside, sizes, dtype, space, needed)
        scratch.append(needed if of_block is None else 0)
        blocks.append(of_block)
    own = made.loops.own
    return RunMemory(arena(made.loops.body, sizes, dtype, space, scratch, own), blocks)


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


@remembered(KEPT)
def _scratch_bytes(kernel: KernelRecords, real: int) -> Expression:
    return scratch_bytes(kernel.records, real)
