"""Greedy search over plans by predicted cost.

It tries the ideas that fit where the cost lies and keeps those that help; where none helps alone,
it tries pairs. Nothing depends on clocks or on the order of sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from workbench.planning.recipe.judging import Judge, JudgedPlan
from workbench.planning.recipe.strategies import Idea
from workbench.transforms.step.transform import Transform

BETTER = 0.98
"""The share of the old cost that a better plan costs at most."""

SIMILAR = 1.01
"""The ratio of costs below which the first of two ideas is taken."""

AHEAD = 2
"""The number of ideas without effect alone that pairs are formed with."""


Ideas = Callable[[JudgedPlan], Iterator[Idea]]
"""A function that yields the ideas for a plan."""


@dataclass
class Search:
    """A search that improves plans. `ideas` offers what to try; `cost` is minimized; `allowed`
    tells acceptable plans, `enough` ends the search; at most `limit` plans are judged.

    With `best`, all ideas are tried and the best is taken, else the first that helps. An idea that
    did not help is not tried again, but, with `pairs`, together with another.
    """

    judge: Judge
    ideas: Ideas
    cost: Callable[[JudgedPlan], float]
    limit: int
    allowed: Callable[[JudgedPlan], bool] = lambda judged: True
    enough: Callable[[JudgedPlan], bool] = lambda judged: False
    best: bool = False
    pairs: bool = True
    failed: set[str] = field(default_factory=set)
    known: dict[tuple[tuple[Transform, ...], str], JudgedPlan | None] = field(default_factory=dict)
    """The results of ideas, by the steps before them and their names."""
    tries: int = 0

    def improved(self, now: JudgedPlan) -> JudgedPlan:
        """Improve the plan until no idea, and no pair of those tried, makes it better."""
        while not self.enough(now):
            better = self.alone(now) or (self.paired(now) if self.pairs else None)
            if better is None:
                return now
            now = better
        return now

    def alone(self, now: JudgedPlan) -> JudgedPlan | None:
        """Return the plan after an idea that helps."""
        helping: list[JudgedPlan] = []
        for idea in self.ideas(now):
            if idea.name in self.failed:
                continue
            judged = self.after(now, idea)
            if judged is None or not self.better(judged, now):
                self.failed.add(idea.name)
                continue
            if not self.best:
                return judged
            helping.append(judged)
        least = min(map(self.cost, helping), default=0.0)
        return next((judged for judged in helping if self.cost(judged) <= SIMILAR * least), None)

    def paired(self, now: JudgedPlan) -> JudgedPlan | None:
        """Return the plan after two ideas that help together."""
        tried = [(idea, self.after(now, idea)) for idea in self.ideas(now)]
        harmless = [(idea, judged) for idea, judged in tried if judged is not None]
        harmless.sort(key=lambda pair: self.cost(pair[1]))
        for first, middle in harmless[:AHEAD]:
            for idea in self.ideas(middle):
                both = self.after(middle, idea) if idea.name != first.name else None
                if both is not None and self.better(both, now):
                    return both
        return None

    def after(self, now: JudgedPlan, idea: Idea) -> JudgedPlan | None:
        """Return the plan after an idea; None where it is not legal, not allowed, or over the
        limit.
        """
        at = (now.plan.steps, idea.name)
        if at not in self.known:
            self.known[at] = self._judged(now, idea)
        return self.known[at]

    def _judged(self, now: JudgedPlan, idea: Idea) -> JudgedPlan | None:
        if self.tries >= self.limit:
            return None
        self.judge.told(idea.name, str(now))
        plan = idea.take(now.plan)
        if plan is None:
            return None
        self.tries += 1
        judged = self.judge.of(plan)
        if not self.allowed(judged):
            return None
        why = f"{plan.taken[-1].why}: with arrays folded, {now} become {judged}"
        return replace(judged, plan=plan.because(why))

    def better(self, found: JudgedPlan, now: JudgedPlan) -> bool:
        """Tell whether a plan costs noticeably less."""
        return self.cost(found) <= BETTER * self.cost(now)
