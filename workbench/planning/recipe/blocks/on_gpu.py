"""The plan for a GPU: all that runs over an independent dimension in blocks, enough of them for its
multiprocessors and each with memory that several of them have side by side on one.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.kernel_parts import SIDE_BY_SIDE, SIDE_BY_SIDE_BLOCKS
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.lowering.launches import launches
from workbench.lowering.loops.bytes import bytes_of
from workbench.planning.recipe.blocks.persisted import (
    BLOCKS,
    in_blocks,
    independent,
    recurrent,
    size_for,
)
from workbench.planning.recipe.judging import Judge
from workbench.planning.recipe.plan import Plan, Reasoned
from workbench.planning.recipe.strategies import LARGE
from workbench.program.accumulating import Adding, derived
from workbench.transforms import Recompute

FEWEST = 2
"""The fewest runs of blocks that add up: no two then add to one element."""
SAME = 1.01
"""The limit on time for memory that is saved by the way."""
PARTS = 0.5
"""The bytes of partial sums, at most, for each byte of the rest."""


def on_multiprocessors(start: Plan, judge: Judge) -> Plan:
    """Return the plan in blocks: the largest that leave each multiprocessor one, and of which it
    has two side by side: while the threads of one wait, the other runs. What blocks add up goes to
    as many partial sums as there are blocks at a time, unless these take too much memory.
    """
    machine, plan = judge.machine, recurrent(start)
    lengths = {d: plan.program.dim[d].size.evaluate(judge.sizes) for d in independent(plan)}
    found = plan
    for most in BLOCKS:
        blocks = {d: size_for(n, most, machine.multiprocessors) for d, n in lengths.items()}
        runs = {
            d: runs_for(-(-n // blocks[d]), machine.multiprocessors) for d, n in lengths.items()
        }
        found = in_blocks(plan, blocks, runs)
        if shared_bytes(found, judge.dtype) <= SIDE_BY_SIDE:
            break
    while (most := max(runs.values(), default=0)) > FEWEST and _has_too_many_parts(found, judge):
        runs = {d: max(n // 2, FEWEST) if n == most else n for d, n in runs.items()}
        found = in_blocks(plan, blocks, runs)
    return _without_what_follows(plan, found, judge, lambda again: in_blocks(again, blocks, runs))


def runs_for(blocks: int, multiprocessors: int) -> int:
    """Return in how many runs of blocks sums are added up: the greatest power of two with a place
    beside another one on a multiprocessor for each run, and a block.
    """
    places = SIDE_BY_SIDE_BLOCKS * multiprocessors
    return max(1 << (min(blocks, places).bit_length() - 1), FEWEST)


def shared_bytes(plan: Plan, dtype: str) -> int:
    """Return the most bytes of shared memory of a block, of kernels that have many."""
    made = gpu_kernels(program_kernels(plan.stored.program))
    many = (f for f in functions(made, dtype) if f.kernels[-1].dealing is not None)
    return max((function.shared_bytes for function in many), default=0)


def _without_what_follows(
    start: Plan, found: Plan, judge: Judge, blocked: Callable[[Plan], Plan]
) -> Plan:
    """Return the plan without arrays that follow from others that are there at the peak as well,
    where these are read instead: if that takes less memory, and no more time to speak of.
    """
    kept = judge.exactly(found.stored)
    for array, size in kept.largest.items():
        writers = start.program.writers.get(array, ())  # sums of blocks are none of the start
        reads = {read.array for s in writers for read in s.reads}
        if size < LARGE * kept.peak or not reads or not reads <= {*kept.largest} - {array}:
            continue
        why = f"it follows from {' and '.join(sorted(reads))}, which are kept as well"
        again = start.after_all([Reasoned(Recompute(array), why)])
        if again is None:
            continue
        judged = judge.exactly(blocked(again).stored)
        if judged.peak < kept.peak and judged.seconds <= SAME * kept.seconds:
            start, kept, found = again, judged, blocked(again)
    return found


def _has_too_many_parts(plan: Plan, judge: Judge) -> bool:
    """Tell whether partial sums take too much memory beside the rest."""
    program = plan.stored.program
    loops = launches(program)
    sums = (s for s in derived(program).statements if isinstance(s, Adding) and s.chunks)
    buffers = {loops.stored[s.array].buffer.name: loops.stored[s.array].buffer for s in sums}
    parts = sum(bytes_of(buffer, judge.sizes, judge.dtype) for buffer in buffers.values())
    return parts > PARTS * (loops.peak(judge.sizes, judge.dtype) - parts)
