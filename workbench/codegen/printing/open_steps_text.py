"""Loops of launches over the steps of episodes, as C: a test whether some episode is open, and the
zeros of statements that are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from workbench.codegen.bodies.addresses import address
from workbench.lowering.instances.guards import OpenSteps
from workbench.lowering.loops.records import Launch
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.values import Statement

Show = Callable[[Expression], str]


def some_open(
    part: OpenSteps, stored: Stored, place: str, name: Callable[[str], str], show: Show
) -> Iterator[str]:
    """Yield the lines of an integer `some_open`: 1 where a lane is open, else 0. `place` is the
    text of the memory of what is open, `name` gives a variable its name in C.
    """
    yield "int some_open = 0;"
    loops = ""
    for dim, count in part.step.lanes:
        lane = name(dim)
        loops += f"for (int64_t {lane} = 0; {lane} < {show(count)}; {lane}++) "
    at = show(address(stored, part.step.index, expression(0), {}))
    yield f"{loops}some_open |= ((const uint8_t *){place})[{at}];"


def zeros(
    statement: Statement, launch: Launch, stored: Stored
) -> tuple[Expression, Expression] | None:
    """Return where the elements begin that a launch writes, and their number; None where they are
    not in one piece.
    """
    dims, at = stored.array.dims, dict(launch.values)
    known = [p for p in stored.order if dims[p] in at]
    first = stored.order[: len(known)]
    whole = tuple(variable(d) for d in statement.dims)
    if list(first) != known or len(known) > stored.lead or statement.write != whole:
        return None
    index = [at.get(d, lower) for d, (lower, _) in zip(dims, stored.array.extent, strict=True)]
    rest = [stored.count(p) for p in stored.order[len(known) :]]
    number = math.prod((*rest, *symbolic(stored.array.shape)), start=expression(1))
    return address(stored, index, expression(0), {}), number
