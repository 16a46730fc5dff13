"""Bytes held over the schedule, by memory space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.variants.held import Course, Held
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class MemoryPoint:
    """The bytes held from one place in the loop program on. `line` is the place's line in the loop
    program's text (`CodeView.loops` of the same backend, from 0), `text` the text there, `loops`
    the loops around it.

    `born` live from here on, `gone` no more: positions in `MemoryView.arrays`.
    """

    line: int
    text: str
    loops: tuple[str, ...]
    bytes: int
    born: tuple[int, ...]
    gone: tuple[int, ...]


@dataclass(frozen=True)
class BufferView:
    """A buffer with a lifetime. `array` is the program's array that it holds (whole or a slice),
    null for other memory. `statements` write it, `last_reader` is the
    last to read it, and `until` says in words how long it is held: "until its last reader x".
    """

    name: str
    array: str | None
    bytes: int
    formula: str
    statements: tuple[str, ...]
    until: str
    last_reader: str | None


@dataclass(frozen=True)
class SpaceView:
    """The bytes held in a memory space over the schedule; one iteration stands for all of a
    loop.
    """

    space: str
    peak_bytes: int
    points: tuple[MemoryPoint, ...]


@dataclass(frozen=True)
class MemoryView:
    """The courses of all memory spaces that hold anything, in a run by `backend` on `threads`.
    `peak_formula` is the device's peak as a formula in the sizes, valid wherever the same loops
    run; `beside` are the bytes there that it leaves out: scratch memory of compiled kernels, gaps.
    """

    sizes: Mapping[str, int]
    dtype: str
    backend: str
    threads: int
    beside: int
    lines: int
    """The number of lines in the loop program's text."""
    peak_formula: str
    arrays: tuple[BufferView, ...]
    spaces: tuple[SpaceView, ...]


def memory(variant: Variant, arguments: Mapping[str, Any]) -> MemoryView:
    """Return the memory that a variant holds at `sizes` (omitted ones have their defaults) on
    `backend` in `dtype`.

    Raises SizeError for sizes that the program does not take, WorkbenchError for an unknown dtype,
    UnavailableError for an unknown backend.
    """
    held = variant.memory(arguments["sizes"], arguments["backend"], arguments["dtype"])
    return MemoryView(
        sizes=held.sizes,
        dtype=held.by.dtype,
        backend=held.by.backend,
        threads=held.by.threads,
        beside=held.beside,
        lines=held.lines,
        peak_formula=str(held.peak_formula),
        arrays=tuple(map(_buffer, held.buffers)),
        spaces=tuple(
            SpaceView(space, course.peak_bytes, _points(course))
            for space, course in held.courses.items()
        ),
    )


def _buffer(held: Held) -> BufferView:
    return BufferView(
        held.name,
        held.array,
        held.bytes,
        held.formula,
        held.statements,
        held.until,
        held.last_reader,
    )


def _points(course: Course) -> tuple[MemoryPoint, ...]:
    """Return the points of a course, each with what begins and ends to live there."""
    before: frozenset[int] = frozenset()
    points = []
    for point in course.points:
        born, gone = tuple(sorted(point.live - before)), tuple(sorted(before - point.live))
        points.append(MemoryPoint(point.line - 1, point.text, point.loops, point.bytes, born, gone))
        before = point.live
    return tuple(points)
