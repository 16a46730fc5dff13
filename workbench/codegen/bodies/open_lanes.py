"""Steps of episodes that end: a kernel leaves them out once no lane of its block is open.

A loop over steps is left behind the last one at which a lane is open, and backwards begins with it.
Elsewhere neighbouring instances that are executed where the same element of `open` is true stand
under one condition: that it is true in some lane. The others run on beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from workbench.codegen.bodies.addresses import address
from workbench.codegen.emitter import Emitter, cast
from workbench.codegen.kernel_records import Load, Number, Update, Variable
from workbench.errors import ProgramError
from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.loops.records import For, If, Launch, Record, walk
from workbench.lowering.values.intervals import at_least
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
    def variables(self) -> frozenset[str]:
        """The variables around that say which elements they are."""
        ranges = (e for _, low, high in self.lanes for e in (low, high))
        names = frozenset[str]().union(*(e.variables for e in (*self.index, *ranges)))
        return names.difference(d for d, _, _ in self.lanes)

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
) -> Iterator[OpenLanes]:
    """Yield lanes of which one must be open for an instance to be needed: none for one that always
    is. `place` has the values of its loop dimensions, `opens` the arrays of what is open.
    """
    for guard in _guards(statement, opens):
        lanes = _open_lanes(guard, statement, place, blocks)
        if lanes is not None:
            yield lanes


def _open_lanes(
    guard: Read,
    statement: Statement,
    place: Mapping[str, Expression],
    blocks: tuple[AxisBlock, ...],
) -> OpenLanes | None:
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


def _guards(statement: Statement, opens: Collection[str]) -> tuple[Read, ...]:
    """Return the elements without which an instance is not needed: its guards, or for a summand
    that on which it is not 0.
    """
    if statement.guards or not isinstance(statement, Adding):
        return statement.guards
    body = statement.body
    if statement.by != "sum" or not isinstance(body, Call) or body.operation != "where":
        return ()
    condition, _, otherwise = body.arguments
    nothing = isinstance(otherwise, Literal) and not otherwise.shape and otherwise.value == 0
    if nothing and isinstance(condition, Read) and condition.array in opens:
        return (condition,)
    return ()


class Placed(Protocol):
    """A statement with the values of its loop dimensions, in blocks of its axes."""

    statement: Statement
    place: dict[str, Expression]
    blocks: tuple[AxisBlock, ...]


Run = tuple[OpenLanes | None, list[Record]]
"""Neighbouring records of a body, with the lanes that they need open."""


@dataclass(frozen=True)
class LoopNeeds:
    """The lanes that records in the body of a loop need open. `placed` gives the statement of a
    launch, `along` the place of the steps among the dims of each array of what is open. `zeros` are
    the statements whose results have to be 0 where none of their lanes is open.
    """

    loop: For
    placed: Callable[[Launch], Placed]
    stored: Mapping[str, Stored]
    along: Mapping[str, int]
    zeros: frozenset[str] = frozenset()
    _known: dict[int, OpenLanes | None] = field(default_factory=dict, repr=False)

    def runs(self, body: Sequence[Record], but: OpenLanes | None = None) -> Iterator[Run]:
        """Yield the records of a body in runs that need the same lanes open, `but` those that are
        known to be.
        """

        def lanes(record: Record) -> OpenLanes | None:
            found = self.of(record)
            return None if found == but else found

        for key, run in groupby(body, lanes):
            yield key, list(run)

    def of(self, record: Record) -> OpenLanes | None:
        """Return the lanes of which one must be open for a record to be needed: one around others
        has the lanes of all, and is asked at each turn of the loop.
        """
        if id(record) not in self._known:
            self._known[id(record)] = self._of(record)
        return self._known[id(record)]

    def _of(self, record: Record) -> OpenLanes | None:
        if isinstance(record, Launch):
            return self._of_launch(record)
        if not isinstance(record, (For, If)):
            return None
        inside = {self.of(r) for r in record.body if isinstance(r, (Launch, For, If))}
        lanes = inside.pop() if len(inside) == 1 else None
        if lanes is None or not self._is_always(lanes):
            return None
        if isinstance(record, If):
            return lanes
        varies = record.variable in lanes.variables or self.closes(record)
        return None if varies else lanes

    def ending(self) -> OpenLanes | None:
        """Return the lanes with whose last open step the loop ends, or begins backwards: those of
        most launches; None where no lanes say so at the beginning of each turn.
        """
        counted = Counter(self._all(self.loop.body))
        if not counted:
            return None
        ((lanes, _),) = counted.most_common(1)
        step, turn = lanes.index[self.along[lanes.array]], self.loop.variable
        each = any(isinstance(r, Launch) and self.of(r) == lanes for r in self.loop.body)
        if turn in (step - variable(turn)).variables or not (each or self._is_always(lanes)):
            return None
        ahead = [told - step for told in self._told(lanes.array)]
        if any(e.terms or not e.constant for e in ahead) or (ahead and self.loop.backwards):
            return None
        return lanes

    def closes(self, record: Record) -> bool:
        """Tell whether a record writes something where no lane is open: that none is at the next
        step, or zeros.
        """
        if isinstance(record, (For, If)):
            return any(map(self.closes, record.body))
        if not isinstance(record, Launch):
            return False
        together = (record, *record.more)
        return any(one.statement in self.zeros or self._tells(one) for one in together)

    def follows(self, records: Sequence[Record], lanes: OpenLanes) -> bool:
        """Tell whether something is left of records where none of the lanes is open."""
        return any(self._follows(record, lanes) for record in records)

    def asking(self, records: Sequence[Record], lanes: OpenLanes) -> Placed:
        """Return the first statement among records that needs some of the lanes open."""
        return next(self.placed(r) for r in _launches(records) if self._of_launch(r) == lanes)

    def _follows(self, record: Record, lanes: OpenLanes) -> bool:
        needed = self.of(record)
        if needed == lanes:
            return self.closes(record)
        if needed is None and isinstance(record, If):
            return self.follows(record.body, lanes)
        return isinstance(record, (Launch, For, If))

    def _of_launch(self, launch: Launch) -> OpenLanes | None:
        together = (launch, *launch.more)
        if launch.more and self.closes(launch):
            return None
        found = set(map(self._of_one, together))
        return found.pop() if len(found) == 1 else None

    def _of_one(self, launch: Launch) -> OpenLanes | None:
        """Return the lanes that a launch needs open at a step that moves with the loop."""
        one = self.placed(launch)
        for lanes in open_lanes(one.statement, one.place, one.blocks, self.along):
            if any(self.loop.variable in e.variables for e in lanes.index):
                return lanes
        return None

    def _is_always(self, lanes: OpenLanes) -> bool:
        """Tell whether there are such elements at each turn of the loop."""
        loop, along = self.loop, self.along[lanes.array]
        step, (lower, upper) = lanes.index[along], self.stored[lanes.array].array.extent[along]
        others = [e for position, e in enumerate(lanes.index) if position != along]
        others += [e for _, low, high in lanes.lanes for e in (low, high)]
        turns = {loop.variable: (loop.lower, loop.upper - 1)}
        known = at_least(step - lower, 0, turns) and at_least(upper - 1 - step, 0, turns)
        return known and not any(loop.variable in e.variables for e in others)

    def _all(self, body: Sequence[Record]) -> Iterator[OpenLanes]:
        """Yield the lanes that launches need, but for those of turns inside."""
        for record in body:
            if isinstance(record, If):
                yield from self._all(record.body)
            elif isinstance(record, (For, Launch)):
                lanes = self.of(record)
                if lanes is not None:
                    yield lanes

    def _tells(self, launch: Launch) -> bool:
        statement = self.placed(launch).statement
        return any(guard.array == statement.array for guard in statement.guards)

    def _told(self, array: str) -> Iterator[Expression]:
        """Yield the steps of which the loop says whether they are open."""
        for one in map(self.placed, _launches(self.loop.body)):
            if one.statement.array == array:
                yield one.statement.write[self.along[array]].substitute(one.place)


def _launches(records: Sequence[Record]) -> Iterator[Launch]:
    """Yield the launches in records, with those in their loops."""
    inside = (r for r in walk(tuple(records)) if isinstance(r, Launch))
    return (one for r in inside for one in (r, *r.more))


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
