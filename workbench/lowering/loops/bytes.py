"""Bytes of a loop program at given sizes, computed from its records without running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from workbench.errors import WorkbenchError, nearest
from workbench.lowering.loops.records import (
    DEVICE,
    ITEM_BYTES,
    Allocate,
    AtOnce,
    Buffer,
    Constant,
    Count,
    For,
    Free,
    If,
    Record,
    walk,
)
from workbench.polyhedral.expression import Expression

FLOAT_BYTES = {"float32": 4, "float64": 8}


def check_dtype(dtype: object) -> None:
    """Raise WorkbenchError for a dtype of floats that is unknown, or is no name."""
    if not isinstance(dtype, str):
        raise WorkbenchError(f'dtype {dtype!r}; expected "float32" or "float64"')
    if dtype not in FLOAT_BYTES:
        raise WorkbenchError(f"unknown dtype {dtype!r}: {nearest(dtype, FLOAT_BYTES, 'dtypes')}")


@dataclass(frozen=True)
class Point:
    """A place in the loop program where memory changes: the bytes held from there on, by arrays.

    `position` is the record's place in text order, from 1.
    """

    position: int
    loops: tuple[str, ...]
    bytes: int
    live: tuple[tuple[str, int], ...]


def bytes_of(buffer: Buffer, sizes: Mapping[str, int], dtype: str) -> int:
    """Return the bytes of one buffer."""
    item = ITEM_BYTES.get(buffer.dtype) or FLOAT_BYTES[dtype]
    elements = buffer.elements
    return _value(elements, tuple((name, sizes[name]) for name in elements.sizes)) * item


@lru_cache(maxsize=4096)
def _value(elements: Expression, sizes: tuple[tuple[str, int], ...]) -> int:
    """Return a number of elements: of a program's variants most buffers are the same."""
    return elements.evaluate(dict(sizes))


def timeline(
    body: tuple[Record, ...], sizes: Mapping[str, int], dtype: str, space: str = DEVICE
) -> list[Point]:
    """Return a point for every allocation and free in a memory space, in text order.

    A loop's body frees what it allocates, so one iteration stands for all. A loop that never runs
    at these sizes is left out where its bounds depend on sizes only.
    """
    return [
        Point(position, loops, held, tuple(live.items()))
        for position, loops, held, live in _course(body, sizes, dtype, space)
    ]


def peak(
    body: tuple[Record, ...], sizes: Mapping[str, int], dtype: str, space: str = DEVICE
) -> int:
    """Return the most bytes at any point of the timeline."""
    return max((held for _, _, held, _ in _course(body, sizes, dtype, space)), default=0)


def _course(
    body: tuple[Record, ...], sizes: Mapping[str, int], dtype: str, space: str
) -> Iterator[tuple[int, tuple[str, ...], int, Mapping[str, int]]]:
    """Yield the state behind every allocation and free: position, loops around it, bytes, arrays.

    The mapping of arrays is one object, which goes on changing.
    """
    live: dict[str, int] = {}
    held = position = 0

    def visit(
        records: tuple[Record, ...], loops: tuple[str, ...]
    ) -> Iterator[tuple[int, tuple[str, ...], int, Mapping[str, int]]]:
        nonlocal held, position
        for record in records:
            position += 1
            if isinstance(record, For):
                if _runs(record, sizes):
                    yield from visit(record.body, (*loops, record.variable))
                else:
                    position += sum(1 for _ in walk(record.body))
            elif isinstance(record, (If, AtOnce)):
                yield from visit(record.body, loops)
            elif isinstance(record, Allocate) and record.source is not None:
                if record.buffer.space == space:
                    live[record.buffer.name] = live.pop(record.source)
                    yield position, loops, held, live
            elif isinstance(record, (Allocate, Constant, Count)):
                if record.buffer.space == space:
                    taken = bytes_of(record.buffer, sizes, dtype)
                    held += taken - live.get(record.buffer.name, 0)
                    live[record.buffer.name] = taken
                    yield position, loops, held, live
            elif isinstance(record, Free) and record.name in live:
                held -= live.pop(record.name)
                yield position, loops, held, live

    return visit(body, ())


def _runs(loop: For, sizes: Mapping[str, int]) -> bool:
    if loop.lower.variables or loop.upper.variables:
        return True
    return loop.upper.evaluate(sizes) > loop.lower.evaluate(sizes)
