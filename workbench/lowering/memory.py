"""Bytes of a loop program at given sizes, computed from its records without running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.lowering.records import (
    DEVICE,
    ITEM_BYTES,
    Allocate,
    Buffer,
    Constant,
    Count,
    For,
    Free,
    If,
    Record,
    walk,
)

FLOAT_BYTES = {"float32": 4, "float64": 8}


@dataclass(frozen=True)
class Point:
    """A place in the loop program where memory changes: the bytes held from there on, and in which
    arrays. `position` is the record's place in text order, from 1.
    """

    position: int
    loops: tuple[str, ...]
    bytes: int
    live: tuple[tuple[str, int], ...]


def bytes_of(buffer: Buffer, sizes: Mapping[str, int], dtype: str) -> int:
    """Bytes of one buffer."""
    item = ITEM_BYTES.get(buffer.dtype) or FLOAT_BYTES[dtype]
    return buffer.elements.evaluate(sizes) * item


def timeline(
    body: tuple[Record, ...], sizes: Mapping[str, int], dtype: str, space: str = DEVICE
) -> list[Point]:
    """A point for every allocation and free in a memory space, in text order.

    What a loop's body allocates it frees, so one iteration stands for all. A loop that never runs
    at these sizes is left out where its bounds depend on sizes only.
    """
    live: dict[str, int] = {}
    points: list[Point] = []
    position = 0

    def note(loops: tuple[str, ...]) -> None:
        points.append(Point(position, loops, sum(live.values()), tuple(live.items())))

    def visit(records: tuple[Record, ...], loops: tuple[str, ...]) -> None:
        nonlocal position
        for record in records:
            position += 1
            if isinstance(record, For):
                if _runs(record, sizes):
                    visit(record.body, (*loops, record.variable))
                else:
                    position += sum(1 for _ in walk(record.body))
            elif isinstance(record, If):
                visit(record.body, loops)
            elif isinstance(record, (Constant, Count)):
                if record.buffer.space != space:
                    continue
                live[record.buffer.name] = bytes_of(record.buffer, sizes, dtype)
                note(loops)
            elif isinstance(record, Allocate):
                if record.buffer.space != space:
                    continue
                name = record.buffer.name
                if record.source is None:
                    live[name] = bytes_of(record.buffer, sizes, dtype)
                else:
                    live[name] = live.pop(record.source)
                note(loops)
            elif isinstance(record, Free) and record.name in live:
                del live[record.name]
                note(loops)

    visit(body, ())
    return points


def _runs(loop: For, sizes: Mapping[str, int]) -> bool:
    if loop.lower.variables or loop.upper.variables:
        return True
    return loop.upper.evaluate(sizes) > loop.lower.evaluate(sizes)
