"""Refusals to run in blocks: statements whose loops hold others, and those between which something
complete stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import permutations, takewhile

from workbench.polyhedral.dependences.components import shortest_chain
from workbench.polyhedral.dependences.legality import violation, violations
from workbench.polyhedral.tree import (
    Loop,
    Path,
    Tree,
    loops,
    loops_above,
    only,
    paths,
    replaced,
    sequence,
    statements,
)
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.blocks.asked import Asked
from workbench.transforms.step.refusal import Refusal, dependence_text, few
from workbench.transforms.step.transform import out_of_order
from workbench.transforms.trees.distribution import distributed


def beside(asked: Asked, program: Program, outside: Collection[str]) -> Iterator[Refusal]:
    """Explain for statements why they stay outside of blocks: they share a loop with others, and
    cannot leave it where the others need them in turn.
    """
    around = paths(program.schedule)
    explained = set[str]()
    for s in program.statements:
        if s.name not in outside or s.name in explained:
            continue
        loop = shared_loop(asked, around[s.name], outside)
        together = frozenset(n for n in statements(loop) if n in outside)
        explained |= together
        yield _shared(asked, program, loop, together)


def shared_loop(asked: Asked, path: Path, outside: Collection[str]) -> Loop:
    """Return the loop that statements `outside` of blocks would have to leave: in the loop over the
    dimension the outermost one that holds others, or else the innermost.
    """
    above = loops_above(path)
    over = next((k for k, x in enumerate(above) if x.dim == asked.dim), len(above))
    shared = [x for x in above if not set(statements(x)) <= set(outside)]
    inside = [x for x in above[over + 1 :] if x in shared]
    return inside[0] if inside else shared[-1]


def _shared(asked: Asked, program: Program, loop: Loop, chosen: frozenset[str]) -> Refusal:
    names = [n for n in statements(loop) if n in chosen]
    others = [n for n in statements(loop) if n not in chosen]
    line = program.statement[names[0]].line
    verb = "shares" if len(names) == 1 else "share"
    reason = f"{few(names)} {verb} the loop over {loop.name} with {few(others)}"
    needs = dependences(program.equations)
    before, behind = (distributed(program.schedule, loop, chosen, needs, way) for way in (0, 1))
    broken = violation(before, needs)
    if broken is None or violation(behind, needs) is None:
        return asked.refuse("capability", reason, line)
    among = needs.among(tuple(statements(loop))).all
    inside = [d for d in among if not chosen >= {d.source, d.sink}]
    cycle = shortest_chain(inside, names, chosen)
    sentence = (
        f"{asked.step}: {reason}, and cannot leave it: {dependence_text(broken.witness)}; they "
        f"wait for each other: {_way(cycle)}"
    )
    return out_of_order(replace(program, schedule=before), broken, sentence)


def _way(names: Sequence[str]) -> str:
    """Print a chain; of a long one its beginning and its end."""
    shown = names if len(names) <= 6 else [*names[:3], "…", *names[-2:]]
    return " → ".join(shown)


def in_several_loops(asked: Asked, program: Program, regions: Sequence[Sequence[str]]) -> Refusal:
    """Refuse for statements that are in several loops over blocks and cannot share one."""
    for early, late in permutations(regions, 2):
        found = _needs_complete(asked, program, early, late)
        if found is not None:
            return found
    around = paths(program.schedule)
    one, *others = ([x.name for x in _outside(asked, around[region[0]])] for region in regions)
    number = next((k for k, other in enumerate(others) if other != one), None)
    first, second = regions[0][0], regions[1 if number is None else number + 1][0]
    if number is None:
        order = list(statements(program.schedule))
        between = order[order.index(regions[0][-1]) + 1 : order.index(second)]
        reason = f"{few(between)} stand between {first} and {second}, outside of blocks"
    else:
        reason = f"{first} runs {_within(one)} and {second} {_within(others[number])}"
    reason += ": they cannot share one loop over blocks"
    return asked.refuse("capability", reason, program.statement[second].line)


def _needs_complete(
    asked: Asked, program: Program, early: Sequence[str], late: Sequence[str]
) -> Refusal | None:
    """Refuse where a loop over blocks needs what is complete behind another one, in one iteration
    of the loops around both.
    """
    around = paths(program.schedule)
    outer, other = (_outside(asked, around[region[0]]) for region in (early, late))
    if [*map(id, outer)] != [*map(id, other)]:
        return None
    needs = dependences(program.equations)
    within = needs.among(tuple(around))
    for loop in outer:
        within = within.among(tuple(statements(loop)))
        within = within if loop.kind == "axis" else within.within(loop)
    inside = {*early, *late}
    ways = [d for d in within.all if not {d.source, d.sink} <= inside]
    chain = shortest_chain(ways, early, late)
    if not chain:
        return None
    first, *between, reader = chain
    sums = [n for n in between if program.statement[n].combiner is not None]
    joined = _joined(program.schedule, early, late)
    broken = [v for v in violations(joined, needs) if v.dependence.sink == reader]
    assert broken, f"{reader} could run before {between}"
    sentence = (
        f"{asked.step}: {reader} needs {few(sums or between)}, complete over all blocks, which "
        f"needs what {first} gives: they cannot share one loop over blocks; "
        f"{dependence_text(broken[0].witness)}"
    )
    return out_of_order(replace(program, schedule=joined), broken[0], sentence)


def _joined(tree: Tree, early: Sequence[str], late: Sequence[str]) -> Tree:
    """Return the tree in which a later loop over blocks is part of an earlier one."""
    second = _blocks(tree, late)
    rest = only(tree, set(statements(tree)) - set(late))
    assert rest is not None
    first = _blocks(rest, early)
    axis, other = first.child, second.child
    assert isinstance(axis, Loop) and isinstance(other, Loop)
    both = replace(axis, child=sequence([axis.child, other.child]))
    return replaced(rest, first, replace(first, child=both))


def _blocks(tree: Tree, region: Sequence[str]) -> Loop:
    """Return the loop over blocks that holds just these statements."""
    return next(x for x in loops(tree) if x.apart and set(statements(x)) == set(region))


def _outside(asked: Asked, path: Path) -> list[Loop]:
    """Return the loops around the one over blocks."""
    return list(takewhile(lambda x: not (x.apart and x.dim == asked.dim), loops_above(path)))


def _within(names: Sequence[str]) -> str:
    return f"in the loops over {', '.join(names)}" if names else "in no loop"
