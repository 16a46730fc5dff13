"""Compiled kernels as steps with a cost at any sizes: straight work on scalars or groups of lanes,
calls of run-time functions, and the loops around. Computed once per program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from workbench.codegen.cuda.memory.memory_parts import MemoryParts
from workbench.codegen.dealing import Dealing
from workbench.codegen.kernel_records import (
    LANES,
    PRODUCTS,
    Compute,
    Draw,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Require,
    Scratch,
    Serves,
    Store,
    Total,
    Update,
    Value,
    Variable,
    Where,
    values,
    walk,
)
from workbench.codegen.kernel_records import Loop as RecordLoop
from workbench.codegen.kernel_work import BYTES
from workbench.codegen.kernels import KEPT, KernelRecords, ProgramKernels
from workbench.identity import Same
from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.instances.swapping import TO_DEVICE
from workbench.lowering.loops.records import Apply, AtOnce, Enter, For, If, Launch, Record
from workbench.polyhedral.conditions import Condition, names_in
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.accumulating import owner

Names = frozenset[str]

LOADED, STORED, GATHERED = "load", "store", "gather"
"""Kinds of access: of neighbours by lanes, or of one element, and of elements far apart."""

ONE = "one "
"""What a kind begins with that is of one number, and not of all lanes of a group."""

OWN_KINDS = frozenset(
    ("exp", "log", "log1p", "sqrt", "tanh", "sin", "cos", "divide", "floor_divide", "remainder",
     "power", "lgamma", "digamma", "trigamma", "uniform", "normal")
)  # fmt: skip
"""The operations that take longer than an addition."""
FREE = frozenset(("copy", "cast", "logical_not"))
"""Those that mostly disappear in their neighbours."""

DRAWN, CHECKED, COMBINED = "draw", "check", "total"


@dataclass(frozen=True)
class StraightWork:
    """Work of one turn of a body for a statement: operations by kind, bytes by buffer.

    `chain` is the longest row of new values of a variable, each of which waits for the one before.
    """

    statement: str
    counts: Mapping[str, int]
    chain: int
    flops: int
    bytes: Mapping[str, Expression]


@dataclass(frozen=True)
class RuntimeCall:
    """A call of a run-time function.

    `shape` are the rows, columns and summed elements of a sum of products, of others the elements;
    `room` tells whether columns are whole groups of lanes.
    """

    statement: str
    function: str
    shape: tuple[Expression, ...]
    room: bool
    bytes: Mapping[str, Expression]
    variables: Names


@dataclass(frozen=True)
class KernelLoop:
    """A loop around steps, of lanes over groups of them; `needed` variables matter inside."""

    variable: str
    lower: Expression
    upper: Expression
    steps: tuple[KernelStep, ...]
    needed: Names


@dataclass(frozen=True)
class KernelGuard:
    """A condition around steps; None for one that depends on data: it counts as if it held, and
    that episodes are open at a step as often as their lengths say.
    """

    condition: Condition | OpenStep | None
    steps: tuple[KernelStep, ...]
    needed: Names


@dataclass(frozen=True)
class KernelBody:
    """The steps that a kernel runs, wherever it is launched, and the bytes of its block's own
    memory by buffer.
    """

    steps: tuple[KernelStep, ...]
    needed: Names
    own: Mapping[str, Expression]


@dataclass(frozen=True)
class KernelLaunch:
    """A launch of a kernel."""

    kernel: KernelRecords
    body: KernelBody

    @property
    def statement(self) -> str:
        """The statement that the launch itself is of."""
        return self.kernel.statements[0]

    @property
    def dealing(self) -> Dealing | None:
        """How blocks are dealt to threads."""
        return self.kernel.dealing


@dataclass(frozen=True)
class HostCopy:
    """A copy of a slice between the spaces for a statement, by its function. `beside`: it is in a
    ring, so that kernels run meanwhile.
    """

    statement: str
    function: str
    bytes: Expression
    beside: bool


KernelStep = StraightWork | RuntimeCall | KernelLoop | KernelGuard | KernelLaunch | HostCopy


def kernel_steps(made: ProgramKernels, real: int) -> tuple[KernelStep, ...]:
    """Return the steps of a program's kernels, in text order. A float has `real` bytes."""
    return _Launches(made, real).steps(made.loops.body)


