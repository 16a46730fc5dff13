"""The plan for compiled kernels: all that runs over an independent dimension in blocks, each of
which goes through all of its statements with memory of its own.

No other dimension becomes an axis: what a loop carries stays a loop inside the blocks. Nothing is
predicted where a block fits into a core's cache, so that a program is planned as fast as its steps
are taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.planning.cost.kernels.own_bytes import least_own_bytes, most_own_bytes
from workbench.planning.recipe.blocks.recomputed import own_bytes_of, recomputed
from workbench.planning.recipe.judging import Judge
from workbench.planning.recipe.plan import Plan, Reasoned
from workbench.transforms import Incrementalize, Persist, Vectorize
from workbench.transforms.incrementalize.rewrite import slides
from workbench.transforms.step.refusal import Refused

BLOCKS = (64, 32, 16)
"""The sizes of blocks, the best first: a sum of products is fastest over four vectors, which have
16 lanes each where they are widest. Each next one takes half of the memory.
"""

RUN = 2
"""The least blocks of a run, if there are enough for the threads. A run has partial sums of its
own, as large as all gradients, which are cleared and added up to others for each run.
"""

SOME = 16
"""The runs up to which it costs little to add up what they have."""


def persisted(start: Plan, judge: Judge, cache: int) -> Plan:
    """Return the plan in blocks, of which there are enough for the threads and whose memory is in
    a core's cache of so many bytes. Where none fits, the one that takes least time: the smallest,
    in which arrays are computed again as far as that costs little, or larger ones without any array
    that fills the cache.
    """
    plan, larger = recurrent(start), list[Plan]()
    lengths = {d: plan.program.dim[d].size.evaluate(judge.sizes) for d in independent(plan)}
    for most in BLOCKS:
        blocks = {d: size_for(n, most, judge.threads) for d, n in lengths.items()}
        runs = {d: runs_for(-(-n // blocks[d]), judge.threads) for d, n in lengths.items()}
        found = in_blocks(plan, blocks, runs)
        if most_own_bytes(found.folded.program, judge.sizes, judge.dtype) <= cache:
            return found
        larger.append(found)
        if most != BLOCKS[-1] and least_own_bytes(found.program, judge.dtype) > cache:
            continue
        if own_bytes_of(found, judge) <= cache:
            return found
    smallest = larger.pop()
    return recomputed(smallest, larger, judge, cache)


def recurrent(plan: Plan) -> Plan:
    """Return the plan with each reduction over a growing range as a recurrence."""
    for step in Incrementalize.candidates(plan.program):
        statement = plan.program.statement.get(step.statement)
        if statement is None or step.block is not None or slides(statement, step.dim):
            continue
        why = f"{step.statement} goes on from its neighbour instead of combining its range anew"
        plan = plan.after_all([Reasoned(step, why)]) or plan
    return plan


def runs_for(blocks: int, threads: int) -> int:
    """Return in how many runs of blocks sums are added up: a power of two. Two for each thread,
    since with one each six threads would take eight in the time of twelve, and up to some four,
    since no thread stays as fast as another on a machine that others use. Fewer where a run would
    have less than some blocks, but one for each.
    """
    if threads == 1:
        return 2
    each = 1 << (threads - 1).bit_length()
    runs = max(2 * each, min(4 * each, SOME))
    while runs > threads and blocks < RUN * runs:
        runs //= 2
    return runs


def in_blocks(plan: Plan, blocks: Mapping[str, int], runs: Mapping[str, int]) -> Plan:
    """Return the plan with what runs over each dimension in blocks of a size, dealt to some runs,
    or where that is refused as an axis.
    """
    for dim, size in blocks.items():
        why = (
            f"a block of {size} along {dim} goes through all of its statements with its arrays "
            f"near, in {runs[dim]} runs, which are shared out and which are added up in order"
        )
        axis = Reasoned(Vectorize(dim), f"nothing along {dim} needs anything else along it")
        step = Persist(dim, size, runs[dim])
        plan = _persisted(plan, step, why) or plan.after_all([axis]) or plan
    return plan


def _persisted(plan: Plan, step: Persist, why: str) -> Plan | None:
    """Return the plan after a step, or after the first repair of it that is legal."""
    try:
        return plan.after(step, why)
    except Refused as refused:
        repairs = refused.refusal.repairs
    for repair in repairs:
        after = plan.after_all([Reasoned(repair, why)])
        if after is not None:
            return after
    return None


def independent(plan: Plan) -> list[str]:
    """Return the program's dimensions along which nothing needs anything else, in its order. One
    that only statements of a derivative have has no size of its own.
    """
    steps = (s for s in Vectorize.candidates(plan.program) if s.dim in plan.program.dim)
    return [step.dim for step in steps if step.is_whole(plan.program)]


def size_for(length: int, most: int, threads: int) -> int:
    """Return the largest size of a block, up to `most`, that leaves each thread one. The only value
    of a dimension is a block of one: beside it lanes would be empty.
    """
    if length == 1:
        return 1
    fitting = (n for n in BLOCKS if n <= most and n * threads <= length)
    return next(fitting, BLOCKS[-1])
