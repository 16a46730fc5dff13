"""Loops of launches over the steps of episodes, as C: a test whether some episode is open, and the
zeros of statements that are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from workbench.codegen.bodies.addresses import address
from workbench.lowering.instances.guards import OpenSteps
from workbench.lowering.loops.records import For, Launch
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


def loop_over_steps(
    loop: For, begin: str, turn: str, test: Sequence[str], whole: Sequence[str], rest: Sequence[str]
) -> Iterator[str]:
    """Yield a loop that ends where no episode is open any more, and backwards begins where one is;
    what has to follow, `rest`, is in a loop of its own. `test` finds `some_open`.
    """
    first, second = (rest, whole) if loop.backwards else (whole, rest)
    leave = f"if ({'' if loop.backwards else '!'}some_open) break;"
    yield "{"
    yield f"    int64_t {begin};"
    yield f"    for (; {turn}) {{"
    yield from (f"        {line}" for line in (*test, leave, *first))
    yield "    }"
    if second:
        yield f"    for (; {turn}) {{"
        yield from (f"        {line}" for line in second)
        yield "    }"
    yield "}"


def zeros(
    statement: Statement, launch: Launch, stored: Stored, place: str, show: Show
) -> str | None:
    """Return the line that writes zeros where a launch writes; None where these elements are not in
    one piece. `place` is the text of a pointer to the memory.
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
    begin = f"{place} + {show(address(stored, index, expression(0), {}))}"
    return f"memset({begin}, 0, sizeof(*({place})) * (size_t)({show(number)}));"
