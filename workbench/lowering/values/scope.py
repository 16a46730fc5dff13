"""The scope that linearising writes into: names, buffers, views and operations of one place."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from workbench.lowering.loops.records import (
    NEW,
    REVERSED,
    WHOLE,
    Apply,
    Broadcast,
    Buffer,
    Constant,
    Count,
    Entry,
    How,
    Index,
    Range,
    Record,
    Reshape,
    Symbolic,
    Transpose,
    View,
)
from workbench.lowering.values.intervals import Ranges, greatest_length
from workbench.lowering.values.layout import Layout, Value, dense, indexed, transposed
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression


@dataclass
class FreshNames:
    """Unique Python names made from the user's."""

    taken: set[str] = field(default_factory=set)

    def fresh(self, wish: str) -> str:
        """Return a name like `wish` that nothing else has."""
        return unique(_identifier(wish), self.taken)


@lru_cache(maxsize=16384)
def _identifier(wish: str) -> str:
    """Return a Python name like `wish`."""
    base = re.sub(r"\W", "_", wish) or "value"
    return "_" + base if base[0].isdigit() or keyword.iskeyword(base) else base


Prepared = tuple[tuple[Value, ...], list[Record]]
"""Values made in front of all loops, and the records that make them."""


@dataclass
class Workspace:
    """The shared state of a loop program: names, buffers, values made in front of all loops."""

    names: FreshNames
    buffers: dict[str, Buffer] = field(default_factory=dict)
    front: list[Record] = field(default_factory=list)
    made: dict[Any, tuple[Value, ...]] = field(default_factory=dict)
    """The values made in front of all loops, by their keys."""

    def fresh(self, wish: str, of: str = "") -> str:
        """Return a new name like `wish`, after the name `of` if it belongs to that."""
        return self.names.fresh(f"{of}_{wish}" if of else wish)

    def reserve(self, buffer: Buffer) -> None:
        """Enter a buffer under its name."""
        self.buffers[buffer.name] = buffer

    def once(self, key: Any, make: Callable[[], Prepared]) -> tuple[Value, ...]:
        """Return the values under a key, made in front of all loops by the first request."""
        if key not in self.made:
            self.made[key], records = make()
            self.front.extend(records)
        return self.made[key]

    def constant(self, value: Any, dtype: str, shape: Symbolic = ()) -> Value:
        """Return a constant tensor (or the value of a size expression)."""

        def make() -> Prepared:
            plain = not shape and not isinstance(value, Expression)
            text = re.sub(r"\W", "_", str(value)).strip("_") if plain else "constant"
            buffer = Buffer(self.fresh(f"_{text}_{dtype}" if plain else text), dtype, shape)
            self.reserve(buffer)
            layout = dense(len(shape))
            made = Value(buffer.name, buffer.name, (), (), shape, dtype, layout, True)
            return (made,), [Constant(buffer, value)]

        return self.once(("constant", repr(value), dtype, shape), make)[0]

    def count(self, axis: str, start: Expression, n: Expression, step: int, dtype: str) -> Value:
        """Return the integers `start, start + step, …` along a named axis."""

        def make() -> Prepared:
            buffer = Buffer(self.fresh(f"count_{axis}"), dtype, (n,))
            self.reserve(buffer)
            made = Value(buffer.name, buffer.name, (axis,), (n,), (), dtype, dense(1), True)
            return (made,), [Count(buffer, start, step)]

        (number,) = self.once(("count", start, n, step, dtype), make)
        return Value(number.name, number.buffer, (axis,), (n,), (), dtype, dense(1), True)


