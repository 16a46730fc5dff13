"""Prefetch: iteration t of a loop copies the slice that iteration t + n reads.

A ring holds n + 1 slices, one for each of these iterations. The slices of the first n iterations
come in front of the loop. A slice that is the same in all iterations, or that does not exist n
iterations earlier, comes when it is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from workbench.lowering.instances.swapping import AHEAD, TO_DEVICE, TO_HOST
from workbench.lowering.loops.records import (
    WHOLE,
    Apply,
    Broadcast,
    Buffer,
    Enter,
    Entry,
    For,
    How,
    If,
    Index,
    Launch,
    Range,
    Record,
    Reshape,
    RuntimeCheck,
    View,
    walk,
)
from workbench.lowering.values.scope import Workspace
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.conditions import AffineComparison, Condition
from workbench.polyhedral.dependences.legality import near_witness
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.expression import (
    Expression,
    expression,
    maximum,
    minimum,
    variable,
)
from workbench.polyhedral.tree import paths
from workbench.program.dependences import dependences
from workbench.program.values import Program

Values = Mapping[str, Expression]


@dataclass(frozen=True)
class Late:
    """A slice of `array` that comes only when `reader` needs it, in the loop called `loop`.

    It is the "same" in all iterations, part of it is "written" there, what `writer` writes is "new"
    to iterations at most `iterations` later, or iterations have no "order".
    """

    array: str
    reader: str
    loop: str
    why: Literal["same", "written", "new", "order"]
    writer: str = ""
    iterations: int = 0


def prefetched(
    program: Program, stored: Mapping[str, Stored], workspace: Workspace, body: list[Record]
) -> tuple[list[Record], tuple[Late, ...]]:
    """Return the records with slices fetched as early as the storage says, and those late."""
    ahead = {stored[a].buffer.name: (a, n) for a, n in program.storage.swapped if n}
    if not ahead:
        return body, ()
    views = {r.name: r for r in walk(tuple(body)) if isinstance(r, View)}
    prefetching = _Prefetching(program, workspace, ahead, views, [])
    return prefetching.body(body), tuple(dict.fromkeys(prefetching.late))


def too_new(program: Program, late: Late) -> Witness | None:
    """Return two instances that show why a slice does not exist early enough."""
    at, known = paths(program.schedule), dependences(program.equations)
    for dependence in known.by_source[late.writer]:
        if (dependence.sink, dependence.array) == (late.reader, late.array):
            witness = near_witness(known, dependence, at, late.loop, late.iterations)
            if witness is not None:
                return witness
    return None


@dataclass(frozen=True)
class _Fetch:
    """A copy to the device in a loop's body.

    It has the conditions around it there, the views that lead to its operand from the array's
    buffer and to its result from the slice's, and the statements that use it, the one that it is
    fetched for first.
    """

    array: str
    n: int
    loop: For
    conditions: tuple[Condition, ...]
    copy: Apply
    host: str
    source: tuple[View, ...]
    slice: str
    target: tuple[View, ...]
    readers: tuple[str, ...]


@dataclass(frozen=True)
class _Prefetching:
    program: Program
    workspace: Workspace
    ahead: Mapping[str, tuple[str, int]]
    """The array and the number of iterations early, by the array's buffer."""
    views: Mapping[str, View]
    late: list[Late]

    def body(self, records: Iterable[Record]) -> list[Record]:
        """Return the records of a body, with those in front of its loops."""
        placed: list[Record] = []
        for record in records:
            if isinstance(record, For):
                placed += self.loop(replace(record, body=tuple(self.body(record.body))))
            elif isinstance(record, If):
                placed.append(replace(record, body=tuple(self.body(record.body))))
            else:
                placed.append(record)
        return placed

    def loop(self, loop: For) -> list[Record]:
        """Return a loop that fetches early, and the records in front of it.

        Inner loops are done before.
        """
        first: list[Record] = []
        front: list[Record] = []
        early: set[Apply] = set()
        for fetch in self.fetches(loop, loop.body, ()):
            late = self.hindrance(fetch)
            if late is not None:
                self.late.append(late)
                continue
            early.add(fetch.copy)
            ring = self.ring(fetch)
            first.append(self.beginning(fetch, ring))
            front += [*self.following(fetch, ring), self.slot(fetch, ring, fetch.slice, {})]
        return [*first, replace(loop, body=(*front, *_without(loop.body, early)))]

    def fetches(
        self, loop: For, records: Sequence[Record], conditions: tuple[Condition, ...]
    ) -> Iterator[_Fetch]:
        """Yield the copies to the device that are meant to come early, without inner loops'."""
        for record in records:
            if isinstance(record, If):
                yield from self.fetches(loop, record.body, (*conditions, record.condition))
            elif isinstance(record, Apply) and record.function == TO_DEVICE:
                host, source = self.chain(record.inputs[0])
                if host in self.ahead:
                    held, target = self.chain(record.out)
                    array, n = self.ahead[host]
                    ends = host, source, held, target
                    users = self.users(loop, held, array)
                    yield _Fetch(array, n, loop, conditions, record, *ends, users)

    def chain(self, name: str) -> tuple[str, tuple[View, ...]]:
        """Return the buffer of a view, and the views that lead there from it."""
        views: list[View] = []
        while name in self.views:
            views.append(self.views[name])
            name = views[-1].source
        return name, tuple(reversed(views))

    def users(self, loop: For, held: str, array: str) -> tuple[str, ...]:
        """Return the statements that use a slice of an array in a loop."""
        statements, statement = [], ""
        for record in walk(loop.body):
            if isinstance(record, Enter):
                statement = record.statement
            elif isinstance(record, Apply):
                names = (*record.inputs, record.out)
                statements += [statement for name in names if self.chain(name)[0] == held]
            elif isinstance(record, Launch):
                names = (*record.reads, *record.writes)
                if any(self.chain(name)[0] == held for name in names):
                    launched = (one.statement for one in (record, *record.more))
                    statements += [name for name in launched if self.touches(name, array)]
        return tuple(dict.fromkeys(statements))

    def touches(self, statement: str, array: str) -> bool:
        """Tell whether a statement reads or writes an array."""
        known = self.program.statement[statement]
        return array in (known.array, *(access.array for access in known.reads))

    # -- why not ---------------------------------------------------------------------------

    def hindrance(self, fetch: _Fetch) -> Late | None:
        """Return why a slice comes late, or None."""
        loop = fetch.loop
        late = Late(fetch.array, fetch.readers[0], loop.dim, "same")
        if loop.apart:
            return replace(late, why="order")
        written = [
            (self.chain(r.inputs[0])[0], self.chain(r.out)[0])
            for r in walk(loop.body)
            if isinstance(r, Apply) and r.function == TO_HOST
        ]
        launches = [r for r in walk(loop.body) if isinstance(r, Launch)]
        written += [(self.chain(name)[0],) * 2 for r in launches for name in r.writes]
        if fetch.slice in {held for held, _ in written}:
            return replace(late, why="written")
        if fetch.host in {host for _, host in written}:
            inside = {r.statement for r in walk(loop.body) if isinstance(r, Enter)}
            inside |= {one.statement for r in launches for one in (r, *r.more)}
            for reader in fetch.readers:
                for writer in self.program.writers[fetch.array]:
                    new = Late(fetch.array, reader, loop.dim, "new", writer.name, _far(fetch))
                    if writer.name in inside and too_new(self.program, new) is not None:
                        return new
        return None if any(_moves(loop, view.how) for view in fetch.source) else late

    # -- early copies ----------------------------------------------------------------------

    def ring(self, fetch: _Fetch) -> str:
        """Allocate memory for as many slices as are there at a time."""
        one = self.workspace.buffers.pop(fetch.slice)
        name = self.workspace.fresh("slices", of=fetch.host)
        shape = (expression(fetch.n + 1), *one.shape)
        self.workspace.reserve(Buffer(name, one.dtype, shape))
        return name

    def slot(self, fetch: _Fetch, ring: str, name: str, values: Values) -> View:
        """Return the slice of an iteration, called `name`."""
        shape = self.workspace.buffers[ring].shape
        at = variable(fetch.loop.variable).substitute(values) % shape[0]
        return View(name, ring, Index((at, *[WHOLE] * (len(shape) - 1))))

    def beginning(self, fetch: _Fetch, ring: str) -> For:
        """Return the loop that fetches the slices of the first iterations, in the same order."""
        loop = fetch.loop
        lower, upper = loop.lower, minimum(loop.lower + fetch.n, loop.upper)
        if loop.backwards:
            lower, upper = maximum(loop.upper - fetch.n, loop.lower), loop.upper
        body = (_entered(fetch), *self.copied(fetch, ring, {}, ()))
        return replace(loop, lower=lower, upper=upper, body=body)

    def following(self, fetch: _Fetch, ring: str) -> list[Record]:
        """Return the records that fetch the slice of the n-th next iteration, if there is one."""
        loop, now = fetch.loop, variable(fetch.loop.variable)
        then = now - fetch.n if loop.backwards else now + fetch.n
        there = AffineComparison(loop.lower, "<=", then)
        if not loop.backwards:
            there = AffineComparison(then, "<", loop.upper)
        ahead = ((AHEAD, fetch.n),)
        records = self.copied(fetch, ring, {loop.variable: then}, ahead)
        source = fetch.source if not fetch.conditions else ()
        still = sum(1 for _ in takewhile(lambda view: not _moves(loop, view.how), source))
        return [_entered(fetch), *records[:still], If(there, records[still:])]

    def copied(
        self, fetch: _Fetch, ring: str, values: Values, options: tuple[tuple[str, int], ...]
    ) -> tuple[Record, ...]:
        """Return the copy of an iteration's slice, with its conditions and views."""
        fresh = self.workspace.fresh
        chain = (*fetch.source, *fetch.target)
        names = {name: fresh(name) for name in (fetch.slice, *(view.name for view in chain))}
        records: list[Record] = [
            View(names[view.name], names.get(view.source, view.source), _shifted(view.how, values))
            for view in chain
        ]
        slot = self.slot(fetch, ring, names[fetch.slice], values)
        records.insert(len(fetch.source), slot)
        (operand,) = fetch.copy.inputs
        records.append(Apply(TO_DEVICE, (names[operand],), names[fetch.copy.out], options))
        for condition in reversed(fetch.conditions):
            records = [If(condition.substitute(values), tuple(records))]
        return tuple(records)


