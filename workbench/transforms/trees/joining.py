"""Joins of a sequence's loops, legal or not: `Fuse` tries one and then judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.polyhedral.dependences.flow import Dependences, standings
from workbench.polyhedral.dependences.legality import Violation, violation, violations
from workbench.polyhedral.ordering.as_written import least_distance
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Tree,
    replaced,
    sequence,
    standing,
    statements,
)
from workbench.transforms.step.refusal import dependence_text
from workbench.transforms.trees.sites import Site, site


def joined(
    at: Site,
    shifts: Sequence[int],
    backwards: bool,
    caught: Literal["before", "behind"] = "behind",
) -> Tree:
    """Return the tree with the loops as one, each so many iterations behind."""
    late = at.behind | (at.caught if caught == "behind" else frozenset())
    rest = [k for k in range(len(at.parts)) if k not in at.chosen]
    before, after = ([at.parts[k] for k in rest if (k in late) == way] for way in (False, True))
    return replaced(at.tree, at.block, sequence([*before, _whole(at, shifts, backwards), *after]))


def _whole(at: Site, shifts: Sequence[int], backwards: bool) -> Loop:
    """Return the joined loop. A shift of all statements together is none."""
    first = next((loop for loop in at.loops if loop.tile is not None), at.loops[0])
    child = sequence([loop.child for loop in at.loops])
    whole = replace(first, child=child, backwards=backwards, apart=at.apart, chunks=at.chunks)
    offsets = {}
    for loop, shift in zip(at.loops, shifts, strict=True):
        behind = -shift if backwards else shift
        for name in statements(loop):
            unit = standing(whole, name, at.dependences.statements[name].dims).divisor
            offsets[name] = loop.offset(name) + behind * unit
    least = min(offsets.values()) if whole.tile is None else 0
    return replace(whole, offsets=tuple((n, o - least) for n, o in offsets.items() if o != least))


def least_shifts(at: Site) -> tuple[tuple[str, int], ...] | None:
    """Return how far each loop must run behind for every dependence to lead forwards.

    The result names a statement of each; None where a loop needs all of an earlier one.
    """
    backwards = at.ways[0]
    whole = _whole(at, [0] * len(at.loops), backwards)
    place = {name: k for k, loop in enumerate(at.loops) for name in statements(loop)}
    behind = [0] * len(at.loops)
    between = [
        d
        for d in at.dependences.all
        if d.source in place and d.sink in place and place[d.source] < place[d.sink]
    ]
    for d in sorted(between, key=lambda d: place[d.sink]):
        source, sink = (at.dependences.statements[n] for n in (d.source, d.sink))
        first, second = standings(whole, source, sink)
        least = least_distance(at.dependences.keys[d], first.position, second.position, backwards)
        if least is None or first.divisor != second.divisor:
            return None
        apart = second.shift - first.shift
        ahead = -(least + (-apart if backwards else apart))
        needed = behind[place[d.source]] + -(-ahead // first.divisor)
        behind[place[d.sink]] = max(behind[place[d.sink]], needed)
    own = [next(n for n in statements(loop) if n in at.names) for loop in at.loops]
    return tuple((name, count) for name, count in zip(own, behind, strict=True) if count)


@dataclass(frozen=True)
class Broken:
    """A tree with joined loops, and a dependence that it violates."""

    tree: Tree
    violation: Violation


def fused(
    at: Site, shifts: Sequence[int], dependences: Dependences
) -> tuple[Tree, tuple[str, ...]] | Broken:
    """Join the loops, and those inside as far as dependences allow; in the first direction where
    none of the `dependences` of the whole tree breaks, and if none does, broken in the first.

    Returns the tree, and sentences on loops that now run the other way or stay apart inside.
    """
    first: Broken | None = None
    for backwards in at.ways:
        tree = joined(at, shifts, backwards)
        wrong = violation(tree, dependences)
        if wrong is None:
            tree, notes = _inward(tree, at.names, dependences)
            return tree, (*at.turned(backwards), *notes)
        first = first or Broken(tree, wrong)
    assert first is not None
    return first


def _inward(
    tree: Tree, names: Sequence[str], dependences: Dependences
) -> tuple[Tree, tuple[str, ...]]:
    """Join the loops inside a joined one. Returns the tree, and sentences as `fused` does."""
    notes: list[str] = []
    for group in _groups(tree, names):
        at = site(tree, group, dependences)
        apart = f"the loops over {at.loops[0].name} inside stay apart"
        if at.caught:
            notes.append(f"{apart}: {next(statements(at.between[0]))} is between")
            continue
        result = fused(at, [0] * len(at.loops), dependences)
        if isinstance(result, Broken):
            notes.append(f"{apart}: {dependence_text(result.violation.witness)}")
        else:
            tree, more = result
            notes += more
    return tree, tuple(notes)


def caught_both_ways(
    at: Site, shifts: Sequence[int], dependences: Dependences
) -> tuple[Broken, Violation]:
    """Return what breaks first of the caught parts: behind the joined loop, and before it."""
    names = {n for part in at.between for n in statements(part)}
    behind, before = (joined(at, shifts, at.ways[0], caught) for caught in ("behind", "before"))
    late, early = (
        next(
            v
            for v in violations(tree, dependences)
            if names & {v.dependence.source, v.dependence.sink}
        )
        for tree in (behind, before)
    )
    return Broken(behind, late), early


def _groups(tree: Tree, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the statements below the innermost node that holds all, by loops that could be one."""
    node = _holding(tree, set(names))
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for part in node.children if isinstance(node, Block) else ():
        own = [n for n in statements(part) if n in names]
        if own and isinstance(part, Loop):
            groups.setdefault((part.name, part.kind), []).append(own)
    return [tuple(n for own in parts for n in own) for parts in groups.values() if len(parts) > 1]


def _holding(tree: Tree, names: set[str]) -> Tree:
    if isinstance(tree, Loop):
        return _holding(tree.child, names)
    if isinstance(tree, Block):
        for child in tree.children:
            if names <= set(statements(child)):
                return _holding(child, names)
    return tree
