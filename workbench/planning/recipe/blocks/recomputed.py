"""Arrays of a block that are computed again where they are read later, so that a block takes less
memory: where none of its sizes lets a core's cache hold it, and that costs little time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.codegen.kernels import program_kernels
from workbench.planning.cost.kernels.own_bytes import own_bytes
from workbench.planning.recipe.judging import Judge, JudgedPlan
from workbench.planning.recipe.plan import Plan, Reasoned
from workbench.polyhedral.tree import statements
from workbench.program.text.units import bytes_text
from workbench.transforms import Recompute

LIMIT = 1.125
"""The limit on time: at most so many times as long as with all arrays kept. Memory that lies beyond
caches takes time of its own, so that little of what is computed again is lost.
"""


def recomputed(plan: Plan, larger: Sequence[Plan], judge: Judge, cache: int) -> Plan:
    """Return the plan in which a block has less memory of its own, until it fits into a core's
    cache of so many bytes or the next array would cost too much time. Or the same plan in larger
    blocks without any array that alone fills the cache, where that takes less time, as products
    over more lanes are faster, or not too much more and the other does not fit.

    Of the arrays that alone fill the cache those that cost least come first, each predicted once: a
    plan takes time in proportion to its arrays. A step after blocks are made puts what it computes
    into the loop that reads it.
    """
    kept, held = judge.exactly(plan.stored), own_bytes_of(plan, judge)
    found, fastest, again = plan, kept.seconds, list[str]()
    filling = _by_seconds(kept, cache)
    for array in filling:
        if held <= cache:
            break
        after = _without(plan, [*again, array], kept)
        if after is None or own_bytes_of(after, judge) >= held:
            continue
        seconds = judge.exactly(after.stored).seconds
        if seconds > LIMIT * kept.seconds:
            break
        found, fastest, held = after, seconds, own_bytes_of(after, judge)
        again.append(array)
    if held > cache:
        fastest = LIMIT * kept.seconds
    for one in larger:
        after = _without(one, filling, kept)
        seconds = math.inf if after is None else judge.exactly(after.stored).seconds
        if after is not None and seconds < fastest:
            found, fastest = after, seconds
    return found


def own_bytes_of(plan: Plan, judge: Judge) -> int:
    """Return the bytes of a block's own memory under a plan."""
    return own_bytes(plan.stored.program, judge.sizes, judge.dtype)


def _by_seconds(kept: JudgedPlan, cache: int) -> list[str]:
    """Return the arrays of a block that alone fill the cache: first that which takes least to
    compute.
    """
    program = kept.plan.program
    loops = program_kernels(program).loops
    own = {array for array, stored in loops.stored.items() if stored.buffer.name in loops.own}
    seconds = {
        array.name: sum(kept.share(s.name) for s in program.writers[array.name])
        for array in program.arrays
        if array.name in own and kept.stored[array.name] > cache
    }
    return sorted(seconds, key=seconds.__getitem__)


def _without(plan: Plan, arrays: Sequence[str], kept: JudgedPlan) -> Plan | None:
    """Return the plan with arrays computed again, the last that is computed first: what it is
    computed from is then read where it is computed again.
    """
    order = {name: k for k, name in enumerate(statements(plan.program.schedule))}

    def computed(array: str) -> int:
        return max(order[s.name] for s in plan.program.writers[array])

    steps = (
        Reasoned(
            Recompute(array),
            f"a block's {bytes_text(kept.stored[array])} of it are in no cache until they are read",
        )
        for array in sorted(arrays, key=computed, reverse=True)
    )
    return plan.after_all([*steps])
