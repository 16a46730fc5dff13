"""The work of the statements that records serve, counted at given sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.kernel_records import (
    PRODUCTS,
    Compute,
    Draw,
    Invoke,
    KernelRecord,
    Load,
    Loop,
    Serves,
    Store,
    Update,
    Value,
    Where,
    reads,
    values,
    writes,
)
from workbench.codegen.kernel_work import work
from workbench.lowering.values.intervals import greatest
from workbench.polyhedral.expression import Expression, expression

Ranges = Mapping[str, tuple[Expression, Expression]]

FUNCTIONS = frozenset(
    ("exp", "log", "log1p", "tanh", "sin", "cos", "power", "lgamma", "digamma", "trigamma")
)
FUNCTION_STEPS = 16
"""About how many instructions one of these functions takes; other operations take one or two."""
DRAW_STEPS = 80
"""Those of four random words: ten rounds of two products of 64 bits and four exclusive ors."""
SORT_STEPS = 32
"""Those of an element of a permutation, which is sorted by random words."""


@dataclass(frozen=True)
class StatementWork:
    """Operations of arithmetic, bytes moved in memory outside of blocks, and about how many
    instructions it takes: the measure by which time is shared out.
    """

    flops: float = 0.0
    bytes: float = 0.0
    steps: float = 0.0

    def __add__(self, other: StatementWork) -> StatementWork:
        return StatementWork(
            self.flops + other.flops, self.bytes + other.bytes, self.steps + other.steps
        )

    def __mul__(self, times: float) -> StatementWork:
        return StatementWork(self.flops * times, self.bytes * times, self.steps * times)


@dataclass(frozen=True)
class WorkAt:
    """A count of work at sizes. `outside` are the buffers in memory; a float has `real` bytes."""

    sizes: Mapping[str, int]
    outside: Collection[str]
    real: int

    def by_statement(
        self, records: Sequence[KernelRecord], ranges: Ranges, serving: str = ""
    ) -> dict[str, StatementWork]:
        """Return the work of each statement in one execution of records, of which the first serve
        `serving`. Loops count at their longest, conditions as if they held.
        """
        shares: dict[str, StatementWork] = {}
        for statement, one in self._each(records, ranges, serving):
            shares[statement] = shares.get(statement, StatementWork()) + one
        return shares

    def _each(
        self, records: Sequence[KernelRecord], ranges: Ranges, serving: str
    ) -> Iterator[tuple[str, StatementWork]]:
        for record in records:
            if isinstance(record, Serves):
                serving = record.statement
            elif isinstance(record, (Loop, Where)):
                times, inside = 1, ranges
                if isinstance(record, Loop):
                    inside = {**ranges, record.variable: (record.lower, record.upper - 1)}
                    times = max(self._at(record.upper - record.lower, ranges), 0)
                for statement, one in self._each(record.body, inside, serving):
                    yield statement, one * times
                serving = last_served(record.body, serving)
            else:
                counted = work((record,), self.outside, self.real, dict(ranges))
                flops, moved = (e.evaluate(self.sizes) for e in (counted.flops, counted.bytes))
                yield serving, StatementWork(flops, moved, self._steps(record, ranges))

    def _at(self, e: Expression, ranges: Ranges) -> int:
        return greatest(e, ranges).evaluate(self.sizes)

    def _steps(self, record: KernelRecord, ranges: Ranges) -> float:
        """Return about how many instructions a record takes that is no loop."""
        if isinstance(record, Invoke):
            return self._invoked(record, ranges)
        if isinstance(record, Draw):
            return DRAW_STEPS
        own = 1 if isinstance(record, (Store, Update)) else 0
        return own + sum(map(_steps_of, values(record)))

    def _invoked(self, record: Invoke, ranges: Ranges) -> float:
        def size(name: str) -> int:
            return self._at(expression(record.option[name]), ranges)

        if record.function in PRODUCTS:
            return size("rows") * size("columns") * size("times")
        if record.function == "turned":
            return 2 * size("rows") * size("columns")
        if record.function == "orthogonalize":
            rows, columns = size("rows"), size("columns")
            return 4 * rows * columns * min(rows, columns)
        if record.function.startswith("permutation"):
            return SORT_STEPS * size("n")
        return 1  # an external call


def readers_of_common(records: Sequence[KernelRecord]) -> frozenset[str]:
    """Return the statements that read what records store that serve no single one."""
    made: set[str] = set()
    readers: set[str] = set()

    def visit(body: Sequence[KernelRecord], serving: str) -> None:
        for record in body:
            if isinstance(record, Serves):
                serving = record.statement
            elif isinstance(record, (Loop, Where)):
                visit(record.body, serving)
                serving = last_served(record.body, serving)
            elif not serving:
                made.update(writes(record))
            elif made & set(reads(record)):
                readers.add(serving)

    visit(records, "")
    return frozenset(readers)


def last_served(records: Sequence[KernelRecord], serving: str) -> str:
    """Return the statement that is served behind records, given that before them."""
    for record in records:
        if isinstance(record, Serves):
            serving = record.statement
        elif isinstance(record, (Loop, Where)):
            serving = last_served(record.body, serving)
    return serving


def _steps_of(value: Value) -> float:
    if isinstance(value, Load):
        return 1
    if not isinstance(value, Compute):
        return 0
    own = FUNCTION_STEPS if value.operation in FUNCTIONS else 1
    return own + sum(map(_steps_of, value.arguments))
