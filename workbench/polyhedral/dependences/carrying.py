"""Dependences that carry a dimension: from one of its values to another. Statements that need each
other so cannot run as one array operation over it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import islpy as isl

from workbench.polyhedral.dependences.components import shortest_chain
from workbench.polyhedral.dependences.flow import (
    Dependence,
    Dependences,
    pair_order,
    pair_witness,
)
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.tree import Standing


class Carried(NamedTuple):
    """A dependence that carries a dimension, and its smallest pair at two values of that."""

    dependence: Dependence
    witness: Witness


def carries(dependences: Dependences, dependence: Dependence, dim: str) -> bool:
    """Tell whether some pair of a dependence is at two values of `dim`."""
    return not _crossing(dependences, dependence, dim).is_empty()


def first_carried(
    dependences: Dependences, tried: Iterable[Dependence], dim: str
) -> Carried | None:
    """Return the first of some dependences that carries `dim`, or None."""
    for dependence in tried:
        crossing = _crossing(dependences, dependence, dim)
        if not crossing.is_empty():
            source = dependences.statements[dependence.source]
            sink = dependences.statements[dependence.sink]
            return Carried(dependence, pair_witness(source, sink, dependence.array, crossing))
    return None


def _crossing(dependences: Dependences, dependence: Dependence, dim: str) -> isl.Map:
    """Return the pairs of a dependence at two values of `dim`; none where an end lacks it."""
    pairs = dependences.relation(dependence)
    source = dependences.statements[dependence.source]
    sink = dependences.statements[dependence.sink]
    if dim not in source.dims or dim not in sink.dims:
        return isl.Map.empty(pairs.get_space())
    ranks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    ends = Standing(source.dims.index(dim)), Standing(sink.dims.index(dim))
    earlier = pairs.intersect(pair_order(*ranks, *ends, "<"))
    return earlier.union(pairs.intersect(pair_order(*ranks, *ends, ">")))


def carried_cycle(
    dependences: Dependences, component: Collection[str], dim: str, chosen: Collection[str]
) -> tuple[Carried, list[str]]:
    """Return what explains best why the statements of a component, which need each other at
    different values of `dim`, cannot run at once: a dependence that carries `dim`, and a cycle
    through it by a chosen statement.
    """
    inside = [d for d in dependences.all if d.source in component and d.sink in component]
    carried = first_carried(dependences, _explaining_first(inside, chosen), dim)
    assert carried is not None, f"no dependence carries {dim} in {component}"
    return carried, _cycle_through(inside, carried.dependence, chosen)


def _explaining_first(inside: Sequence[Dependence], chosen: Collection[str]) -> list[Dependence]:
    """Sort dependences by how much they explain: a chosen statement that needs itself, then its
    neighbours.

    A statement that was not chosen and needs itself explains nothing of the chosen ones.
    """

    def rank(d: Dependence) -> tuple[bool, bool, int]:
        alone = d.source == d.sink
        ends = (d.source in chosen) + (d.sink in chosen)
        return alone and not ends, not (alone and ends), -ends

    return sorted(inside, key=rank)


def _cycle_through(
    inside: Sequence[Dependence], first: Dependence, chosen: Collection[str]
) -> list[str]:
    """Return a cycle that begins with the dependence and comes by a chosen statement."""
    if first.source == first.sink:
        return [first.source, first.sink]
    back = shortest_chain(inside, [first.sink], {first.source})
    if not {first.source, *back} & set(chosen):
        ways = (shortest_chain(inside, [first.sink], {name}) for name in sorted(chosen))
        there = next((way for way in ways if way), None)
        if there is not None:
            back = [*there, *shortest_chain(inside, there[-1:], {first.source})[1:]]
    return [first.source, *back]
