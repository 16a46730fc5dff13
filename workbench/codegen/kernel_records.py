"""The language of kernels: loops over scalars, as plain records.

A kernel reads and writes the elements of buffers, and computes with one number at a time. A loop
may be the kernel's lanes: its iterations run side by side, so a value that depends on its variable
is a vector, and every other value is one number for all lanes. The records do not say how that is
written; a printer does (`printing`), and `counting` counts what they do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.lowering.instances.guards import OpenStep
from workbench.polyhedral.conditions import Condition
from workbench.polyhedral.expression import Expression, variable

LANES = 16
"""The lanes of a group: sums over lanes have as many parts, whatever the machine's vectors."""


PRODUCTS = frozenset(("product", "lane_sums"))
"""The run-time functions that sum products: of `rows` and `columns`, of `times` each."""


@dataclass(frozen=True)
class Number:
    """A number: of dtype "bool" False or True."""

    value: Any
    dtype: str


@dataclass(frozen=True)
class Position:
    """An integer expression over loop variables and sizes, or one over locals that are integers."""

    expression: Expression
    dtype: str = "int32"


@dataclass(frozen=True)
class Holds:
    """The truth of a condition over loop variables and sizes."""

    condition: Condition
    dtype: str = "bool"


@dataclass(frozen=True)
class Local:
    """The value of a local that a `Let` or a `Variable` before it has named."""

    name: str
    dtype: str


@dataclass(frozen=True)
class Load:
    """The element of a buffer at a position, counted in elements from its beginning."""

    buffer: str
    at: Expression
    dtype: str


@dataclass(frozen=True)
class Compute:
    """An elementwise operation of the table, or "fma" (a * b + c, rounded once)."""

    operation: str
    arguments: tuple[Value, ...]
    dtype: str


Value: TypeAlias = Number | Position | Holds | Local | Load | Compute


@dataclass(frozen=True)
class Let:
    """A local with a value that never changes."""

    name: str
    value: Value


@dataclass(frozen=True)
class Variable:
    """A local that `Update` changes. `parts`: one part a lane, which `Total` combines."""

    name: str
    value: Value
    parts: bool = False


@dataclass(frozen=True)
class Update:
    """A new value of a variable. With `operation` it is that of the old and the given value."""

    name: str
    value: Value
    operation: str = ""


@dataclass(frozen=True)
class Total:
    """A local with the parts of a variable combined, pairwise in one order on every machine."""

    name: str
    variable: Local
    operation: str


@dataclass(frozen=True)
class Scratch:
    """Memory for the records behind it in the same body: `elements`, in a loop of lanes for each
    lane.
    """

    name: str
    dtype: str
    elements: Expression


@dataclass(frozen=True)
class Table:
    """Constant numbers, in order, for the whole kernel."""

    name: str
    dtype: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Store:
    """A new value of an element. With `operation` it is that of the old and the given value."""

    buffer: str
    at: Expression
    value: Value
    operation: str = ""


@dataclass(frozen=True)
class Prefetch:
    """A hint that the element of a buffer at a position is read soon. It may be none of the
    buffer's.
    """

    buffer: str
    at: Expression


@dataclass(frozen=True)
class Draw:
    """Four random words as locals: one block of the instance's stream (`backends/philox.py`)."""

    names: tuple[str, str, str, str]
    origin: str
    coordinates: tuple[Expression, ...]
    block: Expression


