"""Distribute: one loop becomes several, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.components import components, shortest_chain
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import (
    Leaf,
    Loop,
    Tree,
    loops,
    statements,
)
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant
from workbench.transforms.step.refusal import Refusal, dependence_text
from workbench.transforms.step.transform import Rewritten, Transform, out_of_order
from workbench.transforms.trees.distribution import distributed
from workbench.transforms.trees.regions import loops_around, sides


@dataclass(frozen=True, repr=False)
class Distribute(Transform):
    """A loop is split so that the named statements have one of their own.

    It is the innermost loop (or axis) around all of them that other statements share, or the one
    over `dim`. Statements that they need come in a loop before, those that need them in one behind.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            total = wb.recurrent("total", (), over=(b, t))
            total[b, 0] = 0.0
            draw = wb.uniform(over=(b, t))
            total[b, t + 1] = total + draw
            squared = total * total
            return {"squared": squared}

    Before::

        for b:
            total[0]
            for t:
                draw
                total[t+1]
                squared

    After Distribute("squared")::

        for b:
            total[0]
            for t:
                draw
                total[t+1]
            for t:
                squared

    Legal when no chain of dependences leads from a named statement through another of the loop back
    to a named one, in any iterations.
    """

    statements: StatementNames
    dim: DimName | None = None

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Distribute]:
        """Yield each recurrence of an innermost loop, without statements that need not be there."""
        needs = dependences(program.equations)
        for loop in _innermost(program.schedule):
            members = tuple(statements(loop))
            inside = needs.among(members)
            itself = {d.source for d in inside.all if d.source == d.sink}
            for part in components(members, inside.all):
                if len(part) < len(members) and (len(part) > 1 or part[0] in itself):
                    yield cls(part)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Split the loop into those before, the named and those behind."""
        if not self.statements:
            return self.unfit("statements", "name the statements that get a loop of their own")
        chosen = frozenset(all_meant(program, self.statements))
        loop = self._loop(program.schedule, chosen)
        if isinstance(loop, Refusal):
            return loop
        flow = dependences(program.equations)
        first, last = (distributed(program.schedule, loop, chosen, flow, way) for way in (0, 1))
        broken = violation(first, flow)
        if broken is None:
            return Rewritten(replace(program, schedule=first))
        other = violation(last, flow)
        if other is None:
            return Rewritten(replace(program, schedule=last))
        cycle = _cycle(flow, loop, chosen)
        sentence = (
            f"{self}: {', '.join(sorted(chosen))} cannot have a loop over {loop.name} before the "
            f"rest: {dependence_text(broken.witness)}; nor behind it: "
            f"{dependence_text(other.witness)}; they wait for each other: {' → '.join(cycle)}"
        )
        return out_of_order(replace(program, schedule=first), broken, sentence)

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield, for a dependence, the step that gives all of the cycle its own loop."""
        if refusal.kind != "dependence":
            return
        chosen = frozenset(all_meant(program, self.statements))
        loop = self._loop(program.schedule, chosen)
        assert isinstance(loop, Loop)
        members = tuple(statements(loop))
        parts = [Leaf(n) for n in members]
        own = [k for k, n in enumerate(members) if n in chosen]
        caught = sides(parts, own, dependences(program.equations)).caught
        wanted = tuple(n for k, n in enumerate(members) if n in chosen or k in caught)
        yield replace(self, statements=wanted)

    def _loop(self, tree: Tree, chosen: frozenset[str]) -> Loop | Refusal:
        """Return the loop to split."""
        around = loops_around(tree, chosen)
        over = [loop for loop in around if self.dim in (None, loop.dim, loop.name)]
        names = ", ".join(sorted(chosen))
        what = "loop" if self.dim is None else f"loop over {self.dim}"
        if not over:
            held = ", ".join(loop.name for loop in around) or "none"
            sentence = f"no {what} holds all of {names}; the loops around them: {held}"
            return self.refuse("capability", sentence)
        shared = [loop for loop in over if not set(statements(loop)) <= chosen]
        if not shared:
            return self.refuse("no effect", f"no other statement is in a {what} around {names}")
        return shared[-1]


def _innermost(tree: Tree) -> Iterator[Loop]:
    """Yield the loops and axes that hold no others, but more than one statement."""
    for loop in loops(tree):
        if not isinstance(loop.child, Leaf) and not any(_innermost(loop.child)):
            yield loop


def _cycle(dependences: Dependences, loop: Loop, chosen: frozenset[str]) -> list[str]:
    """Return a shortest way from a chosen statement through others back to a chosen one."""
    members = list(statements(loop))
    others = [d for d in dependences.among(members).all if not chosen >= {d.source, d.sink}]
    cycle = shortest_chain(others, [name for name in members if name in chosen], chosen)
    assert cycle, f"no cycle through {chosen} in the loop over {loop.name}"
    return cycle
