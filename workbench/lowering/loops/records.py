"""The loop program: loops, views, array operations and memory as plain records.

Every array operation writes into memory that an `Allocate` before it made; a `View` never copies.
Sizes stay symbolic, so one loop program serves all sizes and dtypes. `text.py` prints it,
`bytes.py` computes its bytes, `backends/arrays` turns it into source for an array module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from workbench.errors import SourceLine
from workbench.polyhedral.expression import Expression, expression

Symbolic = tuple[Expression, ...]

DEVICE, HOST = "device", "host"
SPACES = (DEVICE, HOST)
"""The memory spaces: the computing device's, and that of the host, which drives it."""

ITEM_BYTES = {"int32": 4, "int64": 8, "bool": 1}
"""The bytes of an element; "float" depends on the run."""


@dataclass(frozen=True)
class Buffer:
    """Memory under a name: a dtype and a shape over sizes.

    `initial`: "nan" in a result (elements that no statement writes), "zero" where such elements may
    be read under a mask and must be finite, else "". `scratch`: only accounted for; the operation
    that needs it allocates it itself. `space` is one of `SPACES`; operations work on the device's.
    """

    name: str
    dtype: str
    shape: Symbolic
    initial: str = ""
    scratch: bool = False
    space: str = DEVICE

    @cached_property
    def elements(self) -> Expression:
        """The number of elements, over sizes: the same however they are arranged."""
        return _product(self.shape)


@lru_cache(maxsize=8192)
def _product(lengths: Symbolic) -> Expression:
    total = expression(1)
    for n in sorted(lengths, key=lambda n: (not n.terms, str(n))):
        total = total * n
    return total


@dataclass(frozen=True)
class Range:
    """A slice: `start` to `stop` (exclusive) in steps."""

    start: Expression
    stop: Expression
    step: int = 1


WHOLE: Literal["whole"] = "whole"
NEW: Literal["new"] = "new"
REVERSED: Literal["reversed"] = "reversed"
Entry = Expression | Range | str
"""One entry of an index: a position, a slice, a whole axis, a new axis of length 1, a reversed
axis.
"""


@dataclass(frozen=True)
class Index:
    """An index `source[entries]`."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Reshape:
    """The same elements in order under another shape (the layout allows it without a copy)."""

    shape: Symbolic


@dataclass(frozen=True)
class Transpose:
    """A permutation of axes."""

    axes: tuple[int, ...]


@dataclass(frozen=True)
class Broadcast:
    """A repetition of axes of length 1, read only."""

    shape: Symbolic


How = Index | Reshape | Transpose | Broadcast


@dataclass(frozen=True)
class View:
    """A view of `source` called `name`."""

    name: str
    source: str
    how: How


@dataclass(frozen=True)
class Apply:
    """An array operation `out = function(inputs)`, written into `out`'s memory.

    `options` holds what is not an array; expressions in it are evaluated where the operation
    stands.
    """

    function: str
    inputs: tuple[str, ...]
    out: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def option(self) -> dict[str, Any]:
        """The options as a dict."""
        return dict(self.options)


@dataclass(frozen=True)
class Launch:
    """A kernel that runs all instances of `statement` at these values of its loop dimensions.

    `reads` and `writes` are buffers. `more` are launches whose statements it runs in the same loop;
    then the buffers are those of all.
    """

    statement: str
    values: tuple[tuple[str, Expression], ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    more: tuple[Launch, ...] = ()


@dataclass(frozen=True)
class AtOnce:
    """Launches of which none needs another: they may run in any order, or at once."""

    body: tuple[Launch, ...]


@dataclass(frozen=True)
class Enter:
    """The beginning of a statement's instance: for readers only."""

    statement: str
    text: str


@dataclass(frozen=True)
class RuntimeCheck:
    """The end of a statement's instance, written to `name`.

    `instance` are its loop dimensions' values.
    """

    statement: str
    name: str
    instance: tuple[tuple[str, Expression], ...]
    axes: tuple[tuple[str, Expression], ...]
    line: SourceLine | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Constant:
    """A tensor made once in front of all loops.

    `value` is nested tuples of numbers, or a size expression.
    """

    buffer: Buffer
    value: Any


@dataclass(frozen=True)
class Count:
    """Consecutive integers `start, start + step, …` made once in front of all loops."""

    buffer: Buffer
    start: Expression
    step: int = 1


@dataclass(frozen=True)
class Allocate:
    """An allocation. With `source` it takes over the memory of that (dead) buffer instead."""

    buffer: Buffer
    source: str | None = None


@dataclass(frozen=True)
class Free:
    """A free of the buffer last allocated (not taken over) under `name`, also known as `names`."""

    name: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class If:
    """A body that runs where the condition holds (see `Condition`)."""

    condition: Any
    body: tuple[Record, ...]


@dataclass(frozen=True)
class For:
    """A sequential loop: `variable` from `lower` to `upper` (exclusive), or backwards.

    `sure`: it runs at least once, whatever the sizes. `apart`: its iterations may run in any order;
    those of a run of them come behind what the launches in `begins` write for it.
    """

    variable: str
    lower: Expression
    upper: Expression
    backwards: bool
    dim: str
    body: tuple[Record, ...]
    sure: bool = False
    apart: bool = False
    begins: tuple[Launch, ...] = ()

    @property
    def range(self) -> tuple[Expression, Expression]:
        """The lower bound, and the upper one (exclusive)."""
        return self.lower, self.upper


Record = (
    Enter
    | View
    | Apply
    | Launch
    | AtOnce
    | RuntimeCheck
    | Constant
    | Count
    | Allocate
    | Free
    | If
    | For
)


@dataclass(frozen=True)
class ResultBuffer:
    """An output: a view of its array's buffer with the array's dimensions in order, without the
    rows of the past along one of them.
    """

    name: str
    array: str
    buffer: str
    axes: tuple[int, ...]
    dims: tuple[str, ...]
    lower: Symbolic
    past: tuple[str, Expression] | None = None


def walk(body: tuple[Record, ...]) -> Iterator[Record]:
    """Yield every record, loops and their contents included, in text order."""
    for record in body:
        yield record
        if isinstance(record, (For, If, AtOnce)):
            yield from walk(record.body)
