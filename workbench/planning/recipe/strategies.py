"""Ideas to try on a plan: compound moves, a few ordinary steps that help only together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from workbench.planning.recipe.blockwise import NEAR, Region, in_blocks, near_size, regions
from workbench.planning.recipe.judging import JudgedPlan
from workbench.planning.recipe.plan import Plan, Reasoned
from workbench.polyhedral.tree import Loop, Tree, axis_dims, loops_above, paths, statements
from workbench.program.bodies import Call, walk
from workbench.program.operations.table import APART
from workbench.program.values import Program
from workbench.transforms import Accumulate, Fuse, Incrementalize, Recompute, Simplify, Swap

WORTH_TRYING = 0.02
"""The least share of the time that is worth an attempt."""

LARGE = 0.05
"""The least share of the peak that makes an array worth reducing."""

FEW = 4
"""The least number of blocks of a dimension."""

DISTANT = 0.1
"""The share of the time that memory must cost before blocks, which are more calls, are tried."""


@dataclass(frozen=True)
class Idea:
    """A compound move. `take` returns the plan after it, None where one of its steps is illegal."""

    name: str
    take: Callable[[Plan], Plan | None]


def lifted(now: JudgedPlan) -> Iterator[Idea]:
    """Yield each moving reduction that costs enough, as a recurrence and in blocks."""
    for step in Incrementalize.candidates(now.plan.program):
        s = now.plan.program.statement[step.statement]
        if step.dim in s.dims and now.share(s.name) > WORTH_TRYING:
            how = "goes on from its neighbour" + (f", {step.block} at a time" if step.block else "")
            yield _one(Reasoned(step, f"{s.name} {how} instead of combining its range anew"))


def nearer(now: JudgedPlan) -> Iterator[Idea]:
    """Yield regions in blocks, where much of the time goes into reaching memory."""
    if now.distant > DISTANT:
        yield from _blocks(now, now.stored, DISTANT, NEAR)


def simpler(now: JudgedPlan) -> Iterator[Idea]:
    """Yield identities that apply."""
    yield _one(Reasoned(Simplify(), "equal equations compute less"))


def smaller(now: JudgedPlan, near: int) -> Iterator[Idea]:
    """Yield what may save memory: the largest arrays live at the peak, in blocks whose widest
    result takes about `near` bytes, recomputed, or summed as soon as they are computed.
    """
    large = _large(now)
    yield from _blocks(now, now.largest, LARGE, near, short=True)
    again = _recomputable(now.plan.program)
    if set(again) & set(large):
        yield _all_recomputed(now)
    for array in large:
        if array in again:
            yield _recomputed(array, again[array])
    yield from _sums(now, large)


def elsewhere(now: JudgedPlan) -> Iterator[Idea]:
    """Yield moves of large arrays at the peak to the host, once all arrays are folded."""
    for array in _large(now):
        why = f"{array} waits in the host's memory for its use"
        yield _one(Reasoned(Swap(array), why))


def _large(now: JudgedPlan) -> list[str]:
    return [array for array, n in now.largest.items() if n > LARGE * now.peak]


def _loops(tree: Tree) -> dict[str, tuple[Loop, ...]]:
    """Return the loops around each statement, outermost first, without axes."""
    return {name: loops_above(path, "loop") for name, path in paths(tree).items()}


def _one(reasoned: Reasoned) -> Idea:
    return Idea(str(reasoned.step), lambda plan: plan.after_all([reasoned]))


# -- recomputed arrays -----------------------------------------------------------------------------


def _recomputed(array: str, steps: Sequence[Recompute]) -> Idea:
    listed = [_reasoned(step) for step in steps]
    return Idea(f"{array} again", lambda plan: plan.after_all(listed))


def _reasoned(step: Recompute) -> Reasoned:
    why = f"{step.array} is computed again where it is read instead of being kept"
    return Reasoned(step, why)


def _recomputable(program: Program) -> dict[str, list[Recompute]]:
    """Return for each recomputable array a step for its readers in each loop in which it is not
    written. Blocks' sums are left to blocks.
    """
    around = _loops(program.schedule)
    returned = {output.array for output in program.outputs}
    readers: dict[str, list[str]] = {}
    for s in program.statements:
        for read in dict.fromkeys(read.array for read in s.reads):
            readers.setdefault(read, []).append(s.name)
    steps: dict[str, list[Recompute]] = {}
    for array in program.arrays:
        homes = [around[s.name] for s in program.writers[array.name]]
        in_blocks = any(loop.tile is not None for loops in homes for loop in loops)
        if not array.dims or array.name in returned or in_blocks or not all(homes):
            continue
        own = {id(loops[-1]) for loops in homes}
        apart: dict[int, list[str]] = {}
        for name in readers.get(array.name, ()):
            if around[name] and id(around[name][-1]) not in own:
                apart.setdefault(id(around[name][-1]), []).append(name)
        if apart:
            steps[array.name] = [Recompute(array.name, tuple(names)) for names in apart.values()]
    return steps


def _all_recomputed(now: JudgedPlan) -> Idea:
    """Return the idea that recomputes all arrays at the peak that follow from the others there: the
    last first, since a clone reads the same arrays as its original.
    """
    origin = now.plan.program
    cheap = _Cheap(origin, frozenset(now.largest))
    order = {s.array: position for position, s in enumerate(origin.statements)}

    def take(plan: Plan) -> Plan | None:
        done: set[str] = set()
        while True:
            able = _recomputable(plan.program)
            left = [a for a in able if a in order and a not in done and cheap.again(a)]
            if not left:
                return plan if len(plan.taken) > len(now.plan.taken) else None
            last = max(left, key=order.__getitem__)
            done.add(last)
            for step in able[last]:
                plan = plan.after_all([_reasoned(step)]) or plan

    return Idea("all that can be again", take)


@dataclass(frozen=True)
class _Cheap:
    """A test for arrays that can be recomputed from stored ones, without a draw."""

    program: Program
    there: frozenset[str]

    def again(self, array: str, above: frozenset[str] = frozenset()) -> bool:
        """Tell whether all that its equations read is stored, or can be recomputed itself."""
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


# -- regions in blocks -----------------------------------------------------------------------------


def _blocks(
    now: JudgedPlan, arrays: Collection[str], share: float, near: int, short: bool = False
) -> Iterator[Idea]:
    """Yield blocks for the regions that write at least a share of the bytes of these arrays: those
    inside most loops first, then those that write most. With `short`, also for what fits into one
    block.
    """
    least = share * sum(now.stored[array] for array in arrays)
    regions: list[tuple[int, Region]] = []
    for region in _regions(now.plan.program):
        written = {now.plan.program.statement[name].array for name in region.members}
        held = sum(now.stored[array] for array in sorted(written & set(arrays)))
        if held > least:
            regions.append((held, region))
    for _, region in sorted(regions, key=lambda pair: (-len(pair[1].outside), -pair[0])):
        size = near_size(now.plan.program, region, now.sizes, near)
        length = _length(now, region)
        if 2 * size > length and not short:
            continue
        size = min(size, 1 << max(0, (length // FEW).bit_length() - 1))
        if size > 1:
            yield _in_blocks(region, size)


def _regions(program: Program) -> Iterator[Region]:
    axes = axis_dims(program.schedule)
    for dim in dict.fromkeys(d for s in program.statements for d in axes[s.name]):
        yield from regions(program, dim)


def _in_blocks(region: Region, size: int) -> Idea:
    name = f"blocks of {size}: {region.dim}, {', '.join(region.members)}"
    return Idea(name, lambda plan: in_blocks(plan, region, size))


def _length(now: JudgedPlan, region: Region) -> int:
    """Return the number of the dimension's values in the longest of a region's arrays."""
    program, longest = now.plan.program, 0
    for name in region.members:
        array = program.array[program.statement[name].array]
        for d, (lower, upper) in zip(array.dims, array.extent, strict=True):
            if d == region.dim:
                longest = max(longest, (upper - lower).evaluate(now.sizes))
    return longest


# -- sums in the loop of their points -------------------------------------------------------------


def _sums(now: JudgedPlan, arrays: Collection[str]) -> Iterator[Idea]:
    """Yield sums over a dimension, added up in the loop over it that computes what is summed."""
    program = now.plan.program
    around = _loops(program.schedule)
    sums_by_loop: dict[int, tuple[Loop, list[str]]] = {}
    for array in arrays:
        for loop in around[program.writers[array][0].name]:
            for s in program.statements:
                summed = loop.name in s.reduction_dims and array in {r.array for r in s.reads}
                if summed and not any(node is loop for node in around[s.name]):
                    sums_by_loop.setdefault(id(loop), (loop, []))[1].append(s.name)
    for loop, sums in sums_by_loop.values():
        yield _added_up(loop, tuple(dict.fromkeys(sums)))


def _added_up(loop: Loop, sums: tuple[str, ...]) -> Idea:
    """Return the sums with their points in the loop that computes what is summed."""
    dim, first = loop.name, next(statements(loop))

    def take(plan: Plan) -> Plan | None:
        why = "each value is added when it is there, and not kept for a sum at the end"
        summed = plan.after_all([Reasoned(Accumulate(dim, sums), why)])
        if summed is None:
            return None
        known = plan.program.statement
        new = [s for s in summed.program.statements if s.name not in known and dim in s.dims]
        names = (first, *(s.name for s in new))
        return summed.after_all([Reasoned(Fuse(names), "what is added is needed no longer")])

    return Idea(f"added up over {dim}: {', '.join(sums)}", take)
