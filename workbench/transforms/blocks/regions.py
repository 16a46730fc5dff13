"""Loops over blocks: a program whose sums are split and whose statements run in blocks, and what
can run in blocks where not all of it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from workbench.polyhedral.dependences.carrying import carries
from workbench.polyhedral.dependences.components import components
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.dependences.legality import violation, violations
from workbench.polyhedral.tree import Loop, Tree, loops_above, paths, replaced, statements
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.blocks.asked import Asked
from workbench.transforms.blocks.fitting import added_by, fit_for_blocks, named_before
from workbench.transforms.blocks.refusals import beside, in_several_loops, shared_loop
from workbench.transforms.equations.accumulate import split, sums_along
from workbench.transforms.step.added_apart import added_at_once
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import violated
from workbench.transforms.trees.block_loops import Circular


@dataclass(frozen=True)
class InBlocks:
    """A program in blocks, the statements of each loop over blocks, and what was left out."""

    program: Program
    regions: tuple[tuple[str, ...], ...]
    left: tuple[str, ...]


def in_blocks(asked: Asked, program: Program, chosen: frozenset[str] | None) -> InBlocks | Refusal:
    """Return the program with sums split and what is meant in blocks, not yet contracted.

    A sum whose points cannot run in blocks stays whole.
    """
    sums = _sums(asked, program, chosen)
    while True:
        after = split(program, sums)
        fit = fit_for_blocks(after, asked.dim, chosen)
        if chosen is not None and fit.unfit:
            return asked.refuse(*fit.unfit[0])
        needs = dependences(after.equations)
        regions: tuple[tuple[str, ...], ...] = ()
        try:
            tree, regions = asked.placed(after.schedule, needs, fit.able, chosen is None)
        except Circular as circular:
            tree = replaced(after.schedule, circular.loop, circular.blocks)
        placed = replace(after, schedule=tree)
        broken = violation(tree, needs)
        if broken is not None:
            return violated(placed, broken, asked.step)
        inside = {name for region in regions for name in region}
        outside = [n for n in sums if not added_by(after, after.statement[n]) <= inside]
        if chosen is not None or not outside:
            break
        sums = tuple(n for n in sums if n not in outside)
    unfit = (asked.refuse(*why) for why in fit.unfit)
    refusals = [*unfit, *beside(asked, after, fit.able - inside)]
    if chosen is not None and (refusals or len(regions) > 1):
        return refusals[0] if refusals else in_several_loops(asked, placed, regions)
    at_once = added_at_once(placed, asked.step)
    if at_once is not None:
        return at_once
    reasons = [r.sentence.removeprefix(f"{asked.step}: ") for r in refusals]
    if not regions:
        nothing = f"nothing runs over {asked.dim} that could run in blocks"
        return asked.refuse("no effect", "; ".join([nothing, *reasons[:1]]))
    left = tuple(f"not in blocks: {reason}" for reason in reasons)
    return InBlocks(placed, regions, left)


def _sums(asked: Asked, program: Program, chosen: frozenset[str] | None) -> tuple[str, ...]:
    sums = sums_along(program, asked.dim)
    return sums if chosen is None else tuple(n for n in sums if n in chosen)


# -- less than all ---------------------------------------------------------------------------------


class Beside(NamedTuple):
    """Statements that could run in blocks outside of the loop that they are in with others: the one
    called `loop`, or the innermost. They are named as before sums are split.
    """

    names: tuple[str, ...]
    loop: str | None


@dataclass(frozen=True)
class Possible:
    """Statements that can share a loop over blocks, named as before sums are split, and those that
    could.
    """

    regions: tuple[tuple[str, ...], ...] = ()
    beside: tuple[Beside, ...] = ()


def possible(asked: Asked, program: Program, chosen: frozenset[str] | None) -> Iterator[Possible]:
    """Yield what can run in blocks without those that need another block, or those that they need.

    What is chosen may take in the loops that it shares.
    """
    after = split(program, _sums(asked, program, chosen))
    able = fit_for_blocks(after, asked.dim, chosen).able
    for end in ("sink", "source"):
        yield _without_ends(asked, program, after, able, end)
    if chosen is not None:
        yield from _with_shared(asked, program, after, able)


def _with_shared(
    asked: Asked, program: Program, after: Program, chosen: frozenset[str]
) -> Iterator[Possible]:
    """Yield the chosen statements with all that is in their innermost shared loops."""
    around = paths(after.schedule)
    wanted = set(chosen)
    for name in chosen:
        loops = [loop for loop in loops_above(around[name]) if loop.dim != asked.dim]
        if loops:
            wanted |= set(statements(loops[-1]))
    whole = fit_for_blocks(after, asked.dim, None).able
    if chosen < wanted <= whole:
        ordered = [s.name for s in after.statements if s.name in wanted]
        yield Possible((named_before(program, after, ordered),))


def _without_ends(
    asked: Asked, program: Program, after: Program, able: frozenset[str], end: str
) -> Possible:
    """Leave out, of every dependence that leads from one block to another, one end."""
    needs = dependences(after.equations)
    stuck = list[frozenset[str]]()
    regions: tuple[tuple[str, ...], ...] = ()
    lost = able
    while able and lost:
        try:
            tree, regions = asked.placed(after.schedule, needs, able, False)
        except Circular as circular:
            lost = able & _waiting(asked, after.schedule, needs, circular.loop)
            if not lost:
                lost = able & set(statements(circular.loop))
                stuck.append(lost)
        else:
            broken = violations(tree, needs)
            lost = able & {getattr(v.dependence, end) for v in broken}
            at_once = None if broken else added_at_once(replace(after, schedule=tree), asked.step)
            if at_once is not None and at_once.witness is not None:
                lost = able & set(at_once.witness.statements)
            elif not lost and broken:
                return Possible()
        able -= lost
    regions = regions if able else ()
    stuck.append(able.difference(*regions))
    return Possible(
        tuple(named_before(program, after, region) for region in regions),
        tuple(_beside(asked, program, after, names) for names in stuck if names),
    )


def _beside(asked: Asked, program: Program, after: Program, names: frozenset[str]) -> Beside:
    ordered = [s.name for s in after.statements if s.name in names]
    path = paths(after.schedule)[ordered[0]]
    loop = shared_loop(asked, path, names)
    own = tuple(n for n in ordered if n in program.statement)
    return Beside(own, None if loop is loops_above(path)[-1] else loop.name)


def _waiting(asked: Asked, tree: Tree, needs: Dependences, loop: Loop) -> frozenset[str]:
    """Return the statements of a loop that need each other at other values of the dimension."""
    members = tuple(statements(loop))
    for outer in loops_above(paths(tree)[members[0]]):
        if outer is loop:
            break
        needs = needs.among(tuple(statements(outer)))
        needs = needs if outer.kind == "axis" else needs.within(outer)
    needs = needs.among(members)
    crossing = [d for d in needs.all if carries(needs, d, asked.dim)]
    waiting = {
        name
        for part in components(members, needs.all)
        if any({d.source, d.sink} <= set(part) for d in crossing)
        for name in part
    }
    return frozenset(waiting)
