"""Interchange: two nested loops change places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import Loop, Tree, loops, only, replaced, statements
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.order.distribute import Distribute
from workbench.transforms.step.argument_names import LoopName, StatementNames, all_meant
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform, violated
from workbench.transforms.trees.distribution import distributed


@dataclass(frozen=True, repr=False)
class Interchange(Transform):
    """The loop (or axis) `outer` and the loop (or axis) `inner` directly inside it change places.

    A loop over blocks has the name of the dimension that counts them: `t_block64` for `t` in blocks
    of 64. With `statements`, only around those: a loop that holds others too is distributed.

    Example::

        @wb.program
        def example(B=4, T=3):
            b, t = wb.dims(b=B, t=T)
            total = wb.recurrent("total", (), over=(b, t))
            total[b, 0] = 0.0
            total[b, t + 1] = total + 1.0
            return {"total": total}

    Before::

        for b:
            total[0]
            for t:
                total[t+1]

    After Interchange("b", "t", "total")::

        for b:
            total[0]
        for t:
            for b:
                total[t+1]

    Legal when no instance needs one that now comes later: no dependence goes forward in the outer
    loop and back in the inner one.
    """

    outer: LoopName
    inner: LoopName
    statements: StatementNames | None = None

    unnamed = 1

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Interchange]:
        """Yield each pair of loops of which somewhere one is directly inside the other."""
        pairs = {
            (loop.name, loop.child.name): None
            for loop in loops(program.schedule)
            if isinstance(loop.child, Loop) and loop.child.dim != loop.dim
        }
        for outer, inner in pairs:
            yield cls(outer, inner)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Exchange the loops; a note says what stayed as it was."""
        if self.outer == self.inner:
            return self.unfit("inner", "a loop cannot change places with itself")
        nests = self._nests(program, program.schedule)
        if isinstance(nests, Refusal):
            return nests
        tree, flow = program.schedule, dependences(program.equations)
        refusals: list[Refusal] = []
        for nest, names in nests:
            changed = self._exchanged(program, tree, nest, names)
            broken = violation(changed, flow)
            if broken is None:
                tree = changed
            else:
                attempted = replace(program, schedule=changed)
                refusals.append(violated(attempted, broken, str(self)))
        if refusals and (self.statements is not None or len(refusals) == len(nests)):
            return refusals[0]
        notes = tuple(r.sentence for r in refusals)
        return Rewritten(replace(program, schedule=tree), notes)

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the other way around; or only the loops that are directly nested, or can be."""
        if refusal.kind == "no effect":
            yield replace(self, outer=self.inner, inner=self.outer)
        if refusal.kind != "capability" or self.statements is not None:
            return
        for outer in self._named(program.schedule, self.outer):
            for inner in self._named(outer.child, self.inner):
                held = tuple(statements(inner))
                if set(held) < set(statements(outer)):
                    yield replace(self, statements=held)
                    yield Distribute(held, self.outer)

    # -- the loops ---------------------------------------------------------------------------------

    def _nests(self, program: Program, tree: Tree) -> list[tuple[Loop, frozenset[str]]] | Refusal:
        """Return the outer loops to exchange, each with the statements concerned."""
        chosen = frozenset(all_meant(program, self.statements or ()))
        nests = []
        for loop in self._named(tree, self.outer):
            own = frozenset(statements(loop))
            if chosen:
                own &= chosen
            part = only(loop, own)
            if not own or not isinstance(part, Loop):
                continue
            if isinstance(part.child, Loop) and part.child.name == self.inner:
                if part.child.dim == loop.dim:
                    sentence = f"blocks of {loop.dim} stand around what runs within them"
                    return self.refuse("capability", sentence)
                nests.append((loop, own))
            elif chosen:
                return self._apart(part)
        if nests:
            return nests
        around = [loop for loop in self._named(tree, self.outer) if not chosen]
        for loop in around:
            if self._named(loop.child, self.inner):
                return self._apart(loop)
        return self._not_nested(tree, chosen)

    def _apart(self, loop: Loop) -> Refusal:
        """Explain why the inner loop is not directly inside the outer one."""
        where = f"{self.inner} is not directly inside {self.outer}"
        inside = self._named(loop.child, self.inner)
        if not inside:
            held = ", ".join(statements(loop))
            return self.refuse(
                "capability", f"{where}: no loop {self.inner} is around {held} there"
            )
        if isinstance(loop.child, Loop):
            return self.refuse("capability", f"{where}: the loop {loop.child.name} stands between")
        kept = set(statements(inside[0]))
        others = [name for name in statements(loop) if name not in kept]
        stand = "stand" if len(others) > 1 else "stands"
        return self.refuse("capability", f"{where}: {', '.join(others)} {stand} between")

    def _not_nested(self, tree: Tree, chosen: frozenset[str]) -> Refusal:
        turned = any(
            self._named(loop.child, self.outer) and (not chosen or chosen & set(statements(loop)))
            for loop in self._named(tree, self.inner)
        )
        if turned:
            return self.refuse("no effect", f"{self.inner} is outside {self.outer} already")
        names = f" around {', '.join(sorted(chosen))}" if chosen else ""
        sentence = f"no loop {self.inner} is inside a loop {self.outer}{names}"
        return self.refuse("capability", sentence)

    def _named(self, tree: Tree, name: str) -> list[Loop]:
        return [loop for loop in loops(tree) if loop.name == name]

    # -- the tree ----------------------------------------------------------------------------------

    def _exchanged(self, program: Program, tree: Tree, nest: Loop, own: frozenset[str]) -> Tree:
        """Exchange one nest, for some of its statements in a nest of their own."""
        if own == set(statements(nest)):
            return replaced(tree, nest, _turned(nest))
        needs = dependences(program.equations)
        trees = [distributed(tree, nest, own, needs, way) for way in (0, 1)]
        split = next((t for t in trees if violation(t, needs) is None), trees[0])
        (part,) = (loop for loop in self._named(split, nest.name) if own == set(statements(loop)))
        return replaced(split, part, _turned(part))


def _turned(nest: Loop) -> Loop:
    inner = nest.child
    assert isinstance(inner, Loop)
    return replace(inner, child=replace(nest, child=inner.child))
