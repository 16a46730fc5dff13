"""The few pairs that are drawn, the smallest sizes at which each is there, and their instances."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from workbench.polyhedral import tree as trees
from workbench.polyhedral.expression import size
from workbench.polyhedral.loops.execution_order import places
from workbench.polyhedral.sets.counting import count
from workbench.polyhedral.sets.scanning import scanner
from workbench.program.accumulating import derived, owner
from workbench.program.fitting import Need, fitting
from workbench.program.sizes import resolve, settable
from workbench.program.values import Program
from workbench.transforms.reasons.links import Link
from workbench.transforms.reasons.moved import Moved
from workbench.transforms.reasons.reason import Ordered, Pair, Placed

MOST = 4
"""The most pairs of statements that are drawn."""
MOST_POINTS = 400
"""The most instances of a statement that are listed."""
ALONG = 2
"""The least values along what the step moves."""
SMALL_BLOCK = 8
"""The largest block of which two are drawn."""


class Drawn(NamedTuple):
    """The statements that are drawn, with their instances in the order after the step, at sizes."""

    ordered: tuple[Ordered, ...] = ()
    sizes: Mapping[str, int] = {}
    instances: tuple[Placed, ...] = ()
    pairs: tuple[Pair, ...] = ()


def drawn(program: Program, moved: Moved, links: Sequence[Link], given: Mapping[str, int]) -> Drawn:
    """Choose pairs of the program after a step, the nearest first, and list their instances, at
    sizes as small as can be where they are not given.
    """
    resolve(program.equations, given)
    at = {name: k for k, name in enumerate(trees.statements(derived(program).schedule))}
    chosen = _nearest(moved, links, at)
    names = _drawn_statements(program, chosen, links)
    if not names:
        return Drawn()
    sizes = _sizes(program, moved, chosen, given)
    instances = _placed(program, sorted(names, key=at.__getitem__), sizes)
    there = {one.statement for one in instances}
    return Drawn(
        tuple(link.ordered for link in chosen),
        sizes,
        instances,
        tuple(
            pair
            for link in chosen
            if {link.ordered.source, link.ordered.sink} <= there
            for pair in link.at(sizes)
        ),
    )


def _drawn_statements(
    program: Program, chosen: Sequence[Link], links: Sequence[Link]
) -> dict[str, None]:
    """Return the statements of the chosen pairs, and the first of those without a pair."""
    known = derived(program).statement
    ends = [n for link in chosen for n in (link.ordered.source, link.ordered.sink)]
    names = dict.fromkeys(owner(known[name]) for name in ends)
    alone = [link.ordered.source for link in links if not link.ordered.by]
    return names | dict.fromkeys(alone[:1])


def _sizes(
    program: Program, moved: Moved, chosen: Sequence[Link], given: Mapping[str, int]
) -> Mapping[str, int]:
    """Return all sizes. Those not given are the smallest at which each pair is there."""
    needs = [Need(size(name), n) for link in chosen for name, n in link.least.items()]
    needs += [Need(program.dim[d].size, ALONG) for d in moved.dims if d in program.dim]
    for loop in trees.loops(program.schedule):
        if loop.name in moved.loops and loop.tile is not None and loop.tile <= SMALL_BLOCK:
            needs.append(Need(program.dim[loop.dim].size, loop.tile + 1))
    least = fitting(program, needs)
    return resolve(program.equations, {**settable(program.equations, least), **given})


def _nearest(moved: Moved, links: Sequence[Link], at: Mapping[str, int]) -> list[Link]:
    """Return pairs whose ends stand near each other, those with a moved end first."""

    def rank(link: Link) -> tuple[bool, int]:
        source, sink = link.ordered.source, link.ordered.sink
        return not {source, sink} & set(moved.statements), abs(at[source] - at[sink])

    return sorted((link for link in links if link.ordered.by), key=rank)[:MOST]


def _placed(
    program: Program, names: Collection[str], sizes: Mapping[str, int]
) -> tuple[Placed, ...]:
    statements = [program.statement[name] for name in names]
    points = {
        s.name: scanner(s.domain, sizes, 0)(())
        for s in statements
        if count(s.domain, sizes) <= MOST_POINTS
    }
    own = trees.only(program.schedule, list(points))
    if own is None:
        return ()
    run = places(own, {s.name: s.dims for s in statements}, points)
    return tuple(
        Placed(
            s.name,
            s.dims,
            tuple(points[s.name]),
            tuple(run[s.name, point] + 1 for point in points[s.name]),
        )
        for s in statements
        if s.name in points
    )
