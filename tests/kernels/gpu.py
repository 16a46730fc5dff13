"""Whole programs as kernels of a GPU: run as fibres they have the bits of compiled C and no fault,
and NVRTC finds registers for them, on each architecture.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.codegen.cuda.fibres import SEED, fibres, watched
from tests.kernels.programs import Whole, rows
from tests.native_runs import compiled
from workbench.backends.cuda.building.kernel_resources import inspect_kernels
from workbench.backends.cuda.building.multiprocessors import multiprocessor
from workbench.backends.cuda.building.nvrtc import ARCHITECTURES

SIZES = {"B": 20, "I": 2, "T": 6}
HIDDEN = (20,)
"""Layers of runs: with more features than are written out, and no multiple of a row's."""


def wrong_of(whole: Whole, quick: bool = False) -> tuple[list[str], list[str], dict[str, Any]]:
    """What comes out otherwise than it should, what is spilled, and by architecture the kernels,
    and the most registers, bytes of the stack and of shared memory of one.
    """
    program = whole.variant(hidden=(3,) if quick else HIDDEN).program
    sizes = whole.sizes(SIZES)
    given = rows(program, sizes, "float32")
    found, fault = watched(fibres(program, sizes, level=1), sizes, given=given)
    wrong = [f"as fibres: {fault}"] if fault else []
    made = compiled(program)
    made.prepare("float32")
    wanted = made.run(sizes, SEED, "float32", given=given).outputs
    wrong += [
        f"as fibres: {name} has other bits than compiled C"
        for name, values in wanted.items()
        if not np.array_equal(found.get(name, ()), values, equal_nan=values.dtype.kind == "f")
    ]
    told = inspect_kernels(program if quick else whole.variant().program, ARCHITECTURES, "float32")
    wrong += [
        f"{k.kernel} asks for {k.shared_bytes} bytes of shared memory on {k.architecture}"
        for k in told.kernels
        if k.shared_bytes > multiprocessor(k.architecture).block_bytes
    ]
    spilled = [
        f"{k.kernel} spills {k.spilled} bytes on {k.architecture}"
        for k in told.kernels
        if k.spilled
    ]
    by_architecture = {}
    for architecture in ARCHITECTURES:
        own = [kernel for kernel in told.kernels if kernel.architecture == architecture]
        by_architecture[architecture] = [
            len(own),
            *(max(getattr(k, name) for k in own) for name in ("registers", "stack_bytes")),
            max(kernel.shared_bytes for kernel in own),
        ]
    return wrong, spilled, by_architecture
