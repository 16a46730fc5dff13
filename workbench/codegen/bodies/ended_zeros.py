"""Zeros of steps that are left out: which statements of a kernel have to write them.

A sum of products takes the factors of all lanes that run beside it, those of a step that was left
out too: they are 0 then. Mostly it is left out at the same steps, and nothing has to be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from workbench.codegen.bodies.open_lanes import LoopNeeds, OpenLanes
from workbench.lowering.loops.records import For, If, Launch, Record
from workbench.polyhedral.expression import Expression

Needs = Callable[[For, frozenset[str]], LoopNeeds]
"""Makes the needs of a loop, where some statements write zeros."""
Needed = tuple[OpenLanes, ...]
"""Lanes of each of which one is open where an instance runs."""


def ended_zeros(
    body: Sequence[Record],
    sums: Mapping[str, Sequence[str]],
    needs: Needs,
    along: Mapping[str, int],
) -> frozenset[str]:
    """Return the statements whose zeros are taken at steps at which they are left out. `sums` has
    the sums of products that take those of each.

    One that writes zeros may keep others in its loop from being left out, which then take more.
    """
    zeros = frozenset[str]()
    while sums:
        needed = _by_statement(body, needs, zeros)
        found = {
            name
            for name, takers in sums.items()
            for taker in takers
            if _are_taken(needed.get(name, ()), needed.get(taker, [()]), along)
        }
        if found <= zeros:
            break
        zeros |= found
    return zeros


def _by_statement(
    body: Sequence[Record], needs: Needs, zeros: frozenset[str]
) -> dict[str, list[Needed]]:
    """Return the lanes that the launches of each statement need, where some write zeros."""
    found: dict[str, list[Needed]] = {}
    for name, lanes in _needed(body, lambda loop: needs(loop, zeros), ()):
        found.setdefault(name, []).append(lanes)
    return found


def _are_taken(own: Sequence[Needed], taker: Sequence[Needed], along: Mapping[str, int]) -> bool:
    """Tell whether a sum runs at a step at which what it takes is left out."""
    wanted = {_lanes(lanes, along) for needed in own for lanes in needed}
    return any(not wanted <= {_lanes(lanes, along) for lanes in needed} for needed in taker)


def _lanes(lanes: OpenLanes, along: Mapping[str, int]) -> object:
    """Return the lanes without their step: each reader takes elements of a step of its own."""
    others: tuple[Expression, ...] = tuple(
        e for place, e in enumerate(lanes.index) if place != along[lanes.array]
    )
    return lanes.array, others, lanes.lanes


def _needed(
    body: Sequence[Record], needs: Callable[[For], LoopNeeds], around: Needed
) -> Iterator[tuple[str, Needed]]:
    """Yield the statement of each launch with the lanes that it needs."""
    for record in body:
        if isinstance(record, Launch):
            yield from ((one.statement, around) for one in (record, *record.more))
        elif isinstance(record, For) and not record.apart:
            loop = needs(record)
            yield from _of_turn(record.body, loop, loop.ending(), needs, around)
        elif isinstance(record, (For, If)):
            yield from _needed(record.body, needs, around)


def _of_turn(
    body: Sequence[Record],
    loop: LoopNeeds,
    ending: OpenLanes | None,
    needs: Callable[[For], LoopNeeds],
    around: Needed,
) -> Iterator[tuple[str, Needed]]:
    """Yield the same of a loop's body, which `ending` ends: under conditions too, that is looked
    for in what is left of a turn.
    """
    for record in body:
        lanes = loop.of(record)
        if lanes is None and ending is not None and isinstance(record, If):
            yield from _of_turn(record.body, loop, ending, needs, around)
        else:
            yield from _needed((record,), needs, around if lanes is None else (*around, lanes))
