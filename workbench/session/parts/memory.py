"""Bytes held over the schedule, by memory space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.lowering.attribution import first_needed
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import Point, check_dtype
from workbench.lowering.loops.records import SPACES, Allocate, Constant, Count, walk
from workbench.lowering.text import lines
from workbench.planning.cost import formulas
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class MemoryPoint:
    """The bytes held from one place in the loop program on. `line` is the place's line in the loop
    program's text (`CodeView.loops`, from 0), `text` the text there, `loops` the loops around it.

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
    null for memory that operations need in between. `statements` write it.
    """

    name: str
    array: str | None
    bytes: int
    formula: str
    statements: tuple[str, ...]


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
    """The courses of all memory spaces that hold anything. `peak_formula` is the device's peak as a
    formula in the sizes, valid wherever the same loops run.
    """

    sizes: Mapping[str, int]
    dtype: str
    lines: int
    """The number of lines in the loop program's text."""
    peak_formula: str
    arrays: tuple[BufferView, ...]
    spaces: tuple[SpaceView, ...]


def memory(variant: Variant, arguments: Mapping[str, Any]) -> MemoryView:
    """Return the memory that a variant holds at `sizes` (omitted ones have their defaults) in
    `dtype`.

    Raises SizeError for sizes that the program does not take, WorkbenchError for an unknown dtype.
    """
    dtype = arguments["dtype"]
    check_dtype(dtype)
    sizes = resolve(variant.program.equations, arguments["sizes"])
    loops = variant.loop_program
    texts = list(lines(loops.body))
    places = {line.position: number for number, line in enumerate(texts)}
    courses = {space: loops.timeline(sizes, dtype, space) for space in SPACES}
    held = {name: n for course in courses.values() for p in course for name, n in p.live}
    order = {name: number for number, name in enumerate(held)}
    return MemoryView(
        sizes=sizes,
        dtype=dtype,
        lines=len(texts),
        peak_formula=str(formulas.peak(loops, sizes, dtype)),
        arrays=_buffers(loops, variant.program, held, dtype),
        spaces=tuple(
            SpaceView(
                space,
                max(point.bytes for point in course),
                _points(course, order, places, [line.text.strip() for line in texts]),
            )
            for space, course in courses.items()
            if course
        ),
    )


def _points(
    course: Sequence[Point],
    order: Mapping[str, int],
    places: Mapping[int, int],
    texts: Sequence[str],
) -> tuple[MemoryPoint, ...]:
    """Return the points of a course, each with the arrays that begin and end to live there."""
    points = []
    before: set[int] = set()
    for point in course:
        live = {order[name] for name, _ in point.live}
        line = places[point.position]
        points.append(
            MemoryPoint(
                line,
                texts[line],
                point.loops,
                point.bytes,
                tuple(sorted(live - before)),
                tuple(sorted(before - live)),
            )
        )
        before = live
    return tuple(points)


def _buffers(
    loops: LoopProgram, program: Program, held: Mapping[str, int], dtype: str
) -> tuple[BufferView, ...]:
    """Return every buffer that is ever held, under the user's names."""
    arrays = {where.buffer.name: name for name, where in loops.stored.items()}
    slices = {copy.device: arrays[copy.host] for copy in copies(loops.body)}
    needed = first_needed(loops.body)
    buffers: dict[str, BufferView] = {}
    for record in walk(loops.body):
        if not isinstance(record, (Allocate, Constant, Count)) or record.buffer.name not in held:
            continue
        name = record.buffer.name
        array = arrays.get(name) or slices.get(name)
        statements = [s.name for s in program.writers[array]] if array else []
        if not array and name in needed:
            statements = [needed[name]]
        buffers[name] = BufferView(
            name=_title(record, array, slices, [program.statement[s].array for s in statements])
            + (", added up" if array in program.storage.added else ""),
            array=array,
            bytes=held[name],
            formula=str(formulas.footprint(record.buffer, dtype)),
            statements=tuple(statements),
        )
    return tuple(buffers[name] for name in held)


def _title(
    record: Allocate | Constant | Count,
    array: str | None,
    slices: Mapping[str, str],
    written: Sequence[str],
) -> str:
    """Return a buffer's name: that of its array, or of the array that it serves."""
    name = record.buffer.name
    if array is not None:
        return f"a slice of {array}" if name in slices else array
    what = "temporary" if isinstance(record, Allocate) else "constant"
    return f"{what} of {written[0]}" if written else name
