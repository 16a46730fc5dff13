"""The instances of which array operations may be left out: those whose episode has ended. A loop
over steps ends with the last one at which an episode is open, but for what has to follow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    AtOnce,
    Enter,
    For,
    If,
    Launch,
    Record,
    RuntimeCheck,
    View,
    walk,
)
from workbench.lowering.loops.renaming import mentioned
from workbench.lowering.values.intervals import at_least
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression, variable
from workbench.program.bodies import Call, Literal, Read
from workbench.program.episodes.held import condition
from workbench.program.values import Program, Statement


@dataclass(frozen=True)
class OpenStep:
    """A step of episodes that is run while one of some lanes is open: while an element of the array
    `open` is true, whose `index` is over loops and lanes. Each lane is a dim with its number of
    lanes. `closed`: a step that is run when none is open.
    """

    open: str
    index: tuple[Expression, ...]
    lanes: tuple[tuple[str, Expression], ...]
    closed: bool = False

    @property
    def variables(self) -> frozenset[str]:
        """The loop variables that say which step it is."""
        names = frozenset[str]().union(*(e.variables for e in self.index))
        return names.difference(dim for dim, _ in self.lanes)


@dataclass(frozen=True)
class Guarded:
    """A statement whose instances need the element `index` of the array `open` to be true.

    The steps of episodes are `along` one of its dims. `zero`: where it is not true, a sum of
    products still takes the result, which is 0 then. `tells`: the step of which the statement
    itself says whether it is open.
    """

    open: Stored
    index: tuple[Expression, ...]
    along: int
    zero: bool
    tells: Expression | None = None

    @property
    def step(self) -> Expression:
        """The step of the episode."""
        return self.index[self.along]


def guarded(program: Program, stored: Mapping[str, Stored]) -> dict[str, tuple[Guarded, ...]]:
    """Return the statements that may be left out, and those that say what is open, by name."""
    ends = {end.open: end.dim for end in program.equations.ends}

    def of(s: Statement, guard: Read) -> Guarded:
        index = tuple(e for e in guard.index if isinstance(e, Expression))
        opened = stored[guard.array]
        along = opened.array.dims.index(ends[guard.array])
        tells = s.write[along] if guard.array == s.array else None
        return Guarded(opened, index, along, is_zero_elsewhere(s), tells)

    return {s.name: tuple(of(s, g) for g in s.guards) for s in program.statements if s.guards}


def is_zero_elsewhere(s: Statement) -> bool:
    """Tell whether a statement's result is 0 where one of its guards is not true."""
    body = s.body
    if not isinstance(body, Call) or body.operation != "where" or not s.guards:
        return False
    if body.arguments[0] != condition(s.guards):
        return False
    otherwise = body.arguments[2]
    return isinstance(otherwise, Literal) and not otherwise.shape and otherwise.value == 0


# -- loops over steps ------------------------------------------------------------------------------

Entries = tuple[Expression | None, ...]
"""An index of what is open, as it lies in memory; None: all along a dim."""


@dataclass(frozen=True)
class OpenSteps:
    """A loop over the steps of episodes: all of it runs up to the last step at which an episode is
    open. Behind that only `rest` does, places in its body: `statements` are left out, but for the
    zeros that some of them, `zeros`, leave there.
    """

    step: OpenStep
    buffer: str
    entries: Entries
    statements: frozenset[str]
    zeros: frozenset[str]
    rest: tuple[int, ...]


def open_steps(guarded: Mapping[str, Sequence[Guarded]], loop: For) -> OpenSteps | None:
    """Return the part of a loop in which episodes are open; None where it is no loop over steps."""
    needed: dict[Entries, list[tuple[_Instance, Guarded]]] = {}
    told: list[Expression] = []
    for one in _instances(loop.body):
        for guard in guarded.get(one.statement, ()):
            if guard.tells is not None:
                told.append(guard.tells.substitute(one.at))
            elif _moves_with(guard.step.substitute(one.at), loop.variable):
                needed.setdefault(_entries(guard, one), []).append((one, guard))
    if not needed:
        return None
    entries, pairs = max(needed.items(), key=lambda pair: len(pair[1]))
    first, guard = pairs[0]
    instances = [one for one, _ in pairs]
    step = guard.step.substitute(first.at)
    if any((later - step).terms or later == step for later in told):
        return None
    if not any(one.always for one in instances) and not _exists(guard, step, loop):
        return None
    names = frozenset(one.statement for one in instances)
    zeros = frozenset(one.statement for one, guard in pairs if guard.zero)
    opened = _step(guard, entries, step)
    rest = tuple(_rest(loop.body, names, zeros))
    return OpenSteps(opened, guard.open.buffer.name, entries, names, zeros, rest)


