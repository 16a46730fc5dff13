"""A loop program as bodies with a clock: when and where every buffer is used.

Placement and hoisting put records in front of and behind the items of bodies; `written` gives the
program back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.lowering.loops.records import (
    Allocate,
    Apply,
    Constant,
    Count,
    For,
    If,
    Launch,
    Record,
    RuntimeCheck,
    View,
    walk,
)


@dataclass(eq=False)
class Body:
    """The records of a loop's body, of an `if`'s, or of the whole program (`frame` is None).

    In its parent it is the item at position `at`.
    """

    frame: For | If | None
    parent: Body | None
    at: int = 0
    items: list[Record | Body] = field(default_factory=list)
    first: int = 0
    last: int = 0
    before: dict[int, list[Record]] = field(default_factory=dict)
    """The records in front of the item at a position."""
    behind: dict[int, list[Record]] = field(default_factory=dict)
    innermost: bool = True
    dropped: set[int] = field(default_factory=set)
    """The positions of views that were moved elsewhere."""

    @cached_property
    def ends(self) -> list[int]:
        """The last time within each item of the whole body."""
        clock, times = self.first, []
        for item in self.items:
            clock = item.last if isinstance(item, Body) else clock + 1
            times.append(clock)
        return times

    @property
    def hoisted(self) -> bool:
        """Tell whether the body's buffers are allocated once, in front of its loop. A kernel's
        blocks may run at once, so that each has its own.
        """
        if not isinstance(self.frame, For) or not self.innermost:
            return False
        if not self.frame.apart:
            return True
        return not any(isinstance(record, Launch) for record in walk(self.frame.body))

    @property
    def home(self) -> Body:
        """The loop's body (or the whole program) around: an `if` allocates nothing itself."""
        body = self
        while isinstance(body.frame, If):
            assert body.parent is not None
            body = body.parent
        return body

    @cached_property
    def ancestors(self) -> tuple[Body, ...]:
        """The bodies from the whole program to this one."""
        above = () if self.parent is None else self.parent.ancestors
        return (*above, self)


class Dated:
    """The records as bodies, with every use of a buffer dated by its place in the text."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.root = Body(None, None)
        self.source: dict[str, str] = {}
        """The buffer of each view."""
        self.names: dict[str, list[str]] = {}
        """The views of each buffer."""
        self.uses: dict[str, list[tuple[int, Body]]] = {}
        self.applied: dict[int, Apply] = {}
        self.constants: set[str] = set()
        self._clock = 0
        self._read(self.root, needed(records, used(records)))

    def _read(self, body: Body, records: Sequence[Record]) -> None:
        body.first = self._clock
        for record in records:
            self._clock += 1
            if isinstance(record, (For, If)):
                inner = Body(record, body, len(body.items))
                body.items.append(inner)
                self._read(inner, record.body)
                if isinstance(record, For) or not inner.innermost:
                    body.innermost = False
                continue
            body.items.append(record)
            if isinstance(record, View):
                buffer = self.source.get(record.source, record.source)
                self.source[record.name] = buffer
                self.names.setdefault(buffer, []).append(record.name)
                self._use(buffer, body)
            elif isinstance(record, Apply):
                self.applied[self._clock] = record
                scratch = [v for k, v in record.options if k == "scratch"]
                for name in (*record.inputs, record.out, *scratch):
                    if name:
                        self._use(self.source.get(name, name), body)
            elif isinstance(record, Launch):
                for name in (*record.reads, *record.writes):
                    self._use(name, body)
            elif isinstance(record, RuntimeCheck):
                self._use(self.source.get(record.name, record.name), body)
            elif isinstance(record, (Constant, Count)):
                self.constants.add(record.buffer.name)
        self._clock += 1
        body.last = self._clock

    def _use(self, buffer: str, body: Body) -> None:
        self.uses.setdefault(buffer, []).append((self._clock, body))


def used(records: Sequence[Record]) -> set[str]:
    """Return the names needed by operations, and the sources of views needed by them."""
    names: set[str] = set()
    for record in reversed(list(walk(tuple(records)))):
        if isinstance(record, View) and record.name in names:
            names.add(record.source)
        elif isinstance(record, Apply):
            names.update((*record.inputs, record.out))
        elif isinstance(record, RuntimeCheck):
            names.add(record.name)
    return names


def needed(records: Sequence[Record], used: set[str]) -> list[Record]:
    """Return the records without views and constants that nothing uses."""
    kept: list[Record] = []
    for record in records:
        if isinstance(record, (For, If)):
            kept.append(replace(record, body=tuple(needed(record.body, used))))
        elif isinstance(record, (Constant, Count)):
            if record.buffer.name in used:
                kept.append(record)
        elif not isinstance(record, View) or record.name in used:
            kept.append(record)
    return kept


def inner(body: Body) -> Iterator[Body]:
    """Yield the loops and `if`s directly in a body."""
    return (item for item in body.items if isinstance(item, Body))


def position(body: Body, time: int) -> int:
    """Return the position of the item in `body` that contains a time."""
    at = bisect_left(body.ends, time)
    assert at < len(body.items), "a time outside the body"
    return at


def written(body: Body) -> Iterator[Record]:
    """Yield the records of a body with those put around its items."""
    for at, item in enumerate(body.items):
        front = body.before.get(at, [])
        yield from (r for r in front if isinstance(r, Allocate))
        yield from (r for r in front if not isinstance(r, Allocate))
        if isinstance(item, Body):
            assert item.frame is not None
            yield replace(item.frame, body=tuple(written(item)))
        elif at not in body.dropped:
            yield item
        yield from body.behind.get(at, [])
