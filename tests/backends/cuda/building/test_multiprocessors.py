"""Blocks of a multiprocessor: published cases of NVIDIA's occupancy calculator, and limits."""

from __future__ import annotations

import pytest

from workbench.backends.cuda.building.multiprocessors import multiprocessor, resident_blocks
from workbench.errors import WorkbenchError


@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "shared", "blocks", "limit"),
    [
        ("sm_80", 256, 32, 0, 8, "warps"),  # 64 warps
        ("sm_80", 256, 64, 0, 4, "registers"),  # 65,536 registers
        ("sm_80", 32, 16, 0, 32, "blocks"),
        ("sm_80", 128, 32, 82_944, 2, "shared memory"),  # 164 KiB, 1 KiB of each reserved
        ("sm_80", 128, 32, 82_945, 1, "shared memory"),
        ("sm_90", 128, 128, 72_576, 3, "shared memory"),
        ("sm_90", 1024, 64, 0, 1, "registers"),
        ("sm_80", 128, 32, 163 * 1024 + 1, 0, "shared memory"),
    ],
)
def test_blocks_of_a_multiprocessor(
    architecture: str, threads: int, registers: int, shared: int, blocks: int, limit: str
) -> None:
    found = resident_blocks(multiprocessor(architecture), threads, registers, shared)
    assert found == (blocks, limit)


def test_an_architecture_whose_limits_are_not_known_is_refused() -> None:
    with pytest.raises(
        WorkbenchError, match="the limits of sm_70 are not known; known are sm_80, "
    ):
        multiprocessor("sm_70")