@dataclass(frozen=True)
class Require:
    """A check: `value` must hold, or the run ends with the error that `kind` has.

    `numbers` are integers that the error tells, `options` names, `instance` the values of the
    statement's dims there. Its `statement` and `number` it gets among the checks of a program.
    """

    kind: str
    value: Value
    numbers: tuple[Value, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    instance: tuple[tuple[str, Expression], ...] = ()
    statement: str = ""
    number: int = 0

    @property
    def option(self) -> dict[str, Any]:
        """The options as a dict."""
        return dict(self.options)


@dataclass(frozen=True)
class Invoke:
    """A function of the run-time unit, or an external one, on whole buffers.

    `out` and `operands` are buffers with the positions of their first elements.
    """

    function: str
    out: tuple[str, Expression]
    operands: tuple[tuple[str, Expression], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def option(self) -> dict[str, Any]:
        """The options as a dict."""
        return dict(self.options)


@dataclass(frozen=True)
class Loop:
    """A loop of `variable` from `lower` to `upper` (exclusive), or backwards.

    `lanes`: its iterations run side by side; `ends`: a run may end between them. `step`: of its
    turns only those run at which episodes are open, or only those at which none is; then `begin` is
    the local that has the first of them, where a loop before it has left the others out. A loop
    over an array axis says in which buffer each of its turns has elements of its `own`.
    """

    variable: str
    lower: Expression
    upper: Expression
    body: tuple[KernelRecord, ...]
    lanes: bool = False
    backwards: bool = False
    ends: bool = False
    step: OpenStep | None = None
    begin: str = ""
    own: str = ""

    @property
    def range(self) -> tuple[Expression, Expression]:
        """The lower bound, and the upper one (exclusive)."""
        return self.lower, self.upper

    @property
    def turns(self) -> tuple[Expression, Expression]:
        """The range of the turns that run, if the loop is not left: from `begin` on."""
        if not self.begin:
            return self.range
        first = variable(self.begin)
        return (self.lower, first + 1) if self.backwards else (first, self.upper)


@dataclass(frozen=True)
class Where:
    """A body that runs where a condition over loop variables and sizes holds, in no lanes.

    `step`: the condition is that episodes are open, or that none is, at this step.
    """

    condition: Condition
    body: tuple[KernelRecord, ...]
    step: OpenStep | None = None


@dataclass(frozen=True)
class Leave:
    """The end of the loop around, before its other turns and the rest of this one."""


@dataclass(frozen=True)
class Serves:
    """The statement that the records behind it serve, up to the next."""

    statement: str


@dataclass(frozen=True)
class Stamp:
    """A stamp of a profiled run: the time since the one before is counted under its number."""

    number: int


KernelRecord: TypeAlias = (
    Serves
    | Stamp
    | Let
    | Variable
    | Update
    | Total
    | Scratch
    | Store
    | Prefetch
    | Draw
    | Require
    | Invoke
    | Loop
    | Where
    | Leave
)


def walk(body: tuple[KernelRecord, ...]) -> Iterator[KernelRecord]:
    """Yield every record, loops and their contents included, in text order."""
    for record in body:
        yield record
        if isinstance(record, (Loop, Where)):
            yield from walk(record.body)


def leaves(record: KernelRecord) -> bool:
    """Tell whether a record may end the loop around it."""
    return isinstance(record, Leave) or (
        isinstance(record, Where) and any(map(leaves, record.body))
    )


def values(record: KernelRecord) -> Iterator[Value]:
    """Yield the values that a record mentions, but for those in the bodies of loops."""
    if isinstance(record, (Let, Variable, Update, Store)):
        yield record.value
    elif isinstance(record, Total):
        yield record.variable
    elif isinstance(record, Require):
        yield record.value
        yield from record.numbers


def loads(record: KernelRecord) -> Iterator[Load]:
    """Yield the loads in a record's values; storing with an operation loads too."""
    if isinstance(record, Store) and record.operation:
        yield Load(record.buffer, record.at, record.value.dtype)
    for value in values(record):
        yield from loads_of(value)


def reads(record: KernelRecord) -> Iterator[str]:
    """Yield the buffers that a record reads, but for those that records inside it do."""
    yield from (load.buffer for load in loads(record))
    if isinstance(record, Invoke):
        yield from (buffer for buffer, _ in record.operands)
        if record.option.get("into"):
            yield record.out[0]


def writes(record: KernelRecord) -> Iterator[str]:
    """Yield the buffer that a record writes, if it writes one."""
    if isinstance(record, Store):
        yield record.buffer
    elif isinstance(record, Invoke):
        yield record.out[0]


def loads_of(value: Value) -> Iterator[Load]:
    """Yield the loads in a value."""
    return (part for part in parts(value) if isinstance(part, Load))


def parts(value: Value) -> Iterator[Value]:
    """Yield a value and all values that it is computed from."""
    todo = [value]
    while todo:
        one = todo.pop()
        yield one
        if isinstance(one, Compute):
            todo.extend(one.arguments)
