"""Steps of episodes that end: a kernel leaves them out once no lane of its block is open.

Neighbouring instances that are executed where the same element of `open` is true stand under one
condition: that it is true in some lane. The others run on beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.bodies.addresses import address
from workbench.codegen.emitter import Emitter, cast
from workbench.codegen.kernel_records import Load, Number, Update, Variable
from workbench.errors import ProgramError
from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.loops.records import Launch, Record
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock, with_blocks
from workbench.polyhedral.sets.relations import bounds, dims_of, project_out
from workbench.program.accumulating import Adding
from workbench.program.bodies import Call, Literal, Read
from workbench.program.values import Statement


@dataclass(frozen=True)
class OpenLanes:
    """The elements of `open`, one a lane, of which one must be true for instances to be needed.

    `lanes` are their dims with the range of each, `index` is over these.
    """

    array: str
    index: tuple[Expression, ...]
    lanes: tuple[tuple[str, Expression, Expression], ...]

    @property
    def step(self) -> OpenStep:
        """The step that is run while one of the lanes is open."""
        return OpenStep(
            self.array, self.index, tuple((d, high - low) for d, low, high in self.lanes)
        )


def open_lanes(
    statement: Statement,
    place: Mapping[str, Expression],
    blocks: tuple[AxisBlock, ...],
    opens: Collection[str],
) -> OpenLanes | None:
    """Return the lanes of which one must be open for an instance to be needed; None for one that
    always is. `place` has the values of its loop dimensions, `opens` the arrays of what is open.
    """
    guard = _guard(statement, opens)
    if guard is None:
        return None
    plain = [e for e in guard.index if isinstance(e, Expression)]
    dims = tuple(dict.fromkeys(d for e in plain for d in sorted(e.variables - place.keys())))
    domain = with_blocks(statement.domain, blocks)
    others = [d for d in dims_of(domain) if d not in dims and d not in place]
    try:
        ranges = bounds(project_out(domain, others), list(dims)) if dims else []
    except ProgramError:  # lanes that have gaps
        return None
    lanes = [
        (d, low.substitute(place), high.substitute(place))
        for d, (low, high) in zip(dims, ranges, strict=True)
    ]
    return OpenLanes(guard.array, tuple(e.substitute(place) for e in plain), tuple(lanes))


def _guard(statement: Statement, opens: Collection[str]) -> Read | None:
    """Return the element without which an instance is not needed: its guard, or for a summand that
    on which it is not 0.
    """
    if statement.guard is not None or not isinstance(statement, Adding):
        return statement.guard
    body = statement.body
    if statement.by != "sum" or not isinstance(body, Call) or body.operation != "where":
        return None
    condition, _, otherwise = body.arguments
    nothing = isinstance(otherwise, Literal) and not otherwise.shape and otherwise.value == 0
    if nothing and isinstance(condition, Read) and condition.array in opens:
        return condition
    return None


def runs(
    body: Sequence[Record], lanes_of: Mapping[int, OpenLanes | None]
) -> Iterator[tuple[OpenLanes | None, list[Record]]]:
    """Yield the records of a body in runs that need the same lanes open. `lanes_of` has the lanes
    of launches by their position.
    """
    run: list[Record] = []
    key: OpenLanes | None = None
    for position, record in enumerate(body):
        own = lanes_of.get(position)
        if run and own != key:
            yield key, run
            run = []
        key = own
        run.append(record)
    if run:
        yield key, run


def some_open(
    out: Emitter, stored: Stored, around: Mapping[str, Expression], needed: OpenLanes
) -> AffineComparison:
    """Write a count of 1 where a lane is open, 0 where none is; return that it is 1."""
    name = out.name("some_open")
    out.add(Variable(name, Number(0, "int32")))
    place = dict(around)

    def visit(rest: Sequence[tuple[str, Expression, Expression]]) -> None:
        if rest:
            (d, low, high), *inside = rest
            with out.loop(d, low, high) as lane:
                place[d] = lane
                visit(inside)
            return
        index = tuple(e.substitute(place) for e in needed.index)
        at = address(stored, index, expression(0), place)
        value = cast(Load(stored.buffer.name, at, "bool"), "int32")
        out.add(Update(name, value, "maximum"))

    visit(needed.lanes)
    return AffineComparison(expression(1), "<=", variable(name))


def closes(launch: Launch, statement: Statement) -> bool:
    """Tell whether an instance says what is open at the next step: where no lane is, it says so."""
    guard = statement.guard
    return guard is not None and guard.array == statement.array and not launch.more
