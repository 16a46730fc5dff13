"""What a step moves: statements with another equation or in other loops, and pairs that it parts or
joins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.polyhedral.dependences.carrying import carries
from workbench.polyhedral.dependences.flow import Dependence
from workbench.polyhedral.dependences.legality import shared_loops, shared_steps
from workbench.polyhedral.tree import Path, loops, loops_above, paths
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.step.argument_names import dims_of


@dataclass(frozen=True)
class Moved:
    """The statements that a step moves or changes, in the order of the program, and the dims along
    which; `loops` are the loops over these. `axes` are those of the dims that are then axes of a
    statement, `crossing` the statements that need a result of their own at another value of these.
    `parted` are dependences between others whose shared loops or sequence are not what they were.
    """

    statements: tuple[str, ...]
    dims: tuple[str, ...]
    loops: frozenset[str]
    axes: Mapping[str, tuple[str, ...]]
    crossing: frozenset[str]
    parted: frozenset[Dependence]


def moved(before: Program, after: Program) -> Moved:
    """Compare the program before a step with that after it."""
    was, now = paths(before.schedule), paths(after.schedule)
    same = {s.name for s in after.statements if before.statement.get(s.name) == s}
    names = [
        s.name
        for s in after.statements
        if s.name not in same or _loops(was[s.name], s.name) != _loops(now[s.name], s.name)
    ]
    needs, parted = dependences(after.equations), set[Dependence]()
    dims = {d for n in names if n in same for d in _changed(was[n], now[n], n)}
    for d in needs.all:
        if {d.source, d.sink} <= same:
            ends = needs.statements[d.source], needs.statements[d.sink]
            if shared_steps(*ends, was) != shared_steps(*ends, now):
                parted.add(d)
                dims |= _no_longer_shared(d, was, now)
    along = tuple(d for d in dims_of(after) if d in dims)
    axes = {n: tuple(a.dim for a in loops_above(now[n], "axis") if a.dim in dims) for n in names}
    crossing = {
        d.source
        for d in needs.all
        if d.source == d.sink and any(carries(needs, d, dim) for dim in axes.get(d.source, ()))
    }
    over = {loop.name for loop in loops(after.schedule) if loop.dim in dims}
    return Moved(tuple(names), along, frozenset(over), axes, frozenset(crossing), frozenset(parted))


def _loops(path: Path, name: str) -> list[tuple[object, ...]]:
    """Return the loops around a statement as far as they order its own instances."""
    return [
        (loop.name, loop.dim, loop.kind, loop.backwards, loop.apart, loop.offset(name))
        for loop in loops_above(path)
    ]


def _changed(was: Path, now: Path, name: str) -> set[str]:
    """Return the dims whose loops around a statement are others, or at another depth."""
    old, new = _loops(was, name), _loops(now, name)
    others = [entry for entry in (*old, *new) if (entry in old) != (entry in new)]
    if not others:
        others = [a for a, b in zip(old, new, strict=True) if a != b]
    return {str(entry[1]) for entry in others}


def _no_longer_shared(d: Dependence, was: Mapping[str, Path], now: Mapping[str, Path]) -> set[str]:
    """Return the dims of the loops that two statements share only before, or only after."""
    old, new = ({loop.dim for loop in shared_loops(d.source, d.sink, at)} for at in (was, now))
    return old ^ new
