"""The places of buffers in one piece of memory: the arena of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import DEVICE, Allocate, Free, Record, walk

LINE = 64
"""The bytes of a cache line: each buffer begins with one."""

BEYOND = 64
"""The bytes behind a buffer that may be read with its last elements, at most a vector's."""


@dataclass(frozen=True)
class Arena:
    """The place of each buffer in bytes, and the bytes of the whole."""

    places: Mapping[str, int]
    bytes: int


def arena(
    body: tuple[Record, ...], sizes: Mapping[str, int], dtype: str, space: str = DEVICE
) -> Arena:
    """Lay out the buffers of a loop program in a memory space, but its results, in text order.

    Each gets the first gap among those held then that is large enough. A loop's body frees what it
    allocates, so one iteration stands for all.
    """
    held: dict[str, tuple[int, int]] = {}
    memory_of: dict[str, str] = {}
    places: dict[str, int] = {}
    end = 0
    for record in walk(body):
        if isinstance(record, Allocate):
            name = record.buffer.name
            memory_of[name] = memory_of.get(record.source or "", record.source or name)
            own = record.source is None and record.buffer.initial != "nan"
            if own and record.buffer.space == space:
                needed = bytes_of(record.buffer, sizes, dtype) + BEYOND
                needed = (needed + LINE - 1) // LINE * LINE
                places[name] = _gap(held, needed)
                held[name] = (places[name], places[name] + needed)
                end = max(end, held[name][1])
        elif isinstance(record, Free):
            held.pop(memory_of[record.name], None)
    return Arena(places, end)


def _gap(held: Mapping[str, tuple[int, int]], needed: int) -> int:
    """Return the first place with so many free bytes."""
    place = 0
    for begin, behind in sorted(held.values()):
        if begin - place >= needed:
            break
        place = max(place, behind)
    return place
