"""What can be tried on a plan: compound moves, a few ordinary steps that only together help."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from workbench.planning.blockwise import Region, in_blocks, near_size, regions
from workbench.planning.judging import Judged
from workbench.planning.plan import Plan, Reasoned
from workbench.polyhedral.tree import Loop, axis_dims, paths
from workbench.program.operations import APART
from workbench.program.values import Call, Program, walk
from workbench.transforms import Incrementalize, Recompute

WORTH_TRYING = 0.02
"""The share of the time, or of the peak, from which on something is tried."""

DISTANT = 0.1
"""The share of the time that memory must cost before blocks, which are more calls, are tried."""


@dataclass(frozen=True)
class Idea:
    """A compound move. `take` gives the plan after it, None where one of its steps is not legal."""

    name: str
    take: Callable[[Plan], Plan | None]


def lifted(now: Judged) -> Iterator[Idea]:
    """Each moving reduction that takes its time, as a recurrence and in blocks."""
    for step in Incrementalize.candidates(now.plan.program):
        s = now.plan.program.statement[step.statement]
        if step.dim in s.dims and now.share(s.name) > WORTH_TRYING:
            how = "goes on from its neighbour" + (f", {step.block} at a time" if step.block else "")
            yield _one(Reasoned(step, f"{s.name} {how} instead of combining its range anew"))


def nearer(now: Judged) -> Iterator[Idea]:
    """What learns in blocks, where much of the time goes into reaching memory."""
    if now.distant > DISTANT:
        yield from _blocks(now, now.stored, DISTANT)


def smaller(now: Judged) -> Iterator[Idea]:
    """What may save memory: the largest arrays that are live where most is, in blocks or computed
    again.
    """
    large = [array for array, n in now.largest.items() if n > WORTH_TRYING * now.peak]
    yield from _blocks(now, large, WORTH_TRYING)
    again = _recomputable(now.plan.program)
    if set(again) & set(large):
        yield _all_recomputed(now)
    for array in large:
        if array in again:
            yield _recomputed(array)


def _one(reasoned: Reasoned) -> Idea:
    return Idea(str(reasoned.step), lambda plan: plan.after_all([reasoned]))


def _recomputed(array: str) -> Idea:
    return _one(_again(array))


def _again(array: str) -> Reasoned:
    why = f"{array} is computed again where it is read instead of being kept"
    return Reasoned(Recompute(array), why)


def _recomputable(program: Program) -> list[str]:
    """The arrays that can be computed again, but for what blocks are for: their sums."""
    assert program.schedule is not None
    around = paths(program.schedule)
    inside = {
        program.statement[name].array
        for name, path in around.items()
        if any(isinstance(node, Loop) and node.tile is not None for node, _ in path)
    }
    found = (step.array for step in Recompute.candidates(program))
    return [array for array in found if array not in inside]


def _all_recomputed(now: Judged) -> Idea:
    """All that is live where most is and can be computed from the rest of it: the last first, since
    what is computed again reads what the original reads.
    """
    origin = now.plan.program
    cheap = _Cheap(origin, frozenset(now.largest))
    order = {s.array: position for position, s in enumerate(origin.statements)}

    def take(plan: Plan) -> Plan | None:
        done: set[str] = set()
        while True:
            able = [a for a in _recomputable(plan.program) if a in order and cheap.again(a)]
            left = [a for a in able if a not in done]
            if not left:
                return plan if len(plan.taken) > len(now.plan.taken) else None
            last = max(left, key=order.__getitem__)
            done.add(last)
            plan = plan.after_all([_again(last)]) or plan

    return Idea("all that can be again", take)


@dataclass(frozen=True)
class _Cheap:
    """What can be computed again from arrays that are there anyway, without a draw."""

    program: Program
    there: frozenset[str]

    def again(self, array: str, above: frozenset[str] = frozenset()) -> bool:
        """Whether all that its equations read is there, or can be computed again itself."""
        for s in self.program.writers[array]:
            if any(isinstance(b, Call) and b.operation in APART for b in walk(s.body)):
                return False
            for read in s.instances.reads:
                inside = {*above, array}
                if read.array in inside:
                    return False
                if read.array not in self.there and not self.again(read.array, frozenset(inside)):
                    return False
        return True


def _blocks(now: Judged, arrays: Collection[str], share: float) -> Iterator[Idea]:
    """The regions in blocks that write at least a share of the bytes of these arrays: those inside
    most loops first, then those that write most.
    """
    least = share * sum(now.stored[array] for array in arrays)
    found: list[tuple[int, Region]] = []
    for region in _regions(now.plan.program):
        written = {now.plan.program.statement[name].array for name in region.members}
        held = sum(now.stored[array] for array in sorted(written & set(arrays)))
        if held > least:
            found.append((held, region))
    for _, region in sorted(found, key=lambda pair: (-len(pair[1].outside), -pair[0])):
        size = near_size(now.plan.program, region, now.sizes)
        if 2 * size <= _length(now, region):
            yield _in_blocks(region, size)


def _regions(program: Program) -> Iterator[Region]:
    assert program.schedule is not None
    axes = axis_dims(program.schedule)
    for dim in dict.fromkeys(d for s in program.statements for d in axes[s.name]):
        yield from regions(program, dim)


def _in_blocks(region: Region, size: int) -> Idea:
    name = f"blocks of {size}: {region.dim}, {', '.join(region.members)}"
    return Idea(name, lambda plan: in_blocks(plan, region, size))


def _length(now: Judged, region: Region) -> int:
    """How many values of the dimension the longest of a region's arrays has."""
    program, longest = now.plan.program, 0
    for name in region.members:
        array = program.array[program.statement[name].array]
        for d, (lower, upper) in zip(array.dims, array.extent, strict=True):
            if d == region.dim:
                longest = max(longest, (upper - lower).evaluate(now.sizes))
    return longest