@dataclass
class _Launches:
    """A walk over the loops around kernels."""

    made: ProgramKernels
    real: int

    def __post_init__(self) -> None:
        self._kernels = iter(self.made.kernels)
        self._parts = MemoryParts(self.made)
        self._copied_for = ""

    def steps(self, body: Sequence[Record]) -> tuple[KernelStep, ...]:
        """Return the steps of a body."""
        found: list[KernelStep] = []
        for record in body:
            if isinstance(record, Launch) or (isinstance(record, For) and record.apart):
                found.append(self._launch(next(self._kernels)))
            elif isinstance(record, For):
                inside = self._loop(record)
                found.append(
                    KernelLoop(record.variable, record.lower, record.upper, inside, needed(inside))
                )
            elif isinstance(record, AtOnce):
                found += self.steps(record.body)
            elif isinstance(record, Enter):
                self._copied_for = owner(self.made.program.statement[record.statement])
            elif isinstance(record, Apply):
                found.append(self._copy(record))
            elif isinstance(record, If):
                inside = self.steps(record.body)
                found.append(KernelGuard(record.condition, inside, needed(inside)))
        return tuple(found)

    def _loop(self, loop: For) -> tuple[KernelStep, ...]:
        """Return the steps of a loop's body: where it is over steps of episodes, those while one is
        open, and those behind. Zeros that are written there cost next to nothing.
        """
        part = self.made.loops.open_steps(loop)
        if part is None:
            return self.steps(loop.body)
        each = [self.steps((record,)) for record in loop.body]
        whole = tuple(step for steps in each for step in steps)
        rest = tuple(
            step
            for k in part.rest
            for step in each[k]
            if not isinstance(step, KernelLaunch) or step.statement not in part.statements
        )
        closed = replace(part.step, closed=True)
        return (
            KernelGuard(part.step, whole, needed(whole)),
            KernelGuard(closed, rest, needed(rest)),
        )

    def _copy(self, record: Apply) -> HostCopy:
        ends = self._parts.of(record.inputs[0]), self._parts.of(record.out)
        slice_ = ends[record.function == TO_DEVICE]
        item = BYTES.get(self.made.buffers[slice_.buffer].dtype, self.real)
        beside = bool(slice_.first.variables)
        bytes_ = ends[0].elements * item
        return HostCopy(self._copied_for, record.function, bytes_, beside)

    def _launch(self, kernel: KernelRecords) -> KernelLaunch:
        own = ((name, self.made.buffers[name]) for name in kernel.own)
        held = tuple((n, b.elements * BYTES.get(b.dtype, self.real)) for n, b in own)
        return KernelLaunch(kernel, _body(Same(kernel.records), self.real, held))


@lru_cache(maxsize=KEPT)
def _body(of: Same, real: int, own: tuple[tuple[str, Expression], ...]) -> KernelBody:
    """Return what a kernel of these records runs; `own` are the bytes of a block's own buffers."""
    (records,) = of.objects
    reader = _Reader(real, dict(own))
    steps = reader.steps(records)
    return KernelBody(steps, needed(steps), reader.own)


