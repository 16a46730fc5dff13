"""Arrays in host memory: every instance works on a slice of such an array on the device.

A slice holds the elements of an access: one position along the dimensions that loops fix, a range
or all of the others. A written slice is copied to the host behind its instance. A read slice is
fetched in front of it, unless a slice that holds it is there already. Slices are shared by the
instances of one body and of the bodies inside. They are ordinary buffers, allocated and freed as
such.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from workbench.lowering.loops.records import (
    WHOLE,
    Apply,
    Buffer,
    Entry,
    For,
    If,
    Range,
    Record,
    View,
)
from workbench.lowering.reads.slices import neighbours
from workbench.lowering.values.intervals import at_least, greatest_length, length
from workbench.lowering.values.layout import Value, dense
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.shortest import shortest

TO_DEVICE, TO_HOST = "to_device", "to_host"
AHEAD = "ahead"
"""The option of a copy that comes so many iterations before its slice is used."""


@dataclass(frozen=True)
class Along:
    """The part of a dimension in a slice: `n` elements from the index `first` on.

    One `position` has no axis in the slice.
    """

    first: Expression
    n: Expression
    position: bool = False


@dataclass(frozen=True)
class Slice(Stored):
    """Part of an array on the device.

    `parts[p]` is its part of dimension p, None for all that the host keeps, in the same slots.
    """

    host: Stored = field(kw_only=True)
    parts: tuple[Along | None, ...] = field(kw_only=True)

    def count(self, position: int) -> Expression:
        """Return the length in memory of the dimension at `position`."""
        return self.buffer.shape[self.axes[self.order.index(position)]]

    def slot(self, position: int, index: Expression) -> Expression:
        """Return the place of `index` along the dimension at `position`."""
        part = self.parts[position]
        return self.host.slot(position, index) if part is None else index - part.first

    def modulus(self, position: int) -> Expression | None:
        """Return the modulus of indices, as on the host, or None."""
        return self.host.modulus(position) if self.parts[position] is None else None


@dataclass
class Swapping:
    """The arrays in host memory, and the slices of them with equal contents on the device."""

    arrays: frozenset[str]
    held: dict[str, list[Slice]] = field(default_factory=dict)

    @contextmanager
    def body(self, written: Collection[str], repeated: bool) -> Iterator[None]:
        """Enter the body of a loop (`repeated`) or of a condition that writes some arrays.

        A slice that is fetched in it is there inside it only.
        """
        outside = self.known()
        stale = set(written) if repeated else set()
        self.held = {a: slices for a, slices in self.known().items() if a not in stale}
        yield
        self.held = {a: slices for a, slices in outside.items() if a not in written}

    def known(self) -> dict[str, list[Slice]]:
        """Return the present slices."""
        return {array: list(slices) for array, slices in self.held.items()}

    def reading(self, scope: Scope, stored: Stored, index: Sequence[Expression | Value]) -> Stored:
        """Return the storage of an array's elements at an index, fetched if needed."""
        if stored.array.name not in self.arrays:
            return stored
        parts = tuple(_part(scope, stored, p, e) for p, e in enumerate(index))
        known = self.held.setdefault(stored.array.name, [])
        for candidate in known:
            if all(
                _within(scope, part, whole)
                for part, whole in zip(parts, candidate.parts, strict=True)
            ):
                return candidate
        fetched = _slice(scope, stored, parts)
        _copy(scope, fetched, TO_DEVICE)
        known.append(fetched)
        return fetched

    def writing(self, scope: Scope, stored: Stored, index: Sequence[Expression]) -> Stored:
        """Return the storage for an instance to write into.

        It is a slice with the host's contents where not all of it will be written.
        """
        if stored.array.name not in self.arrays:
            return stored
        parts = tuple(_part(scope, stored, p, e) for p, e in enumerate(index))
        part = _slice(scope, stored, parts)
        if not _filled(scope, part, index):
            _copy(scope, part, TO_DEVICE)
        return part

    def written(self, scope: Scope, target: Stored) -> None:
        """Copy what an instance has written to the host, and forget slices fetched before."""
        if isinstance(target, Slice):
            _copy(scope, target, TO_HOST)
            self.held[target.array.name] = [target]


# -- what an access touches -----------------------------------------------------------------------


def _part(scope: Scope, stored: Stored, p: int, e: Expression | Value) -> Along | None:
    """Return the part of dimension p that an index touches; None for all of it."""
    if isinstance(e, Value):
        return None
    axes = scope.ordered(e.variables)
    if not axes:
        return Along(e, expression(1), True)
    first, last = e, e
    for axis in axes:
        low, n = scope.axes[axis]
        c, high = e.coefficient(axis), low + n - 1
        rest = e - variable(axis) * c
        if axis in rest.variables:
            return None
        first = first.substitute({axis: low if c > 0 else high})
        last = last.substitute({axis: high if c > 0 else low})
    part = Along(shortest(first), length(first, last + 1, scope.ranges))
    lower, upper = stored.array.extent[p]
    if part.first == lower and part.n == upper - lower:
        return None
    together = stored.modulus(p) is None or (
        len(axes) == 1 and neighbours(scope, stored, p, e, axes[0])
    )
    return part if together else None