@dataclass(frozen=True)
class _Instance:
    """An instance in the body of a loop: the values of its loop dimensions, and the variables of
    the loops around it in that body. `always`: each turn has it.
    """

    statement: str
    at: Mapping[str, Expression]
    inner: frozenset[str]
    always: bool


def _instances(
    body: Sequence[Record], inner: frozenset[str] = frozenset(), always: bool = True
) -> Iterator[_Instance]:
    for record in body:
        if isinstance(record, RuntimeCheck):
            yield _Instance(record.statement, dict(record.instance), inner, always)
        elif isinstance(record, Launch):
            for launch in (record, *record.more):
                yield _Instance(launch.statement, dict(launch.values), inner, always)
        elif isinstance(record, For):
            yield from _instances(record.body, inner | {record.variable}, False)
        elif isinstance(record, If):
            yield from _instances(record.body, inner, False)
        elif isinstance(record, AtOnce):
            yield from _instances(record.body, inner, always)


def _moves_with(step: Expression, name: str) -> bool:
    """Tell whether a step is a loop's variable plus what does not change in it."""
    return name not in (step - variable(name)).variables


def _exists(guard: Guarded, step: Expression, loop: For) -> bool:
    """Tell whether each turn of a loop has an element that says whether episodes are open: a turn
    in which no instance needs it may have none.
    """
    first, behind = guard.open.array.extent[guard.along]
    ranges = {loop.variable: (loop.lower, loop.upper - 1)}
    return at_least(step - first, 0, ranges) and at_least(behind - 1 - step, 0, ranges)


def _entries(guard: Guarded, one: _Instance) -> Entries:
    """Return the index of the elements that tell whether some instance is needed."""
    found: list[Expression | None] = []
    for position in guard.open.order:
        e = guard.index[position]
        here = e.substitute(one.at)
        known = e.variables <= one.at.keys() and not here.variables & one.inner
        found.append(guard.open.slot(position, here) if known else None)
    return tuple(found)


def _step(guard: Guarded, entries: Entries, step: Expression) -> OpenStep:
    opened = guard.open
    whole = [p for p, e in zip(opened.order, entries, strict=True) if e is None]
    index = tuple(
        step if p == guard.along else variable(d) for p, d in enumerate(opened.array.dims)
    )
    lanes = tuple((opened.array.dims[p], opened.count(p)) for p in whole)
    return OpenStep(opened.array.name, index, lanes)


def _rest(body: Sequence[Record], names: frozenset[str], zeros: frozenset[str]) -> Iterator[int]:
    """Yield the places of the records that run at steps at which no episode is open: not those of
    the statements `names`, nor views that no other takes.
    """
    statement, kept, used = "", list[int](), set[str]()
    for k, record in enumerate(body):
        if isinstance(record, Enter):
            statement = record.statement
        left_out = statement in names
        if isinstance(record, RuntimeCheck):
            left_out = statement not in zeros if left_out else False
            statement = ""
        elif isinstance(record, (For, If, AtOnce, Launch)):
            inside = {one.statement for one in _instances((record,))}
            needed = zeros if _is_launched(record) else frozenset()
            left_out = left_out or (bool(inside) and inside <= names - needed)
        elif not isinstance(record, (Apply, Enter)):
            left_out = False
        if not left_out:
            kept.append(k)
            used |= _used(record)
    for k in reversed(kept):
        record = body[k]
        if isinstance(record, View) and record.name in used:
            used.add(record.source)
    yield from (k for k in kept if not isinstance(record := body[k], View) or record.name in used)


def _is_launched(record: Record) -> bool:
    """Tell whether a record is of launches: zeros that such leave elsewhere are launched."""
    return any(isinstance(r, Launch) for r in walk((record,)))


def _used(record: Record) -> set[str]:
    """Return the names that a record mentions, but for a view's."""
    if isinstance(record, Apply):
        return set(mentioned(record))
    if isinstance(record, RuntimeCheck):
        return {record.name}
    if isinstance(record, Allocate):
        return set() if record.source is None else {record.source}
    if isinstance(record, (For, If)):
        sources = (r.source for r in walk(record.body) if isinstance(r, View))
        return set(sources).union(*map(_used, walk(record.body)))
    return set()