def _entered(fetch: _Fetch) -> Enter:
    """Mark an early copy as the work of the statement that it is fetched for."""
    iterations = "1 iteration" if fetch.n == 1 else f"{fetch.n} iterations"
    return Enter(fetch.readers[0], f"{fetch.array}, {iterations} early")


def _far(fetch: _Fetch) -> int:
    """Return how far a loop's dimension moves in the iterations that a slice is to be early."""
    for record in walk(fetch.loop.body):
        if isinstance(record, (RuntimeCheck, Launch)):
            values = record.values if isinstance(record, Launch) else record.instance
            value = dict(values).get(fetch.loop.dim)
            step = value.coefficient(fetch.loop.variable) if value is not None else 0
            if step:
                return fetch.n * abs(step)
    return fetch.n


def _moves(loop: For, how: How) -> bool:
    """Tell whether a view is another one in the next iteration."""
    return _shifted(how, {loop.variable: variable(loop.variable) + 1}) != how


def _without(records: Sequence[Record], copies: Collection[Apply]) -> tuple[Record, ...]:
    """Return the records of a loop's body without some copies."""
    kept: list[Record] = []
    for record in records:
        if isinstance(record, If):
            kept.append(replace(record, body=_without(record.body, copies)))
        elif not (isinstance(record, Apply) and record in copies):
            kept.append(record)
    return tuple(kept)


def _shifted(how: How, values: Values) -> How:
    """Return the view at other values of loop variables."""
    if isinstance(how, Index):
        return Index(tuple(_entry(entry, values) for entry in how.entries))
    if isinstance(how, Reshape | Broadcast):
        return replace(how, shape=tuple(n.substitute(values) for n in how.shape))
    return how


def _entry(entry: Entry, values: Values) -> Entry:
    if isinstance(entry, Expression):
        return entry.substitute(values)
    if isinstance(entry, Range):
        start, stop = entry.start.substitute(values), entry.stop.substitute(values)
        return replace(entry, start=start, stop=stop)
    return entry
