"""Arrays of a block that are computed again where they are read later, so that a block takes less
memory: where none of its sizes lets a core's cache hold it, and that costs little time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from workbench.codegen.kernels import program_kernels
from workbench.codegen.run_memory import run_memory
from workbench.lowering.loops.bytes import bytes_of
from workbench.planning.recipe.judging import Judge
from workbench.planning.recipe.plan import Plan, Reasoned
from workbench.program.text.units import bytes_text
from workbench.transforms import Recompute

LIMIT = 1.125
"""The limit on time: at most so many times as long as with all arrays kept. Memory that lies beyond
caches takes time of its own, so that little of what is computed again is lost.
"""


def recomputed(plan: Plan, judge: Judge, cache: int) -> Plan:
    """Return the plan in which a block has less memory of its own, until it fits into a core's
    cache of so many bytes or the next array would cost too much time.

    Of the arrays that alone fill the cache, the one is next that costs least. A step after blocks
    are made puts what it computes into the loop that reads it.
    """
    held = own_bytes(plan, judge)
    if held <= cache:
        return plan
    limit = LIMIT * judge.exactly(plan.stored).seconds
    while held > cache:
        tried = (
            (judge.exactly(after.stored).seconds, after)
            for after in _without_one(plan, judge, cache)
            if own_bytes(after, judge) < held
        )
        seconds, after = min(tried, key=lambda one: one[0], default=(math.inf, plan))
        if seconds > limit:
            break
        plan, held = after, own_bytes(after, judge)
    return plan


def own_bytes(plan: Plan, judge: Judge) -> int:
    """Return the bytes of a block's own memory."""
    made = program_kernels(plan.stored.program)
    return run_memory(made, judge.sizes, judge.dtype).own_bytes


def _without_one(plan: Plan, judge: Judge, cache: int) -> Iterator[Plan]:
    """Yield the plan with one array computed again, for each that alone fills the cache."""
    made = program_kernels(plan.stored.program)
    for array, stored in made.loops.stored.items():
        size = bytes_of(stored.buffer, judge.sizes, judge.dtype)
        if stored.buffer.name not in made.loops.own or size <= cache:
            continue
        why = f"a block's {bytes_text(size)} of it are in no cache until they are read"
        after = plan.after_all([Reasoned(Recompute(array), why)])
        if after is not None:
            yield after
