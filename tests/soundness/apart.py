"""Orders with blocks that are apart, executed although they are refused: on NumPy, in every order
of blocks, and what blocks that run at once add to.

Memory that nobody has written yet holds what no program computes: NaN, -1, a truth value of 255.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.block_orders import ORDERS, blocks_in
from tests.soundness.order import Point, accessed, run_at, time_in
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference.evaluator import Reference
from workbench.backends.tracker import Memory
from workbench.errors import ProgramError, WorkbenchError
from workbench.polyhedral.tree import loops_above, paths
from workbench.program.accumulating import Adding, derived
from workbench.program.values import Program

SEED = 5


@contextmanager
def unwritten() -> Iterator[None]:
    """Whatever is allocated inside holds no number until it is written."""
    allocate = Memory.allocate

    def marked(
        memory: Memory, name: str, shape: Sequence[int], dtype: Any, initial: str = ""
    ) -> Any:
        array = allocate(memory, name, shape, dtype, initial)
        if not initial:
            array.reshape(-1).view(np.uint8).fill(255)
        return array

    with patch.object(Memory, "allocate", marked):
        yield


def computes_otherwise(program: Program, sizes: Mapping[str, int]) -> bool | None:
    """Whether a run on NumPy gives another output than the equations, in some order of blocks.

    None where what is refused cannot even be lowered.
    """
    try:
        compiled = NumPyBackend().compile(program)
    except (AssertionError, ProgramError):
        return None
    reference = Reference(program.equations, sizes, SEED)
    for order in ORDERS:
        with blocks_in(order), unwritten():
            try:
                outputs = replace(compiled).run(sizes, SEED, "float64").outputs
            except (WorkbenchError, IndexError):  # an index that nobody has computed
                return True
        for o in program.outputs:
            defined = reference.mask(o.array)
            found, wanted = outputs[o.name][defined], reference.array(o.array)[defined]
            if not np.allclose(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True):
                return True
    return False


def added_at_once(program: Program, sizes: Mapping[str, int]) -> bool:
    """Whether two blocks that may run at once add to one element: no partial result for each."""
    program = derived(program)
    around, instances = paths(program.schedule), run_at(program, sizes)
    for s in program.statements:
        if not isinstance(s, Adding):
            continue
        places: dict[Point, set[tuple[int, ...]]] = {}
        above = loops_above(around[s.name], "loop")
        for point in instances[s.name]:
            element = accessed(program, s, point, sizes).written[1]
            dealt = None if s.chunks is None else s.chunks.loop
            at = tuple(time_in(loop, s, point) for loop in above)
            places.setdefault(element, set()).add(at)
        for found in places.values():
            for position, loop in enumerate(above):
                if not loop.apart or loop.name == dealt:
                    continue
                blocks: dict[tuple[int, ...], set[int]] = {}
                for at in found:
                    blocks.setdefault(at[:position], set()).add(at[position])
                if any(len(some) > 1 for some in blocks.values()):
                    return True
    return False
