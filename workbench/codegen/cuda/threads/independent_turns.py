"""Independence of a loop's turns, by the variables and elements that it names.

It looks at records only: what it does not see is not said to be independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.kernel_records import (
    Draw,
    Invoke,
    KernelRecord,
    Leave,
    Let,
    Load,
    Loop,
    Prefetch,
    Require,
    Scratch,
    Serves,
    Stamp,
    Store,
    Total,
    Update,
    Variable,
    Where,
    leaves,
    loads,
    walk,
)
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.expressions.atoms import Extremum, Size
from workbench.polyhedral.expressions.atoms import Variable as Named


def are_independent(loop: Loop, totals: bool = False) -> bool:
    """Tell whether no turn of a loop needs another; `totals`: a turn may add up points, too.

    Turns are apart in a buffer that they write if they have elements of their own in it, or each
    place in it is the loop's variable times a number, and what else is added differs by less than
    that.
    """
    if any(map(leaves, loop.body)):
        return False
    inside = tuple(walk(loop.body))
    own = {r.name for r in inside if isinstance(r, Variable)}
    for record in inside:
        if isinstance(record, (Invoke, Scratch, Stamp)):
            return False
        if isinstance(record, Total) and not (totals and record.variable.name in own):
            return False
        if isinstance(record, Update) and record.name not in own:
            return False
    written = {r.buffer for r in inside if isinstance(r, Store)} - {loop.own}
    places: dict[str, list[_Place]] = {name: [] for name in written}
    for buffer, at, varying in _touched(loop.body, {}):
        if buffer in places:
            place = _place(at, loop.variable, varying)
            if place is None:
                return False
            places[buffer].append(place)
    return all(
        _are_apart(one, other) for found in places.values() for one in found for other in found
    )


def width(loop: Loop) -> int | None:
    """Return the most turns of a loop, None where its bounds do not say it."""
    return most(loop.upper - loop.lower)


def has_turns(loop: Loop) -> bool:
    """Tell whether a loop has a turn at all sizes, which are 1 at least, and whatever is open."""
    return loop.step is None and has_range(loop)


def has_range(loop: Loop) -> bool:
    """Tell whether the range of a loop has a turn at all sizes, whichever of them run."""
    turns = loop.upper - loop.lower
    least = turns.constant
    for part, factor in turns.terms:
        if not isinstance(part, Size) or factor < 0:
            return False
        least += factor
    return least > 0


def most(value: Expression) -> int | None:
    """Return the greatest value of an expression, None where it does not say it."""
    for part, factor in value.terms:
        if isinstance(part, Extremum) and (factor > 0) == (part.kind == "min"):
            rest = value - Expression(0, ((part, factor),))
            found = (most(rest + part.left * factor), most(rest + part.right * factor))
            known = [n for n in found if n is not None]
            return min(known) if known else None
    return None if value.terms else value.constant


@dataclass(frozen=True)
class _Place:
    """A place `factor * turn + base + more`, where `more` is between two numbers."""

    factor: int
    base: Expression
    least: int
    most: int


def _are_apart(one: _Place, other: _Place) -> bool:
    apart = one.base - other.base
    if one.factor != other.factor or apart.terms:
        return False
    furthest = max(apart.constant + one.most - other.least, other.most - one.least - apart.constant)
    return furthest < abs(one.factor)


def _place(at: Expression, turn: str, varying: Mapping[str, int | None]) -> _Place | None:
    factor, base, least, greatest = at.coefficient(turn), at, 0, 0
    for part, times in at.terms:
        if not isinstance(part, Named):
            if any(
                name == turn or name in varying for name in Expression(0, ((part, 1),)).variables
            ):
                return None
            continue
        if part.name == turn:
            base = base - Expression(0, ((part, times),))
        elif part.name in varying:
            turns = varying[part.name]
            if turns is None:
                return None
            base = base - Expression(0, ((part, times),))
            least += min(0, times * (turns - 1))
            greatest += max(0, times * (turns - 1))
    return _Place(factor, base, least, greatest) if factor else None


def _touched(
    body: Sequence[KernelRecord], varying: Mapping[str, int | None]
) -> Iterator[tuple[str, Expression, Mapping[str, int | None]]]:
    """Yield each buffer and place that records touch, with the names that vary inside of the turn:
    the most values of each, from 0 on, None where they are not known.
    """
    varying = dict(varying)
    for record in body:
        for load in loads(record):
            yield load.buffer, load.at, dict(varying)
        if isinstance(record, Store):
            yield record.buffer, record.at, dict(varying)
        elif isinstance(record, (Let, Total, Variable)):
            varying[record.name] = None
        elif isinstance(record, Draw):
            varying.update(dict.fromkeys(record.names))
        elif isinstance(record, Loop):
            zero = record.lower == 0
            inside = {**varying, record.variable: width(record) if zero else None}
            yield from _touched(record.body, inside)
        elif isinstance(record, Where):
            yield from _touched(record.body, varying)
        else:
            assert isinstance(record, (Leave, Load, Prefetch, Require, Serves, Update))
