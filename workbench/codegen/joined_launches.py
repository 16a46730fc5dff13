"""Launches outside of blocks that become one kernel: statements over the same elements in a row,
one loop for all, in which what one computes goes on to the next.

A launch joins an earlier one where what stands between touches nothing that it writes, and writes
nothing that it touches. It does not know how kernels are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.codegen.bodies.addresses import address, inner_step
from workbench.codegen.bodies.element_bodies import by_element, in_a_row
from workbench.identity import Same
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, For, Free, If, Launch, Record, walk
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression
from workbench.program.accumulating import Adding, Finish
from workbench.program.bodies import Read
from workbench.program.values import Program, Statement


def joined(program: Program, loops: LoopProgram, axes: Mapping[str, Sequence[str]]) -> LoopProgram:
    """Return a loop program whose launches over the same elements are one. `axes` are those of
    statements.
    """
    joining = _Joining(program, loops.stored, axes, memory_in(loops))
    return replace(loops, body=joining.body(loops.body))


Row = tuple[str, str, Expression, Expression]


@dataclass(frozen=True)
class _Touched:
    """A launch, and the memory that it reads and writes, named by the first buffer in it.

    `rows` are its elements in a row: their memory, dtype, first place there and the distance to
    the next. There are `length` in each, None where it has no rows. Memory `at_once` has numbers
    for all elements. It may be left out where one of `guards` is false.
    """

    launch: Launch
    guards: tuple[Read, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    length: Expression | None = None
    rows: frozenset[Row] = frozenset()
    at_once: frozenset[str] = frozenset()

    def waits(self, other: _Touched) -> bool:
        """Tell whether one has to run before the other."""
        return bool(self.shared(other))

    def shared(self, other: _Touched) -> frozenset[str]:
        """Return the memory that both touch and one of them writes."""
        return self.writes & (other.reads | other.writes) | self.reads & other.writes

    def joins(self, other: _Touched) -> bool:
        """Tell whether both can be one loop: each touches what the other writes at its own element
        only.
        """
        if self.length is None or self.length != other.length:
            return False
        rows = self.rows | other.rows
        at_once = self.at_once | other.at_once
        return all(
            memory not in at_once and sum(name == memory for name, *_ in rows) == 1
            for memory in self.shared(other)
        )


@dataclass(frozen=True)
class _Joining:
    program: Program
    stored: Mapping[str, Stored]
    axes: Mapping[str, Sequence[str]]
    memory: Mapping[str, str]
    """The first buffer in the memory of each."""

    def body(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """Return the records of a body, with those of its loops."""
        done: list[Record] = []
        straight: list[Record] = []
        for record in records:
            if isinstance(record, (For, If)):
                done += self._straight(straight)
                straight.clear()
                apart = isinstance(record, For) and record.apart
                done.append(record if apart else replace(record, body=self.body(record.body)))
            else:
                straight.append(record)
        return (*done, *self._straight(straight))

    def _straight(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return records without a loop between them, launches joined to earlier ones."""
        groups: list[list[_Touched]] = []
        for record in records:
            if isinstance(record, Launch):
                _add(self._touched(record), groups)
        if all(len(group) == 1 for group in groups):
            return records
        launches = [_one([each.launch for each in group]) for group in groups]
        return placed(records, launches, self.memory)

    def _touched(self, launch: Launch) -> _Touched:
        statement = self.program.statement[launch.statement]
        stored = [self.stored[array] for array in dict.fromkeys(_arrays(statement))]
        memory = tuple(self.memory.get(one.buffer.name, one.buffer.name) for one in stored)
        return _touched(Same(launch, statement, *stored), memory, bool(self.axes[statement.name]))


def _arrays(statement: Statement) -> Iterator[str]:
    """Yield the arrays that a statement touches, that which it writes first."""
    yield statement.array
    for read in statement.reads:
        yield read.array