def _within(scope: Scope, part: Along | None, whole: Along | None) -> bool:
    """Tell whether a touched part of a dimension certainly lies within a slice's part of it."""
    if whole is None or part is None:
        return whole is None
    if whole.position or part.position:
        return part == whole or (
            not whole.position
            and at_least(part.first - whole.first, 0, scope.ranges)
            and at_least(whole.first + whole.n - 1 - part.first, 0, scope.ranges)
        )
    begins = part.first - whole.first
    return at_least(begins, 0, scope.ranges) and at_least(
        whole.n - begins - part.n, 0, scope.ranges
    )


def _filled(scope: Scope, target: Slice, index: Sequence[Expression]) -> bool:
    """Tell whether the elements at an index are all that the slice holds."""
    for p, e in enumerate(index):
        part, axes = target.parts[p], scope.ordered(e.variables)
        if len(axes) > 1 or any(abs(e.coefficient(axis)) != 1 for axis in axes):
            return False
        if part is None and (not axes or scope.length(axes[0]) != target.host.count(p)):
            return False
    return True


# -- slices ----------------------------------------------------------------------------------------


def _slice(scope: Scope, host: Stored, parts: tuple[Along | None, ...]) -> Slice:
    """Make a buffer on the device for part of an array."""
    ordered = [p for p in host.order if (part := parts[p]) is None or not part.position]
    order, lead = tuple(ordered), sum(p in ordered for p in host.order[: host.lead])
    windows = tuple(
        host.windows[p] if part is None else expression(1) if part.position else None
        for p, part in enumerate(parts)
    )
    lengths = [
        host.count(p) if (part := parts[p]) is None else greatest_length(part.n, scope.ranges)
        for p in order
    ]
    name = scope.workspace.fresh("slice", of=host.buffer.name)
    draft = Slice(
        host.array,
        order,
        lead,
        windows,
        Buffer(name, host.buffer.dtype, ()),
        host.level,
        host=host,
        parts=parts,
    )
    shape = draft.arranged(lengths, symbolic(host.array.shape))
    made = replace(draft, buffer=replace(draft.buffer, shape=shape))
    scope.workspace.reserve(made.buffer)
    return made


def _copy(scope: Scope, part: Slice, function: str) -> None:
    """Record the copy of a slice between the spaces."""
    inner: list[Entry] = [WHOLE] * len(part.array.shape)
    there: list[Entry] = []
    here: list[Entry] = []
    lengths: list[Expression] = []
    for p in part.host.order:
        along = part.parts[p]
        if along is None:
            there.append(WHOLE)
            here.append(WHOLE)
            lengths.append(part.host.count(p))
            continue
        first = part.host.slot(p, along.first)
        if along.position:
            there.append(first)
            continue
        there.append(Range(first, shortest(first + along.n)))
        here.append(WHOLE if along.n == part.count(p) else Range(expression(0), along.n))
        lengths.append(along.n)
    shape = part.arranged(lengths, symbolic(part.array.shape))
    host = scope.index(_all(part.host.buffer), part.host.arranged(there, inner), (), shape)
    device = scope.index(_all(part.buffer), part.arranged(here, inner), (), shape)
    source, target = (host, device) if function == TO_DEVICE else (device, host)
    scope.apply(function, [source], target)


def _all(buffer: Buffer) -> Value:
    shape = buffer.shape
    return Value(buffer.name, buffer.name, (), (), shape, buffer.dtype, dense(len(shape)), True)


# -- of a loop program -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Copy:
    """A copy between the spaces, by the names of its buffers.

    It has its direction, the loops around it, and by how many iterations of the innermost it is
    early.
    """

    host: str
    device: str
    to_device: bool
    loops: tuple[For, ...]
    ahead: int = 0


def copies(body: tuple[Record, ...]) -> Iterator[Copy]:
    """Yield every copy between the spaces, in text order."""
    source: dict[str, str] = {}

    def visit(records: tuple[Record, ...], loops: tuple[For, ...]) -> Iterator[Copy]:
        for record in records:
            if isinstance(record, For):
                yield from visit(record.body, (*loops, record))
            elif isinstance(record, If):
                yield from visit(record.body, loops)
            elif isinstance(record, View):
                source[record.name] = source.get(record.source, record.source)
            elif isinstance(record, Apply) and record.function in (TO_DEVICE, TO_HOST):
                comes = record.function == TO_DEVICE
                begin, end = (source.get(name, name) for name in (record.inputs[0], record.out))
                host, device = (begin, end) if comes else (end, begin)
                yield Copy(host, device, comes, loops, record.option.get(AHEAD, 0))

    yield from visit(body, ())
