"""Launches of which none needs another, one behind the other: threads may run them at once.

What stands between them hands no memory from one to the next, so that a run takes no more of it.
Where less than two of them are long, threads would take longer to begin than one to run all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.codegen.emitter import total
from workbench.codegen.joined_launches import memory_in
from workbench.identity import remembered
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, AtOnce, For, Free, If, Launch, Record
from workbench.lowering.values.stored import symbolic
from workbench.program.values import Array, Program, Statement

LONG = 1024
"""The least elements that a long statement reads or writes."""


def together(
    program: Program, loops: LoopProgram, axes: Mapping[str, Sequence[str]]
) -> LoopProgram:
    """Return a loop program in which such launches are one record. `axes` are those of
    statements.
    """
    taking = _Taking(program, axes, memory_in(loops))
    return replace(loops, body=taking.body(loops.body))


@dataclass(frozen=True)
class _Taking:
    program: Program
    axes: Mapping[str, Sequence[str]]
    memory: Mapping[str, str]

    def body(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """Return the records of a body, with those of its loops."""
        done: list[Record] = []
        group = _Group()
        for record in records:
            if isinstance(record, Launch):
                if any(self._waits(record, other) for other in group.launches):
                    done += self._closed(group)
                    group = _Group()
                group.launches.append(record)
            elif isinstance(record, Free) and group.launches:
                group.freed.append(record)
            elif isinstance(record, Allocate) and record.source is not None:
                done.append(record)
            else:
                done += self._closed(group)
                group = _Group()
                apart = isinstance(record, For) and record.apart
                if isinstance(record, (For, If)) and not apart:
                    record = replace(record, body=self.body(record.body))
                done.append(record)
        return (*done, *self._closed(group))

    def _closed(self, group: _Group) -> Sequence[Record]:
        """Return the launches of a group, and behind them what was freed between."""
        if sum(map(self._is_long, group.launches)) < 2:
            return (*group.launches, *group.freed)
        return (AtOnce(tuple(group.launches)), *group.freed)

    def _is_long(self, launch: Launch) -> bool:
        statement = self.program.statement[launch.statement]
        if self.axes[statement.name]:
            return True
        return _is_wide(statement, self.program.array[statement.array])

    def _waits(self, one: Launch, other: Launch) -> bool:
        """Tell whether one has to run before the other: one writes what the other touches."""
        reads, writes = self._places(one.reads), self._places(one.writes)
        other_reads, other_writes = self._places(other.reads), self._places(other.writes)
        return bool(writes & (other_reads | other_writes) or reads & other_writes)

    def _places(self, names: Sequence[str]) -> set[str]:
        return {self.memory.get(name, name) for name in names}


@remembered(4096, same=2)
def _is_wide(statement: Statement, array: Array) -> bool:
    """Tell whether an instance of a statement, which writes this array, reads or writes many
    elements.
    """
    written = total(symbolic(array.shape))
    read = (total(symbolic(r.shape)) for r in statement.reads)
    wide = any(not n.terms and n.constant >= LONG for n in (written, *read))
    return wide or bool(written.terms)


@dataclass
class _Group:
    """Launches so far of which none needs another, and what is freed between them."""

    launches: list[Launch] = field(default_factory=list)
    freed: list[Free] = field(default_factory=list)
