"""The automatic recipe: an ordinary list of steps, each visible and undoable, found by search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from workbench.collection import without_collection
from workbench.errors import WorkbenchError
from workbench.identity import remembered
from workbench.planning.recipe.aim import Aim
from workbench.planning.recipe.blocks.on_gpu import on_multiprocessors
from workbench.planning.recipe.blocks.persisted import persisted
from workbench.planning.recipe.blockwise import NEAR
from workbench.planning.recipe.judging import Judge, JudgedPlan
from workbench.planning.recipe.plan import Plan
from workbench.planning.recipe.plan_files import AskedSizes, PlanFiles
from workbench.planning.recipe.search import Ideas, Search
from workbench.planning.recipe.strategies import Idea, elsewhere, lifted, nearer, simpler, smaller
from workbench.planning.recipe.vectorized import in_order, vectorized
from workbench.processor import core_cache
from workbench.program.text.units import amount
from workbench.program.values import Program

SLOWER = 2.0
"""The limit on time for memory: at most so many times as long as the fastest run."""

OTHERS = 0.25
"""The weight of a byte held elsewhere, beside one of the peak."""

SMALLER = 4
"""The second block size that is tried: so many times smaller than for speed."""

MOST = 2500
"""The limit on ideas tried of a kind, per statement of the program."""


@remembered(8)
@without_collection()
def planned(program: Program, aim: Aim) -> Plan:
    """Return the steps, of those tried, that serve the aim best. The last few plans are cached: a
    program is run many times, and measured after it was run. Those of earlier processes are in
    files.

    Raises WorkbenchError where no plan fits under the capacity.
    """
    shelf = PlanFiles.of(program, aim)
    plan = shelf.find(program, aim.sizes)
    if plan is None:
        sizes = AskedSizes(aim.sizes)
        plan = _searched(program, replace(aim, sizes=sizes))
        shelf.keep(plan, sizes.asked)
    return plan


def _searched(program: Program, aim: Aim) -> Plan:
    judge = Judge(aim.machine, aim.sizes, aim.dtype, aim.threads, aim.lengths, aim.told)
    limit = MOST // len(program.statements) + 1
    if aim.machine.backend in ("native", "cuda"):
        aim.told("all that is independent in blocks", "")
    if aim.machine.backend == "native":
        blocks = judge.of(persisted(Plan(program), judge, core_cache().bytes))
        return _Frugal(judge, aim, limit, blocks, blocks).planned()
    if aim.machine.backend == "cuda":
        blocks = judge.of(on_multiprocessors(Plan(program), judge))
        return _Frugal(judge, aim, limit, blocks, blocks).planned()
    aim.told("all that is independent as axes", "")
    whole = judge.of(vectorized(Plan(program)))
    whole = Search(judge, _faster, _seconds, limit, best=True).improved(whole)
    fast = Search(judge, nearer, _seconds, limit, best=True).improved(whole)
    return _Frugal(judge, aim, limit, whole, fast).planned()


@dataclass(frozen=True)
class _Frugal:
    """A search for less memory than the fastest plan needs, as far as the aim asks for it."""

    judge: Judge
    aim: Aim
    limit: int
    whole: JudgedPlan
    fast: JudgedPlan

    def planned(self) -> Plan:
        """Return the fastest plan where it will do. Else, for time, return the faster of that plan
        with its arrays on the host and of a smaller one, if they fit; for memory the smallest.
        """
        if self.enough(self.fast):
            return self.fast.plan.stored
        timed = self.aim.objective == "time"
        plans = [*([self.elsewhere(self.fast)] if timed else []), self.least()]
        fitting = [judged for judged in plans if self.fits(judged)]
        if not fitting:
            peak = min(self.judge.exactly(judged.plan.stored).peak for judged in plans)
            raise WorkbenchError(
                f"{self.fast.plan.start.name} does not fit into "
                f"{amount(self.aim.capacity or 0, 'B')}: the least that was found is "
                f"{amount(peak, 'B')} on the device"
            )
        return min(fitting, key=_seconds if timed else _held).plan.stored

    def least(self) -> JudgedPlan:
        """Return the smallest plan after each attempt, until it is enough. Where the device's
        memory is the host's, arrays move to the host only under a capacity: in all they take more.
        """
        least = self.fast
        attempts = [self.large, self.small, self.ordered, self.anyhow]
        if self.aim.machine.has_device_memory or self.aim.capacity is not None:
            attempts.append(self.elsewhere)
        for attempt in attempts:
            if self.enough(least):
                break
            least = min(least, attempt(least), key=_held)
        return least

    def large(self, least: JudgedPlan) -> JudgedPlan:
        """Reduce memory from the fastest plan, where the share saved exceeds the time's growth."""
        return self.search(partial(smaller, near=NEAR), _product).improved(self.fast)

    def small(self, least: JudgedPlan) -> JudgedPlan:
        """Do the same from whole arrays, in smaller blocks."""
        return self.search(partial(smaller, near=NEAR // SMALLER), _product).improved(self.whole)

    def ordered(self, least: JudgedPlan) -> JudgedPlan:
        """Do the same from loops in which each result is used as soon as it can be, if those alone
        hold less.
        """
        plan = in_order(Plan(self.whole.plan.start))
        ordered = self.judge.of(plan) if plan is not None else least
        if _held(ordered) >= _held(least) or not self.allowed(ordered):
            return least
        return self.search(partial(smaller, near=NEAR), _product).improved(ordered)

    def anyhow(self, least: JudgedPlan) -> JudgedPlan:
        """Take whatever saves memory, two ideas together where none does alone."""
        return self.search(partial(smaller, near=NEAR // SMALLER), _held, pairs=True).improved(
            least
        )

    def elsewhere(self, least: JudgedPlan) -> JudgedPlan:
        """Move arrays that wait for their use to the host's memory."""
        start = self.judge.of(least.plan.folded)
        return self.search(elsewhere, _held).improved(start)

    def search(
        self, ideas: Ideas, cost: Callable[[JudgedPlan], float], pairs: bool = False
    ) -> Search:
        """Make a search among the allowed plans, until one is enough."""
        return Search(
            self.judge,
            ideas,
            cost,
            self.limit,
            allowed=self.allowed,
            enough=self.enough,
            pairs=pairs,
        )

    def allowed(self, found: JudgedPlan) -> bool:
        """Tell whether a plan stays within the time limit."""
        return self.aim.capacity is not None or found.seconds <= SLOWER * self.fast.seconds

    def enough(self, found: JudgedPlan) -> bool:
        """Tell whether no better plan is needed."""
        return self.aim.objective == "time" and self.fits(found)

    def fits(self, found: JudgedPlan) -> bool:
        """Tell whether a plan's peak is at most the capacity."""
        capacity = self.aim.capacity
        return capacity is None or self.judge.exactly(found.plan.stored).peak <= capacity


def _faster(now: JudgedPlan) -> Iterator[Idea]:
    yield from lifted(now)
    yield from simpler(now)


def _product(judged: JudgedPlan) -> float:
    return _held(judged) * judged.seconds


def _seconds(judged: JudgedPlan) -> float:
    return judged.seconds


def _held(judged: JudgedPlan) -> float:
    """Return the peak and a little of the memory held elsewhere: where there are two peaks, one
    must be lowered first.
    """
    return judged.peak + OTHERS * sum(judged.stored.values())
