"""Multiprocessors of GPUs: how many blocks one holds, by architecture.

The limits are those of NVIDIA, "CUDA C++ Programming Guide", technical specifications by compute
capability.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.cuda.threads.warps import WARP
from workbench.errors import WorkbenchError

RESERVED = 1024
"""The bytes of shared memory that each block takes beside its own."""
SHARED_STEP = 128
REGISTER_STEP = 256
"""Registers are given to a warp, so many at a time."""


@dataclass(frozen=True)
class Multiprocessor:
    """A multiprocessor: its bytes of shared memory, those that one block may have, its registers,
    and the most warps and blocks.
    """

    shared_bytes: int
    block_bytes: int
    registers: int = 65_536
    warps: int = 64
    blocks: int = 32


KIB = 1024
KNOWN = {
    80: Multiprocessor(164 * KIB, 163 * KIB),
    86: Multiprocessor(100 * KIB, 99 * KIB, warps=48, blocks=16),
    89: Multiprocessor(100 * KIB, 99 * KIB, warps=48, blocks=24),
    90: Multiprocessor(228 * KIB, 227 * KIB),
    100: Multiprocessor(228 * KIB, 227 * KIB),
    120: Multiprocessor(100 * KIB, 99 * KIB, warps=48, blocks=24),
}
"""By the number of the architecture."""


def multiprocessor(architecture: str) -> Multiprocessor:
    """Return what a multiprocessor of an architecture has. Raises WorkbenchError for one whose
    limits are not known.
    """
    number = int(architecture.removeprefix("sm_"))
    if number not in KNOWN:
        known = ", ".join(f"sm_{n}" for n in KNOWN)
        raise WorkbenchError(f"the limits of {architecture} are not known; known are {known}")
    return KNOWN[number]


def resident_blocks(
    of: Multiprocessor, threads: int, registers: int, shared_bytes: int
) -> tuple[int, str]:
    """Return how many blocks a multiprocessor holds at once, and what there is too little of for
    one more.
    """
    if shared_bytes > of.block_bytes:
        return 0, "shared memory"
    warps = -(-threads // WARP)
    shared = -(-(shared_bytes + RESERVED) // SHARED_STEP) * SHARED_STEP
    by_warp = -(-registers * WARP // REGISTER_STEP) * REGISTER_STEP
    limits = {
        "blocks": of.blocks,
        "warps": of.warps // warps,
        "registers": of.registers // (by_warp * warps) if registers else of.blocks,
        "shared memory": of.shared_bytes // shared,
    }
    least = min(limits, key=lambda name: limits[name])
    return limits[least], least
