"""The places of buffers in one piece of memory: the arena of a run."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import (
    DEVICE,
    Allocate,
    AtOnce,
    Buffer,
    For,
    Free,
    If,
    Launch,
    Record,
)

LINE = 64
"""The bytes of a cache line: each buffer begins with one."""

BEYOND = 64
"""The bytes behind a buffer that may be read with its last elements, at most a vector's."""

SCRATCH = ""
"""What the scratch memory of the kernel that runs is held as: no buffer has this name."""


@dataclass(frozen=True)
class Arena:
    """The place of each buffer in bytes, that of each kernel's scratch memory, and the bytes of the
    whole.
    """

    places: Mapping[str, int]
    scratch: Sequence[int]
    bytes: int


def arena(
    body: Sequence[Record],
    sizes: Mapping[str, int],
    dtype: str,
    space: str = DEVICE,
    scratch: Sequence[int] = (),
    own: Collection[str] = (),
) -> Arena:
    """Lay out the buffers of a loop program in a memory space, but its results, in text order.

    Each gets the first gap among those held then that is large enough. A loop's body frees what it
    allocates, so one iteration stands for all. `scratch` are the bytes that kernels need while they
    run, in text order. Buffers that are a block's `own` are elsewhere: each thread has memory for
    one block (`block_memory`).
    """
    layout = _Layout(sizes, dtype, space, iter(scratch), frozenset(own))
    layout.lay(body)
    return Arena(layout.places, layout.scratch, layout.end)


def block_memory(
    body: Sequence[Record],
    outside: Sequence[Buffer],
    sizes: Mapping[str, int],
    dtype: str,
    space: str = DEVICE,
    scratch: int = 0,
    elsewhere: Collection[str] = (),
    beyond: int = BEYOND,
) -> Arena:
    """Lay out the buffers of one block, whose body this is, and its scratch memory. Those that are
    allocated `outside` of it are held all the time. Those `elsewhere` have no place in it. Behind a
    buffer `beyond` bytes may be read.

    Statements without a loop between them may run group of lanes by group of lanes, one after the
    other each time. So what a statement before is done with is free from the next loop on: another
    buffer in its place, of elements of another size, would be written over by the next lanes.
    """
    layout = _Layout(sizes, dtype, space, iter((scratch,)), frozenset(elsewhere), beyond)
    layout.hold_scratch()
    for buffer in outside:
        layout.hold(buffer)
    layout.lay(body, launched=True)
    return Arena(layout.places, layout.scratch, layout.end)


@dataclass
class _Layout:
    sizes: Mapping[str, int]
    dtype: str
    space: str
    needs: Iterator[int]
    elsewhere: frozenset[str] = frozenset()
    beyond: int = BEYOND
    held: dict[str, tuple[int, int]] = field(default_factory=dict)
    in_order: list[tuple[int, int]] = field(default_factory=list)
    """The same places, in their order."""
    memory_of: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    scratch: list[int] = field(default_factory=list)
    end: int = 0

    def lay(self, body: Sequence[Record], launched: bool = False) -> None:
        """Give places to what records allocate. Inside a kernel, `launched`, no other begins."""
        done: list[str] = []
        for record in body:
            if launched and isinstance(record, (For, If)):
                self._free(done)
            if isinstance(record, Allocate):
                self._allocate(record)
            elif isinstance(record, Free):
                done.append(self.memory_of[record.name])
                if not launched:
                    self._free(done)
            elif not launched and (
                isinstance(record, Launch) or (isinstance(record, For) and record.apart)
            ):
                self.hold_scratch()
                self._release(SCRATCH)
            elif isinstance(record, (For, If, AtOnce)):
                self.lay(record.body, launched)
        self._free(done)

    def _free(self, names: list[str]) -> None:
        for name in names:
            self._release(name)
        names.clear()

    def _release(self, name: str) -> None:
        place = self.held.pop(name, None)
        if place is not None:
            del self.in_order[bisect_left(self.in_order, place)]

    def _allocate(self, record: Allocate) -> None:
        buffer = record.buffer
        self.memory_of[buffer.name] = self.memory_of.get(
            record.source or "", record.source or buffer.name
        )
        if record.source is None and buffer.name not in self.elsewhere:
            self.hold(buffer)

    def hold(self, buffer: Buffer) -> None:
        """Give a buffer its place, if it is one of this space, and no result."""
        if buffer.initial != "nan" and buffer.space == self.space:
            needed = bytes_of(buffer, self.sizes, self.dtype)
            self.places[buffer.name] = self._take(buffer.name, needed)

    def hold_scratch(self) -> None:
        """Give a kernel scratch memory beside all that is held, while it runs."""
        needed = next(self.needs, 0)
        self.scratch.append(self._take(SCRATCH, needed) if needed else 0)

    def _take(self, name: str, needed: int) -> int:
        """Hold the first gap with so many bytes; return its place."""
        needed = (needed + self.beyond + LINE - 1) // LINE * LINE
        place = 0
        for begin, behind in self.in_order:
            if begin - place >= needed:
                break
            if behind > place:
                place = behind
        self._release(name)
        self.held[name] = (place, place + needed)
        insort(self.in_order, self.held[name])
        self.end = max(self.end, place + needed)
        return place
