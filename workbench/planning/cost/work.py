"""A loop program as steps with a cost at any sizes: calls of array operations, Python's work
between them, and the loops and conditions around. Computed once per loop program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    Broadcast,
    Buffer,
    Constant,
    Count,
    Enter,
    For,
    If,
    Record,
    View,
)
from workbench.planning.cost.array_calls import ArrayCall, call_of
from workbench.planning.cost.strides import Operand, viewed, whole
from workbench.polyhedral.conditions import AffineComparison, Condition

Variables = frozenset[str]


@dataclass(frozen=True)
class PythonWork:
    """Work of Python between array operations, such as taking a view."""

    statement: str
    kind: str
    buffer: Buffer | None = None
    """Memory that is allocated."""
    filled: bool = False


@dataclass(frozen=True)
class CostLoop:
    """A loop or a condition around steps; `needed` are the loop variables that matter inside. A
    condition may be that episodes are open at a step.
    """

    frame: For | If | OpenStep
    steps: tuple[CostItem, ...]
    needed: Variables


CostItem = ArrayCall | PythonWork | CostLoop


def steps_of(program: LoopProgram) -> tuple[CostItem, ...]:
    """Return the steps of a loop program, in text order."""
    return _Reader(program).body(program.body, "")


@dataclass
class _Reader:
    """A walk over a loop program in text order that follows its names."""

    program: LoopProgram
    seen: dict[str, Operand] = field(default_factory=dict)

    def body(self, records: tuple[Record, ...], statement: str) -> tuple[CostItem, ...]:
        items: list[CostItem] = []
        for record in records:
            if isinstance(record, Enter):
                statement = record.statement
            elif isinstance(record, For):
                steps = self.loop(record)
                items.append(CostLoop(record, steps, needed(steps)))
            elif isinstance(record, If):
                steps = self.body(record.body, statement)
                items.append(CostLoop(record, steps, needed(steps)))
            else:
                items.extend(self.step(record, statement))
        return tuple(items)

    def loop(self, loop: For) -> tuple[CostItem, ...]:
        """Return the steps of a loop's body: where it is over steps of episodes, those while one is
        open, and those behind.
        """
        steps, part = self.body(loop.body, ""), self.program.open_steps(loop)
        if part is None:
            return steps
        rest = self.body(tuple(loop.body[k] for k in part.rest), "")
        closed = replace(part.step, closed=True)
        return (
            CostLoop(part.step, steps, needed(steps)),
            CostLoop(closed, rest, needed(rest)),
        )

    def step(self, record: Record, statement: str) -> Iterator[CostItem]:
        """Yield the steps of a record that is no loop."""
        if isinstance(record, View):
            self.seen[record.name] = viewed(self.seen[record.source], record.how)
            yield _small(statement, "broadcast" if isinstance(record.how, Broadcast) else "view")
        elif isinstance(record, (Constant, Count)):
            self.seen[record.buffer.name] = whole(record.buffer)
            yield PythonWork("", "constant", record.buffer, filled=True)
        elif isinstance(record, Allocate):
            buffer = record.buffer
            if record.source is not None:  # the same memory under another name
                name = self.seen[record.source].buffer.name
                self.seen[buffer.name] = whole(replace(buffer, name=name))
                return
            self.seen[buffer.name] = whole(buffer)
            if buffer.scratch:
                yield _small(statement, "reserve")
            else:
                yield PythonWork(statement, "allocate", buffer, filled=bool(buffer.initial))
        elif isinstance(record, Apply):
            yield call_of(record, statement, self.seen)


@lru_cache(maxsize=4096)
def _small(statement: str, kind: str) -> PythonWork:
    """Return Python's work; equal work is one object, since every program has much of it."""
    return PythonWork(statement, kind)


def needed(steps: tuple[CostItem, ...]) -> Variables:
    """Return the loop variables that the work of these steps depends on."""
    variables = set[str]()
    for step in steps:
        if isinstance(step, ArrayCall):
            variables |= step.variables
        elif isinstance(step, CostLoop):
            frame = step.frame
            variables |= step.needed
            if isinstance(frame, For):
                variables -= {frame.variable}
                variables |= frame.lower.variables | frame.upper.variables
            elif isinstance(frame, If):
                variables |= _variables(frame.condition)
    return frozenset(variables)


def _variables(condition: Condition) -> Variables:
    if isinstance(condition, AffineComparison):
        return condition.left.variables | condition.right.variables
    return Variables().union(*(_variables(part) for part in condition.parts))
