"""Reschedule: isl proposes another order of some statements."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.ordering.isl_proposal import Inexpressible
from workbench.polyhedral.ordering.isl_solver import NotFound, TooComplex, proposed
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Tree,
    axis_dims,
    blocks,
    sequence,
    statements,
    text,
)
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.order.place import Place
from workbench.transforms.step.argument_names import StatementNames, all_meant
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform, violated
from workbench.transforms.trees.axes import in_axes
from workbench.transforms.trees.regions import blocks_of, edited, loops_around

SMALL = 64
"""The largest part that is offered as a move: isl orders it in some tenths of a second."""


@dataclass(frozen=True, repr=False)
class Reschedule(Transform):
    """Part of the schedule gets the order that isl's scheduler proposes for it.

    The part reaches from the first to the last of the named statements: statements between them in
    their common loops belong to it. Its loops are made anew, shifted against each other by as
    little as dependences ask for. `fuse` "most" brings statements into as few loops as can be,
    "least" leaves each recurrence its own. The step's note shows what changes.

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

    After Reschedule(("state[t+1]", "ahead"))::

        state[0]
        for t:    # shifted: ahead +1
            state[t+1]
            ahead

    Legal when isl finds an order within its budget, the order is one of loops over single
    dimensions, and the resulting schedule respects every dependence.
    """

    statements: StatementNames
    fuse: Literal["most", "least"] = "most"

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Reschedule]:
        """Yield each sequence of several loops that is small enough for isl to answer at once."""
        for block in blocks_of(program.schedule):
            loops = [child for child in block.children if isinstance(child, Loop)]
            if len(loops) > 1 and len(list(statements(block))) <= SMALL:
                yield cls((next(statements(loops[0])), next(statements(loops[-1]))))

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Put isl's order in the place of the present one."""
        refusal = self._bad_input(program)
        if refusal is not None:
            return refusal
        try:
            tree = self._tree(program)
        except TooComplex as error:
            return self.refuse("cost", f"{error}; name statements that are closer together")
        except NotFound:
            return self.refuse("capability", "isl finds no order by affine functions")
        except Inexpressible as error:
            return self.refuse("capability", str(error))
        if tree == program.schedule:
            return self.refuse("no effect", "isl looks for an order and finds the present one")
        broken = violation(tree, dependences(program.equations))
        if broken is not None:
            return violated(replace(program, schedule=tree), broken, str(self))
        return Rewritten(replace(program, schedule=tree), (difference(program.schedule, tree),))

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield `Place` for statements that isl runs in the middle of a loop."""
        if refusal.kind != "capability":
            return
        try:
            self._tree(program)
        except Inexpressible as error:
            if error.outside:
                yield Place(error.outside, error.dim)
        except NotFound:
            return

    def _bad_input(self, program: Program) -> Refusal | None:
        if self.fuse not in ("most", "least"):
            return self.unfit("fuse", f"fuse {self.fuse!r}; expected 'most' or 'least'")
        if len(all_meant(program, self.statements)) < 2:
            return self.unfit("statements", "name the first and the last statement to be ordered")
        return None

    def _tree(self, program: Program) -> Tree:
        """Return the whole tree with isl's order in it."""
        chosen = set(all_meant(program, self.statements))
        above = [p.dim for p in loops_around(program.schedule, chosen) if p.tile is None]

        def reorder(node: Tree, left: Dependences) -> Tree:
            assert isinstance(node, Block)
            parts = node.children
            held = [k for k, part in enumerate(parts) if chosen & set(statements(part))]
            first, last = held[0], held[-1] + 1
            region = sequence(list(parts[first:last]))
            own = left.among(tuple(statements(region)))
            ordered = _reordered(region, own, above, self.fuse)
            return sequence([*parts[:first], ordered, *parts[last:]])

        return edited(program.schedule, chosen, dependences(program.equations), reorder)


def _reordered(
    region: Tree, left: Dependences, above: list[str], fuse: Literal["most", "least"]
) -> Tree:
    """Return isl's order of a region; its axes stay axes, its loops are made anew."""
    axes = axis_dims(region)
    tiled = blocks(region)
    if tiled:
        raise Inexpressible(f"isl is not asked about loops over blocks: {', '.join(sorted(tiled))}")
    free = {
        name: tuple(d for d in left.statements[name].dims if d not in (*above, *axes[name]))
        for name in axes
    }
    ordered = [left.statements[n] for n in statements(region)]
    return in_axes(proposed(ordered, left, free, fuse), axes)


def difference(before: Tree, after: Tree) -> str:
    """Return the changes from one schedule to another, as a unified diff of their texts."""
    old, new = (text(tree).splitlines() for tree in (before, after))
    return "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="", n=2))
