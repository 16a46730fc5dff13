"""The cost of a loop program at given sizes: arithmetic, bytes, calls and seconds of each
statement.

Seconds of a byte depend on how much else is used before it is used again. Within a body that is
known from the text; a body's first use of a buffer follows the last one of the iteration before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import ITEM_BYTES, Buffer, For
from workbench.planning.cost.array_calls import ArrayCall, Matrices
from workbench.planning.cost.lengths import UNKNOWN, Lengths
from workbench.planning.cost.points import (
    Amount,
    Number,
    PointCounts,
    larger,
    largest,
    summed,
    total,
)
from workbench.planning.cost.strides import Operand
from workbench.planning.cost.work import CostItem, CostLoop, PythonWork
from workbench.planning.machine.constants import Machine

KEPT_BY_ALLOCATOR = 1 << 25
"""The size above which every block of memory is new and touched for the first time."""


@dataclass(frozen=True)
class Share:
    """The cost of a part: seconds, arithmetic operations, bytes read and written, array calls."""

    seconds: float = 0.0
    operations: int = 0
    bytes: int = 0
    launches: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(
            self.seconds + other.seconds,
            self.operations + other.operations,
            self.bytes + other.bytes,
            self.launches + other.launches,
        )


@dataclass
class Spent:
    """The cost of one statement so far."""

    seconds: float = 0.0
    operations: int = 0
    bytes: int = 0
    launches: int = 0

    def add(self, seconds: float, operations: int, moved: int, launches: int) -> None:
        """Add to it."""
        self.seconds += seconds
        self.operations += operations
        self.bytes += moved
        self.launches += launches

    @property
    def share(self) -> Share:
        """All of it."""
        return Share(self.seconds, self.operations, self.bytes, self.launches)


@dataclass(frozen=True)
class _Use:
    """A use of a buffer by a call: bytes at each point and on average, and the bytes used since the
    last use (None: this is the body's first use).
    """

    buffer: Buffer
    bytes: Number
    mean: float
    moving: frozenset[str]
    since: float | None


NOTHING = frozenset[str]()

Touched = dict[str, tuple[float, frozenset[str], float]]
"""For each buffer one execution's use of it: bytes, the loop variables that select the part, and
the bytes of the whole.
"""


WARM, COLD = 1 << 17, 1 << 22
"""Bytes used between two executions of a call: up to `WARM` all its data are still in the nearest
caches, from `COLD` on none.
"""

CALL_BYTES = 1500
"""Bytes that a call uses besides its operands: objects, bytecode, tables."""


def cost(
    steps: Sequence[CostItem],
    sizes: Mapping[str, int],
    dtype: str,
    machine: Machine,
    lengths: Lengths = UNKNOWN,
) -> dict[str, Share]:
    """Return the cost of each statement; under "" the work in front of all and between."""
    costing = _Costing(machine, dtype)
    root = _Body(costing, PointCounts(sizes, lengths=lengths), "")
    root.go(steps)
    root.spend(1.0)
    return {
        statement: Share(spent.seconds, spent.operations, spent.bytes, spent.launches)
        for statement, spent in costing.spent.items()
    }


@dataclass
class _Costing:
    machine: Machine
    dtype: str
    spent: dict[str, Spent] = field(default_factory=dict)

    def share(self, statement: str) -> Spent:
        """Return the cost of a statement so far."""
        return self.spent.setdefault(statement, Spent())

    def item(self, buffer: Buffer) -> int:
        """Return the bytes of an element."""
        return ITEM_BYTES.get(buffer.dtype) or FLOAT_BYTES[self.dtype]

    def bytes_of(self, buffer: Buffer, points: PointCounts) -> Number:
        """Return the bytes of a whole buffer."""
        return points.product(buffer.shape) * self.item(buffer)


@dataclass
class _Body:
    """The body of a loop over `variable`, of a condition, or the program. A first pass in order
    counts; a second one, which knows the bytes of an iteration, computes seconds.
    """

    costing: _Costing
    points: PointCounts
    variable: str
    clock: float = 0.0
    """Bytes used so far."""
    last: dict[str, float] = field(default_factory=dict)
    """The clock's time of each buffer's last use."""
    touched: Touched = field(default_factory=dict)
    calls: list[tuple[ArrayCall, list[_Use]]] = field(default_factory=list)
    smalls: list[PythonWork] = field(default_factory=list)
    inside: list[tuple[_Body, float]] = field(default_factory=list)
    """The nested bodies, and how often each runs in an execution of this one."""
    called: float = 0.0
    """The number of calls in one execution."""

    # -- counting --------------------------------------------------------------------------------

    def go(self, steps: Sequence[CostItem]) -> None:
        """Count the steps in order."""
        if not self.points.executions:
            return
        for step in steps:
            if isinstance(step, ArrayCall):
                self.call(step)
            elif isinstance(step, PythonWork):
                self.smalls.append(step)
            else:
                self.nest(step)

    def call(self, call: ArrayCall) -> None:
        """Count a call."""
        points, weight = self.points, self.points.weight
        share = self.costing.share(call.statement)
        uses = [self.use(seen) for seen in (*call.reads, *call.writes)]
        share.launches += points.executions
        share.bytes += sum(total(use.bytes, weight) for use in uses)
        if call.per_point:
            share.operations += call.per_point * total(points.product(call.counted), weight)
        self.called += 1
        self.calls.append((call, uses))

    def use(self, seen: Operand) -> _Use:
        """Return a use of an array and advance the clock by it."""
        points, name = self.points, seen.buffer.name
        amount = points.product(seen.distinct) * self.costing.item(seen.buffer)
        mean = total(amount, points.weight) / points.executions
        since = self.clock - self.last[name] if name in self.last else None
        self.clock += mean
        self.last[name] = self.clock
        self.note(name, mean, seen.moving, largest(self.costing.bytes_of(seen.buffer, points)))
        return _Use(seen.buffer, amount, mean, seen.moving, since)

    def note(self, name: str, amount: float, moving: frozenset[str], whole: float) -> None:
        """Record that an execution of the body uses so much of a buffer."""
        before = self.touched.get(name, (0.0, NOTHING, 0.0))
        self.touched[name] = (max(before[0], amount), before[1] | moving, max(before[2], whole))

    def nest(self, step: CostLoop) -> None:
        """Count a loop or a condition: its contents, by how often it runs."""
        frame = step.frame
        if isinstance(frame, OpenStep):
            self.nested("", self.points.during(frame), step.steps)
            return
        if not isinstance(frame, For):
            self.nested("", self.points.where(frame.condition), step.steps)
            return
        points = self.points.inside(frame.variable, frame.lower, frame.upper, step.needed)
        self.nested(frame.variable, points, step.steps)

    def nested(self, variable: str, points: PointCounts, steps: Sequence[CostItem]) -> None:
        """Count nested steps. An iteration uses its own elements where they move with it."""
        body = _Body(self.costing, points, variable)
        body.go(steps)
        trips = points.executions / self.points.executions
        self.inside.append((body, trips))
        self.called += body.called * trips
        for name, (amount, moving, whole) in body.touched.items():
            used = min(whole, amount * trips) if variable in moving else amount
            self.clock += used
            self.last[name] = self.clock
            self.note(name, used, moving - {variable}, whole)

    # -- seconds ---------------------------------------------------------------------------------

    def spend(self, cold: float) -> None:
        """Compute the seconds of everything in the body. `cold` is the share of calls whose own
        data are in distant memory.
        """
        around = sum(amount for amount, _, _ in self.touched.values())
        slower = 1.0 + cold * (self.costing.machine.cold - 1.0)
        for small in self.smalls:
            self.costing.share(small.statement).seconds += self.small(small) * slower
        for call, uses in self.calls:
            overhead = self.costing.machine.call_of(call.kind) * slower * self.points.executions
            worked = self.seconds(call, uses, around)
            self.costing.share(call.statement).seconds += overhead + worked
        for body, trips in self.inside:
            kind = "loop" if body.variable else "condition"
            executions = body.points.executions if body.variable else self.points.executions
            between = self.costing.share("")
            between.seconds += self.costing.machine.call_of(kind) * executions
            if body.points.executions:
                body.spend(body.coldness(cold, trips))

    def coldness(self, outside: float, trips: float) -> float:
        """Return the share of cold calls: the first iteration comes after what is outside."""
        used = sum(amount for amount, _, _ in self.touched.values()) + self.called * CALL_BYTES
        share = math.log(max(used, 1.0) / WARM) / math.log(COLD / WARM)
        first = 1.0 / max(trips, 1.0) if self.variable else 1.0
        return first * outside + (1.0 - first) * min(max(share, 0.0), outside)

    def small(self, step: PythonWork) -> float:
        """Return the seconds of Python's work between array operations, and of filling memory."""
        machine, n = self.costing.machine, self.points.executions
        seconds = machine.call_of(step.kind) * n
        if step.buffer is not None:
            size = largest(self.costing.bytes_of(step.buffer, self.points))
            if step.filled:
                seconds += size * n * machine.seconds_per_byte(size)
            if size > KEPT_BY_ALLOCATOR:
                seconds += size * machine.fresh
        return seconds

    def seconds(self, call: ArrayCall, uses: Sequence[_Use], around: float) -> float:
        """Return the seconds of a call's work in all executions; an iteration uses `around`
        bytes.
        """
        machine, points, dtype = self.costing.machine, self.points, self.costing.dtype
        if call.matrices is not None:
            return summed(self.product(call.matrices), points.weight)
        moved: Amount = 0.0
        for use in uses:
            since = use.since
            if since is None:
                since = around
                if self.variable in use.moving:
                    since = max(since, largest(self.costing.bytes_of(use.buffer, points)))
            moved = moved + use.bytes * machine.seconds_per_byte(since + use.mean)
        elements = points.product(call.iteration.dims)
        rows = elements // larger(points.product(call.iteration.inner), 1)
        rate = machine.element_of(call.kind, dtype)
        if call.iteration.spread:
            rate = max(rate, machine.element_of(call.iteration.spread, dtype))
        worked = rows * machine.row_of(call.kind) + larger(moved, elements * rate)
        return summed(worked, points.weight)

    def product(self, m: Matrices) -> Amount:
        """Return the seconds of matrix products at each point."""
        machine, dtype = self.costing.machine, self.costing.dtype
        batch, rows, over, columns = (
            self.points.product(dims) for dims in (m.batch, m.rows, m.summed, m.columns)
        )
        arithmetic = 2 * rows * over * columns * machine.product[dtype]
        operands = rows * over + over * columns + rows * columns
        each = arithmetic + operands * machine.panel[dtype]
        if m.batch:
            each = each + machine.row_of("matmul")
        return batch * each