@lru_cache(maxsize=4096)
def _touched(objects: Same, memory: tuple[str, ...], has_axes: bool) -> _Touched:
    """Return what a launch touches. The objects are the launch, its statement, and the storage of
    each array that this touches, which is in `memory`; `has_axes`: it has array axes.
    """
    launch, statement, *storage = objects.objects
    in_memory = {one.buffer.name: name for one, name in zip(storage, memory, strict=True)}
    reads, writes = (
        frozenset(in_memory[name] for name in names) for names in (launch.reads, launch.writes)
    )
    rows = None if has_axes else _rows_of(statement, launch, storage, in_memory)
    tells = any(guard.array == statement.array for guard in statement.guards)
    return _Touched(launch, () if tells else statement.guards, reads, writes, *(rows or ()))


Rows = tuple[Expression, frozenset[Row], frozenset[str]]


def _rows_of(
    statement: Statement, launch: Launch, storage: Sequence[Stored], memory: Mapping[str, str]
) -> Rows | None:
    """Return how many elements of a statement are in a row, the rows that it touches, and the
    memory that has numbers for all elements; None where one loop is not all that it is.
    """
    row = _row(statement)
    if row is None:
        return None
    stored = {one.array.name: (one, memory[one.buffer.name]) for one in storage}
    place = dict(launch.values)
    touched = [(row.array, row.write), *((r.array, r.index) for r in row.reads if r.shape)]
    rows = set[Row]()
    for array, index in touched:
        one, name = stored[array]
        placed = [e.substitute(place) for e in index if isinstance(e, Expression)]
        begin = address(one, placed, expression(0), place)
        rows.add((name, one.buffer.dtype, begin, inner_step(one)))
    at_once = frozenset(stored[r.array][1] for r in row.reads if not r.shape)
    return symbolic(row.body.shape)[0], frozenset(rows), at_once


def _row(statement: Statement) -> Statement | None:
    """Return a statement over its elements in a row, if one loop is all that it is."""
    if isinstance(statement, (Adding, Finish)) or statement.combiner is not None:
        return None
    row = in_a_row(statement)
    return row if row is not None and by_element(row) else None


def _add(one: _Touched, groups: list[list[_Touched]]) -> None:
    """Add a launch to the last group whose loop it can share, with which it has elements in common
    and is left out, or behind all groups.
    """
    for group in reversed(groups):
        waited = [other for other in group if one.waits(other)]
        common = any(one.rows & other.rows for other in group)
        alike = group[0].length == one.length and group[0].guards == one.guards
        if common and alike and all(map(one.joins, waited)):
            group.append(one)
            return
        if waited:
            break
    groups.append([one])


def _one(launches: Sequence[Launch]) -> Launch:
    """Return the launch of one kernel instead of several."""
    first, *more = launches
    reads = dict.fromkeys(name for launch in launches for name in launch.reads)
    writes = dict.fromkeys(name for launch in launches for name in launch.writes)
    return replace(first, reads=tuple(reads), writes=tuple(writes), more=tuple(more))


def placed(
    records: Sequence[Record], launches: Sequence[Launch], memory: Mapping[str, str]
) -> list[Record]:
    """Return the launches of records in a new order, what they need allocated before its first use
    and freed behind its last. `memory` is that of `memory_in`.
    """
    uses = [(k, name) for k, r in enumerate(launches) for name in (*r.reads, *r.writes)]
    first = {name: k for k, name in reversed(uses)}
    last = {memory.get(name, name): k for k, name in uses}
    before: dict[int, list[Record]] = {}
    behind: dict[int, list[Record]] = {}
    for record in reversed(records):
        if isinstance(record, Allocate):
            name, source = record.buffer.name, record.source
            at = first.setdefault(name, len(launches))  # it is first used in a later loop
            if source is not None:
                first[source] = min(at, first.get(source, at))
            before.setdefault(at, []).insert(0, record)
    for record in records:
        if isinstance(record, Free):
            at = last.get(memory.get(record.name, record.name), -1)
            behind.setdefault(at, []).append(record)
    found = behind.pop(-1, [])
    for k, launch in enumerate(launches):
        found += [*before.get(k, ()), launch, *behind.get(k, ())]
    return [*found, *before.get(len(launches), ())]


def memory_in(loops: LoopProgram) -> dict[str, str]:
    """Return the first buffer in the memory of each that takes over another's."""
    memory: dict[str, str] = {}
    for record in walk(loops.body):
        if isinstance(record, Allocate) and record.source is not None:
            memory[record.buffer.name] = memory.get(record.source, record.source)
    return memory
