"""Pairs of statements of which instances have to come one after the other, with what orders them.

The order is that of the program after the step, where all dependences hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from workbench.lowering.memory.lives import homes, lives, shapes
from workbench.lowering.memory.takeover import memory_of, same_places, touching
from workbench.polyhedral.dependences.flow import Dependence
from workbench.polyhedral.dependences.legality import PathStep, shared_loops, shared_steps
from workbench.polyhedral.dependences.settling import Settled, settled
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.reuse import Turn, handed_on, slots_in_turn
from workbench.polyhedral.lifetimes.shared_memory import Pair as Sharing
from workbench.polyhedral.tree import Path, paths
from workbench.program.accumulating import derived
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.reasons.reason import Ordered, Orderer, Pair


@dataclass(frozen=True, eq=False)
class Link:
    """A pair of statements, ordered, and the instances that make it up."""

    ordered: Ordered
    parts: tuple[Settled, ...] = field(repr=False)

    @property
    def least(self) -> Mapping[str, int]:
        """The smallest sizes at which there is a pair of instances."""
        return min((part.least for part in self.parts), key=lambda sizes: sum(sizes.values()))

    def at(self, sizes: Mapping[str, int]) -> Iterator[Pair]:
        """Yield the pairs of instances at given sizes, each once."""
        both = dict.fromkeys(pair for part in self.parts for pair in part.at(sizes))
        return (Pair(self.ordered, source, sink) for source, sink in both)


# -- who reads what others write -------------------------------------------------------------------


def flow_links(program: Program, wanted: Collection[Dependence]) -> list[Link]:
    """Return the dependences of a program that are wanted; one for the reads of one array."""
    needs, at = dependences(program.equations), paths(program.schedule)
    groups: dict[tuple[str, str, str], list[Dependence]] = {}
    for d in needs.all:
        if d in wanted:
            groups.setdefault((d.source, d.sink, d.array), []).append(d)
    links = []
    for (source, sink, array), group in groups.items():
        steps = shared_steps(needs.statements[source], needs.statements[sink], at)
        parts = tuple(settled(needs.relation(d), steps) for d in group)
        by = _orderers(parts, steps, source, sink, at)
        links.append(Link(Ordered(source, sink, array, by), parts))
    return links


def alone(program: Program, names: Collection[str]) -> Iterator[Link]:
    """Yield, for statements of which no instance reads another, that there is no such pair."""
    needs = dependences(program.equations)
    for s in program.statements:
        if s.name in names and all(d.sink != s.name for d in needs.by_source[s.name]):
            yield Link(Ordered(s.name, s.name, s.array, ()), ())


def _orderers(
    parts: Collection[Settled],
    steps: tuple[PathStep, ...],
    source: str,
    sink: str,
    at: Mapping[str, Path],
) -> tuple[Orderer, ...]:
    """Return what brings the pairs into order, outermost first."""
    names = [loop.name for loop in shared_loops(source, sink, at)]
    found = []
    for position in sorted({p for part in parts for p in part.positions}):
        kind = steps[position].kind
        if kind == "before":
            found.append(Orderer("sequence", inside=tuple(names)))
        else:
            found.append(Orderer("memory" if kind == "own" else "loop", names[position]))
    if any(not part.whole for part in parts):
        found.append(Orderer("operation"))
    return tuple(found)


# -- who overwrites what others use ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Folded:
    """A dimension of an array that keeps `window` of its `length` slices. The slice as many further
    along takes the place of one, or before it where `way` is -1; 0 where that differs.
    """

    array: str
    dim: str
    window: Expression
    length: Expression
    way: Literal[-1, 0, 1]
    links: tuple[Link, ...]


@dataclass(frozen=True, eq=False)
class HandedOn:
    """An array that takes over the memory of another, and who writes it behind whose uses. They may
    also take turns there, element by element.
    """

    array: str
    to: str
    takes_turns: bool
    links: tuple[Link, ...]


def folded(before: Program, after: Program) -> list[Folded]:
    """Return the dimensions that a step folds, or folds further by an update in place."""
    fresh = [pair for pair in after.storage.contracted if pair not in before.storage.contracted]
    in_place = {a for a, to in after.storage.donated if a == to}
    in_place -= {a for a, to in before.storage.donated if a == to}
    fresh += [pair for pair in after.storage.contracted if pair[0] in in_place]
    program, statements = derived(after), shapes(after)
    lifetimes = lives(after)
    around, at = homes(after, lifetimes), paths(program.schedule)
    found = []
    for array, dim in dict.fromkeys(fresh):
        record = program.array[array]
        position = record.dims.index(dim)
        window = lifetimes[array].windows[position]
        assert window is not None, f"{array} is not folded along {dim}"
        own = sum(loop.apart for loop in around[array])
        way, turns = slots_in_turn(
            array, record.extent, position, window, program.schedule, statements, own
        )
        lower, upper = record.extent[position]
        links = tuple(_links(turns, array, at))
        found.append(Folded(array, dim, window, upper - lower, way, links))
    return found


def handed(before: Program, after: Program) -> list[HandedOn]:
    """Return the arrays that a step gives the memory of others."""
    memory, found = memory_of(after), []
    for array, to in after.storage.donated:
        if array == to or (array, to) in before.storage.donated:
            continue
        program = memory.program
        extents = {name: program.array[name].extent for name in (array, to)}
        over, back = handed_on(
            Sharing(array, to, same_places(memory, array, to)),
            extents,
            program.schedule,
            touching(memory, array, to),
            len(memory.homes[array]),
        )
        links = *_links(over, array, memory.paths), *_links(back, to, memory.paths)
        found.append(HandedOn(array, to, bool(back), links))
    return found


def _links(turns: Collection[Turn], array: str, at: Mapping[str, Path]) -> Iterator[Link]:
    """Yield what keeps writes behind reads; behind writes only where nothing reads."""
    reads = [turn for turn in turns if turn.is_read]
    groups: dict[tuple[str, str], list[Turn]] = {}
    for turn in reads or turns:
        groups.setdefault((turn.use, turn.write), []).append(turn)
    for (use, write), group in groups.items():
        parts = tuple(turn.settled for turn in group)
        by = _orderers(parts, group[0].steps, use, write, at)
        yield Link(Ordered(use, write, array, by, "overwrites"), parts)