@dataclass
class _Reader:
    """A walk over a kernel's records. `own` collects the bytes of what one block has."""

    real: int
    own: dict[str, Expression]
    statement: str = ""
    lane: str = ""
    varying: set[str] = field(default_factory=set)
    by_lane: set[str] = field(default_factory=set)
    """Scratch memory with an element a lane."""
    locals: set[str] = field(default_factory=set)
    """The names of values so far."""

    def steps(self, body: Sequence[KernelRecord]) -> tuple[KernelStep, ...]:
        """Return the steps of a body."""
        found: list[KernelStep] = []
        straight: list[KernelRecord] = []

        def close() -> None:
            if straight:
                found.append(self._straight(straight))
                straight.clear()

        for record in body:
            if isinstance(record, Serves):
                if record.statement != self.statement:
                    close()
                self.statement = record.statement
            elif isinstance(record, (RecordLoop, Where, Invoke)):
                close()
                found.append(self._nested(record))
            elif isinstance(record, Scratch):
                self._scratch(record)
            else:
                straight.append(record)
                self.locals.update(_names(record))
        close()
        return tuple(found)

    def _scratch(self, record: Scratch) -> None:
        one = BYTES.get(record.dtype, self.real)
        self.own[record.name] = record.elements * (one * LANES if self.lane else one)
        if self.lane:
            self.by_lane.add(record.name)

    def _nested(self, record: RecordLoop | Where | Invoke) -> KernelStep:
        if isinstance(record, Invoke):
            return self._call(record)
        if isinstance(record, Where):
            inside = self.steps(record.body)
            if record.step is not None:
                return KernelGuard(record.step, inside, needed(inside))
            if names_in(record.condition) & self.locals:
                return KernelGuard(None, inside, needed(inside))
            return KernelGuard(record.condition, inside, needed(inside))
        outside, before = self.lane, set(self.varying)
        if record.lanes:
            self.lane = record.variable
            self.varying = {*_varying(record.body, record.variable), record.variable}
        inside = self.steps(record.body)
        self.lane, self.varying = outside, before
        if record.step is not None:
            inside = (KernelGuard(record.step, inside, needed(inside)),)
        lower, upper = record.lower, record.upper
        if record.lanes:
            upper = lower + (upper - lower + (LANES - 1)) // LANES
        return KernelLoop(record.variable, lower, upper, inside, needed(inside))

    # -- straight work ---------------------------------------------------------------------------

    def _straight(self, records: Sequence[KernelRecord]) -> StraightWork:
        counts: Counter[str] = Counter()
        moved: Counter[str] = Counter()
        chains: Counter[str] = Counter()
        flops = 0
        for record in records:
            if isinstance(record, Draw):
                at = (*record.coordinates, record.block)
                lanes = any(e.variables & self.varying for e in at)
                counts[DRAWN if lanes else ONE + DRAWN] += 1
            elif isinstance(record, Total):
                counts[COMBINED] += 1
            elif isinstance(record, Require):
                counts[CHECKED if self.lane else ONE + "elementwise"] += 1
                continue  # its comparisons are its cost
            for value in values(record):
                flops += self._count(value, counts, moved)
            if isinstance(record, (Store, Update)) and record.operation:
                by_lanes = record.name in self.varying if isinstance(record, Update) else self.lane
                counts["elementwise" if by_lanes else ONE + "elementwise"] += 1
                flops += 1
            if isinstance(record, Update):
                chains[record.name] += 1
            if isinstance(record, Store):
                kind = self._access(record.buffer, record.at, STORED)
                counts[kind] += 2 if record.operation else 1
                size = BYTES.get(record.value.dtype, self.real)
                moved[record.buffer] += size * (2 if record.operation else 1)
        width = LANES if self.lane else 1
        return StraightWork(
            self.statement,
            dict(counts),
            max(chains.values(), default=0),
            flops * width,
            {name: expression(n * width) for name, n in moved.items()},
        )

    def _count(self, value: Value, counts: Counter[str], moved: Counter[str]) -> int:
        """Count a value's operations and bytes; return its arithmetic."""
        if isinstance(value, Load):
            counts[self._access(value.buffer, value.at, LOADED)] += 1
            moved[value.buffer] += BYTES.get(value.dtype, self.real)
            return 0
        if not isinstance(value, Compute):
            return 0
        inside = sum(self._count(argument, counts, moved) for argument in value.arguments)
        if value.operation in FREE:
            return inside
        kind = value.operation if value.operation in OWN_KINDS else "elementwise"
        counts[kind if _differs(value, self.varying) else ONE + kind] += 1
        return inside + (2 if value.operation == "fma" else 1)

    def _access(self, buffer: str, at: Expression, kind: str) -> str:
        """Return the kind of an access: lanes that are no neighbours are gathered."""
        if not self.lane or (not at.variables & self.varying and buffer not in self.by_lane):
            return ONE + kind
        if not at.variables & self.varying:
            return kind
        begin = at.substitute({self.lane: expression(0)}) if self.lane in at.variables else at
        near = not begin.variables & self.varying and at - begin == variable(self.lane)
        return kind if near and buffer not in self.by_lane else GATHERED

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, record: Invoke) -> RuntimeCall:
        option = record.option
        if record.function in PRODUCTS:
            rows, columns, times = (
                expression(option[name]) for name in ("rows", "columns", "times")
            )
            shape: tuple[Expression, ...] = (rows, columns, times)
            (left, _), (right, _) = record.operands
            elements = {left: rows * times, right: times * columns, record.out[0]: rows * columns}
        else:
            if record.function == "permutation":
                shape = (expression(option["n"]),)
            elif record.function in ("turned", "orthogonalize"):
                shape = (expression(option["rows"]), expression(option["columns"]))
            else:
                shape = ()
            count = expression(1)
            for length in shape:
                count = count * length
            named = (record.out, *record.operands) if shape else ()
            elements = {name: count for name, _ in named}
        return RuntimeCall(
            self.statement,
            record.function,
            shape,
            bool(option.get("whole")),
            {name: count * self.real for name, count in elements.items()},
            Names().union(*(length.variables for length in shape)),
        )


