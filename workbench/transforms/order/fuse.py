"""Fuse: loops that stand one behind the other become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.polyhedral.tree import Leaf, Loop, statements
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.order.distribute import Distribute
from workbench.transforms.order.interchange import Interchange
from workbench.transforms.order.place import Place
from workbench.transforms.order.tile import Tile
from workbench.transforms.order.vectorize import Vectorize
from workbench.transforms.step.argument_names import StatementName, StatementNames, all_meant, meant
from workbench.transforms.step.refusal import Refusal, dependence_text, few
from workbench.transforms.step.transform import Rewritten, Transform, out_of_order, violated
from workbench.transforms.trees.joining import Broken, caught_both_ways, fused, least_shifts
from workbench.transforms.trees.sites import Apart, Site, alike, neighbours, site


@dataclass(frozen=True, repr=False)
class Fuse(Transform):
    """The loops around the named statements become one loop.

    These are the outermost loops that part the statements; inside the joined one, loops are joined
    again as far as they agree and dependences allow. `shifts` lets the loop in which a named
    statement stands run so many iterations behind. Other statements between the loops move before
    or behind. Where dependences allow only the other direction, the joined loop has that. If the
    blocks of one loop run in any order, those of the joined one do.

    Example::

        @wb.program
        def example(T=9):
            (t,) = wb.dims(t=T)
            state = wb.recurrent("state", (), over=t)
            state[0] = 1.0
            state[t + 1] = 0.9 * state
            ahead = state[t : wb.minimum(t + 3, T)].sum()
            return {"ahead": ahead}

    Before::

        state[0]
        for t:
            state[t+1]
        for t:
            ahead

    After Fuse(("state[t+1]", "ahead"), shifts=(("ahead", 1),))::

        state[0]
        for t:    # shifted: ahead +1
            state[t+1]
            ahead

    Legal when no dependence leads from an iteration of the joined loop to an earlier one, and no
    statement between the loops needs one of them and is needed by another.
    """

    statements: StatementNames
    shifts: tuple[tuple[StatementName, int], ...] = ()

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Fuse]:
        """Yield each loop and the next over the same dimension, by their first statements."""
        for loop, other in neighbours(program.schedule):
            yield cls((next(statements(loop)), next(statements(other))))

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Join the loops, outermost first, as deep as they agree."""
        refusal = self._bad_input(program)
        if refusal is not None:
            return refusal
        try:
            at = self._site(program, self.statements)
        except Apart as apart:
            return self.refuse(apart.kind, str(apart))
        shifts = self._shifts(program, at)
        if isinstance(shifts, Refusal):
            return shifts
        if at.caught:
            return self._between(program, at, shifts)
        result = fused(at, shifts, dependences(program.equations))
        if isinstance(result, Broken):
            attempted = replace(program, schedule=result.tree)
            return violated(attempted, result.violation, str(self))
        tree, notes = result
        return Rewritten(replace(program, schedule=tree), notes)

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the least shifts, the step with the statements between, the step without those in
        the way, and steps that make all loops of one kind.
        """
        if refusal.kind == "no effect":
            return
        try:
            at = self._site(program, self.statements)
        except Apart as apart:
            yield from (Place((name,), dim) for name, dim in apart.outside)
            for one, other in (apart.pair, apart.pair[::-1]) if apart.pair else ():
                yield from _made_alike(one, other)
            return
        if at.caught:
            yield from self._with_caught(program, at)
            return
        shifts = least_shifts(at)
        if shifts:
            yield replace(self, shifts=shifts)
        for loop in at.loops:
            below = tuple(statements(loop))
            named = tuple(n for n in below if n in at.names)
            if len(named) < len(below):
                yield Distribute(named, loop.dim)

    # -- bad input ---------------------------------------------------------------------------------

    def _bad_input(self, program: Program) -> Refusal | None:
        named = all_meant(program, self.statements)
        if len(named) < 2:
            return self.unfit("statements", "name at least two statements of different loops")
        for name, count in self.shifts:
            if count < 0:
                return self.unfit("shifts", f"{name} is shifted by {count}; expected at least 0")
            if not set(meant(program, name)) <= set(named):
                return self.unfit("shifts", f"{name} is shifted, but not among the statements")
        return None

    def _site(self, program: Program, names: Sequence[str]) -> Site:
        return site(program.schedule, all_meant(program, names), dependences(program.equations))

    def _shifts(self, program: Program, at: Site) -> tuple[int, ...] | Refusal:
        """Return how far each loop runs behind."""
        result = []
        for loop in at.loops:
            below = set(statements(loop))
            counts = {count for name, count in self.shifts if below & set(meant(program, name))}
            if len(counts) > 1:
                listed = " and ".join(map(str, sorted(counts)))
                return self.unfit("shifts", f"one loop cannot be shifted by {listed}")
            result.append(counts.pop() if counts else 0)
        if any(result) and at.loops[0].kind == "axis":
            return self.unfit("shifts", "an axis has no iterations to be shifted by")
        return tuple(result)

    # -- statements between the loops --------------------------------------------------------------

    def _between(self, program: Program, found: Site, shifts: tuple[int, ...]) -> Refusal:
        """Refuse for statements that can stand neither before nor behind the joined loop."""
        names = [n for part in found.between for n in statements(part)]
        behind, early = caught_both_ways(found, shifts, dependences(program.equations))
        late = behind.violation
        sentence = (
            f"{self}: {few(names)} between the loops can stand neither behind the joined loop: "
            f"{dependence_text(late.witness)}; nor before it: {dependence_text(early.witness)}"
        )
        return out_of_order(replace(program, schedule=behind.tree), late, sentence)

    def _with_caught(self, program: Program, found: Site) -> Iterator[Transform]:
        """Yield steps that bring the statements between into the joined loop."""
        loops = [p for p in found.between if isinstance(p, Loop) and alike(p, found.loops[0])]
        if len(loops) == len(found.between):
            names = (*self.statements, *(next(statements(loop)) for loop in loops))
            shifts = least_shifts(self._site(program, names)) or ()
            yield replace(self, statements=names, shifts=shifts)
        alone = tuple(p.statement for p in found.between if isinstance(p, Leaf))
        if alone:
            yield Place(alone, found.loops[0].dim)


def _made_alike(loop: Loop, like: Loop) -> Iterator[Transform]:
    """Yield steps that may make one loop of the kind of another."""
    held = tuple(statements(loop))
    if loop.name == like.name and loop.kind == "loop":
        yield Vectorize(loop.dim, held)
    size = like.name.removeprefix(f"{loop.dim}_block")
    if loop.tile is None and size.isdecimal():
        yield Tile(loop.dim, int(size), held)
    inner = loop.child
    if isinstance(inner, Loop) and inner.name == like.name:
        yield Interchange(loop.name, inner.name, held)