@dataclass
class Scope:
    """One statement's instance (or the front of the program): axes, and the records so far.

    `axes` are the named axes in order with (lower bound, length); `ranges` are the known ranges of
    loop variables.
    """

    workspace: Workspace
    title: str
    axes: dict[str, tuple[Expression, Expression]]
    ranges: Ranges
    statement: str = ""
    instance: tuple[tuple[str, Expression], ...] = ()
    """The loop dimensions' values, named by a failed check."""
    blocked: frozenset[str] = frozenset()
    """The axes that run in blocks."""
    inside: Value | None = None
    """The mask of the statement's set in its box, if it does not fill it."""
    records: list[Record] = field(default_factory=list)
    views: dict[Any, Value] = field(default_factory=dict)
    indices: dict[str, tuple[Value, tuple[Entry, ...]]] = field(default_factory=dict)
    """The source and the entries of each view that is an index."""
    turned: dict[str, tuple[Value, tuple[int, ...]]] = field(default_factory=dict)
    """The source and the permutation of each view that is a transpose."""

    def ordered(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Return named axes in the global order."""
        wanted = set(axes)
        return tuple(a for a in self.axes if a in wanted)

    def length(self, axis: str) -> Expression:
        """Return the number of points along a named axis."""
        return self.axes[axis][1]

    # -- operations ------------------------------------------------------------------------

    def temporary(self, axes: Sequence[str], shape: Symbolic, dtype: str, wish: str = "") -> Value:
        """Allocate memory for a value over `axes`: as much as the longest iteration needs."""
        counts = tuple(self.length(a) for a in axes)
        extents = (*counts, *shape)
        full = tuple(greatest_length(n, self.ranges) for n in extents)
        name = self.workspace.fresh(wish or self.title)
        self.workspace.reserve(Buffer(name, dtype, full))
        rank = len(counts)
        layout = dense(len(full))
        whole = Value(name, name, tuple(axes), full[:rank], full[rank:], dtype, layout, True)
        if full == extents:
            return whole
        entries: list[Entry] = [
            WHOLE if n == m else Range(expression(0), n) for n, m in zip(extents, full, strict=True)
        ]
        return self.index(whole, entries, tuple(axes), shape)

    def apply(self, function: str, inputs: Sequence[Value], out: Value, **options: Any) -> Value:
        """Record `out = function(inputs)`."""
        self.records.append(
            Apply(function, tuple(v.name for v in inputs), out.name, tuple(options.items()))
        )
        return out

    def check_values(self, function: str, first: Value, *others: Value, **options: Any) -> None:
        """Record a check of values at the points of the statement's set.

        They are there at all places of its box, and elsewhere they mean nothing.
        """
        more = others if self.inside is None else (*others, self.inside)
        axes = self.ordered({*first.axes, *(a for value in more for a in value.axes)})
        if self.inside is None:
            rest = tuple(self.aligned(value, axes, len(value.shape)) for value in more)
        else:
            rest = tuple(self.broadcast(value, axes, value.shape) for value in more)
        self.check(function, self.broadcast(first, axes, first.shape), *rest, **options)

    def check(self, function: str, *values: Value, **options: Any) -> None:
        """Record a check that raises an error naming the statement and the instance.

        The axes are those of the first value.
        """
        lows = tuple((a, self.axes[a][0]) for value in values[:1] for a in value.axes)
        named = {"statement": self.statement, "instance": self.instance, "axes": lows}
        inputs = tuple(value.name for value in values)
        self.records.append(Apply(function, inputs, "", tuple((options | named).items())))

    def longest(self, n: Expression) -> Expression:
        """Return an upper bound of a length that may depend on loops."""
        return greatest_length(n, self.ranges)

    def scratch(self, dtype: str, shape: Symbolic) -> str:
        """Count memory that an operation takes for itself while it runs; it is not handed out.

        It is counted at its largest where a length depends on loops, since it may be counted in
        front of them.
        """
        name = self.workspace.fresh("scratch")
        bounds = tuple(self.longest(n) for n in shape)
        self.workspace.reserve(Buffer(name, dtype, bounds, scratch=True))
        return name

    # -- views -----------------------------------------------------------------------------

    def view(
        self, value: Value, how: How, axes: tuple[str, ...], shape: Symbolic, layout: Layout
    ) -> Value:
        """Return a view of `value`, taken once."""
        key = (value.name, how)
        if key not in self.views:
            name = self.workspace.fresh("v", of=value.buffer)
            self.records.append(View(name, value.name, how))
            self.views[key] = Value(name, value.buffer, (), (), (), value.dtype, layout)
        counts = tuple(self.length(a) for a in axes)
        return Value(self.views[key].name, value.buffer, axes, counts, shape, value.dtype, layout)

    def index(
        self, value: Value, entries: Sequence[Entry], axes: tuple[str, ...], shape: Symbolic
    ) -> Value:
        """Return `value[entries]`, whose axes and inner shape the caller knows.

        An index of an index is one index. Positions that change in loops are taken last: the rest
        of the view moves in front of the loops, and `x[t]` alone stays inside.
        """
        if _takes_all(entries):
            return replace(value, axes=axes, counts=value.extents[: len(axes)], shape=shape)
        source, entries = self._composed(value, list(entries))
        if _takes_all(entries):
            return replace(source, axes=axes, counts=source.extents[: len(axes)], shape=shape)
        layout = indexed(source.layout, entries)
        lead = 0
        while lead < len(entries) and isinstance(entries[lead], Expression):
            lead += 1
        positions = [e for e in entries[:lead] if isinstance(e, Expression)]
        if lead and positions[-1].variables and not _moving(entries[lead:]):
            rest = [*[WHOLE] * lead, *entries[lead:]]
            current = self._step(source, rest)
            left = sum(not isinstance(e, Expression) for e in rest)
            for group in self._by_depth(positions):
                left -= len(group)
                current = self._step(current, [*group, *[WHOLE] * left])
        else:
            current = self._step(source, entries)
        self.indices[current.name] = (source, tuple(entries))
        counts = tuple(self.length(a) for a in axes)
        return Value(current.name, value.buffer, axes, counts, shape, value.dtype, layout)

    def _step(self, value: Value, entries: Sequence[Entry]) -> Value:
        if _takes_all(entries):
            return value
        return self.view(value, Index(tuple(entries)), (), (), value.layout)

    def _by_depth(self, positions: Sequence[Expression]) -> list[list[Expression]]:
        """Group positions into runs; one that changes in a deeper loop comes later."""
        loops = list(self.ranges)
        runs: list[list[Expression]] = []
        deepest = -1
        for e in positions:
            depth = max((loops.index(v) + 1 for v in e.variables if v in loops), default=0)
            if not runs or depth > deepest:
                runs.append([])
                deepest = depth
            runs[-1].append(e)
        return runs

    def _composed(self, value: Value, entries: list[Entry]) -> tuple[Value, list[Entry]]:
        """Return the same index on the value that `value` is an index of, where possible."""
        if value.name not in self.indices:
            return value, entries
        source, first = self.indices[value.name]
        result: list[Entry] = []
        second = list(entries)
        for entry in first:
            if isinstance(entry, Expression):
                result.append(entry)
                continue
            while second and second[0] == NEW:
                result.append(second.pop(0))
            both = _both(entry, second.pop(0))
            if both is None:
                return value, entries
            result.extend(both)
        return source, [*result, *second]

    def inner(self, value: Value, entries: Sequence[Entry], shape: Symbolic) -> Value:
        """Return an index on the inner axes only."""
        return self.index(value, [*[WHOLE] * len(value.axes), *entries], value.axes, shape)

    def permuted(
        self, value: Value, axes: Sequence[int], names: tuple[str, ...], shape: Symbolic
    ) -> Value:
        """Return all array axes permuted."""
        source = value
        if value.name in self.turned:
            source, first = self.turned[value.name]
            axes = [first[a] for a in axes]
        if list(axes) == list(range(source.rank)):
            counts = source.extents[: len(names)]
            return replace(source, axes=names, counts=counts, shape=shape)
        turned = self._turned(source, axes, names, shape)
        self.turned[turned.name] = (source, tuple(axes))
        return turned

    def _turned(
        self, value: Value, axes: Sequence[int], names: tuple[str, ...], shape: Symbolic
    ) -> Value:
        return self.view(
            value, Transpose(tuple(axes)), names, shape, transposed(value.layout, axes)
        )

    def reshaped(
        self, value: Value, shape: Symbolic, axes: tuple[str, ...], inner: Symbolic
    ) -> Value:
        """Return the same (suitably contiguous) elements in another shape."""
        if shape == value.extents:
            return value
        return self.view(value, Reshape(shape), axes, inner, dense(len(shape)))

    def aligned(self, value: Value, axes: Sequence[str], rank: int) -> Value:
        """Return `value` so that it broadcasts against values over `axes` of inner rank `rank`."""
        entries: list[Entry] = []
        for axis in axes:
            if axis in value.axes:
                entries.append(WHOLE)
            elif entries:
                entries.append(NEW)
        missing = rank - len(value.shape)
        if entries and any(e == WHOLE for e in entries) and missing:
            entries += [NEW] * missing
        while entries and entries[0] == NEW:
            entries.pop(0)
        entries += [WHOLE] * len(value.shape)
        if NEW not in entries or not value.axes:
            return value
        return self.index(value, entries, value.axes, value.shape)

    def broadcast(self, value: Value, axes: tuple[str, ...], shape: Symbolic) -> Value:
        """Return `value` repeated along the axes it lacks (a read-only view)."""
        if value.axes == axes and value.shape == shape:
            return value
        ready = self.aligned(value, axes, len(shape))
        full = (*(self.length(a) for a in axes), *shape)
        return self.view(
            ready, Broadcast(full), axes, shape, Layout((False,) * max(len(full) - 1, 0), False)
        )

    def compact(self, value: Value) -> Value:
        """Return `value` in contiguous memory: itself, or a copy."""
        room = self.contiguous(value)
        return value if room is value else self.apply("copyto", [value], room)

    def contiguous(self, value: Value) -> Value:
        """Return contiguous memory for a value: its own where that is, or new memory."""
        if value.layout.dense:
            return value
        room = self.temporary(value.axes, value.shape, value.dtype)
        return room if room.layout.dense else self.flat_copy(value)

    def flat_copy(self, value: Value) -> Value:
        """Allocate contiguous memory for a value whose lengths move: the front of a flat buffer."""
        total = full = expression(1)
        for n in value.extents:
            total, full = total * n, full * greatest_length(n, self.ranges)
        name = self.workspace.fresh(self.title)
        self.workspace.reserve(Buffer(name, value.dtype, (full,)))
        flat = Value(name, name, (), (), (full,), value.dtype, dense(1), True)
        front = self.view(flat, Index((Range(expression(0), total),)), (), (total,), dense(1))
        return self.view(front, Reshape(value.extents), value.axes, value.shape, dense(value.rank))

    def cast(self, value: Value, dtype: str) -> Value:
        """Return `value` with another dtype, in memory of its own."""
        if value.dtype == dtype:
            return value
        return self.apply("copyto", [value], self.temporary(value.axes, value.shape, dtype))

    def reversed(self, value: Value, position: int) -> Value:
        """Return one array axis backwards."""
        entries: list[Entry] = [WHOLE] * value.rank
        entries[position] = REVERSED
        return self.index(value, entries, value.axes, value.shape)


def _takes_all(entries: Sequence[Entry]) -> bool:
    """Tell whether an index takes every axis whole."""
    return all(isinstance(e, str) and e == WHOLE for e in entries)


def _moving(entries: Sequence[Entry]) -> bool:
    """Tell whether slices or positions depend on loop variables."""
    parts = [
        part
        for e in entries
        for part in ((e.start, e.stop) if isinstance(e, Range) else (e,))
        if isinstance(part, Expression)
    ]
    return any(part.variables for part in parts)


def _both(first: Entry, second: Entry) -> list[Entry] | None:
    """Return two indices of one axis as one entry, or None.

    The entry is itself None for a new axis that is dropped.
    """
    if second == WHOLE:
        return [first]
    if first == WHOLE:
        return [second]
    if first == NEW:
        return [] if second == expression(0) else None
    if isinstance(first, Range) and first.step == 1:
        if isinstance(second, Expression):
            return [first.start + second]
        if isinstance(second, Range):
            return [Range(first.start + second.start, first.start + second.stop, second.step)]
    return None