def _names(record: KernelRecord) -> tuple[str, ...]:
    """Return the locals that a record gives values."""
    if isinstance(record, Draw):
        return record.names
    return (record.name,) if isinstance(record, (Let, Variable, Update, Total)) else ()


def _varying(body: Sequence[KernelRecord], lane: str) -> set[str]:
    """Return the locals that differ from lane to lane, in text order of what defines them."""
    found = {lane}
    for record in walk(tuple(body)):
        drawn = isinstance(record, Draw)
        if drawn or any(_differs(value, found) for value in values(record)):
            found.update(_names(record))
    return found - {lane}


def _differs(value: Value, varying: set[str]) -> bool:
    if isinstance(value, Local):
        return value.name in varying
    if isinstance(value, Load):
        return bool(value.at.variables & varying)
    if isinstance(value, Compute):
        return any(_differs(argument, varying) for argument in value.arguments)
    e = getattr(value, "expression", None)
    return e is not None and bool(e.variables & varying)


def needed(steps: Sequence[KernelStep]) -> Names:
    """Return the loop variables that the work of these steps depends on."""
    return Names().union(*map(_needed, steps))


def _needed(step: KernelStep) -> Names:
    if isinstance(step, StraightWork):
        return Names()
    if isinstance(step, HostCopy):
        return step.bytes.variables
    if isinstance(step, RuntimeCall):
        return step.variables
    if isinstance(step, KernelLaunch):
        dealt = step.dealing
        more = () if dealt is None else (dealt.blocks.variables, dealt.chunks.variables)
        return step.body.needed.union(*more)
    if isinstance(step, KernelGuard):
        return step.needed | _names_of(step.condition)
    return (step.needed - {step.variable}) | step.lower.variables | step.upper.variables


def _names_of(condition: Condition | OpenStep | None) -> Names:
    """Return the loop variables on which a condition depends, but for those that say which step of
    an episode it is: of these there is a share.
    """
    if condition is None or isinstance(condition, OpenStep):
        return Names()
    return Names(names_in(condition))
