"""The memory of a run read off its loop program, under the user's names."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lowering.attribution import first_needed, last_readers
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import Point
from workbench.lowering.loops.records import SPACES, Allocate, Constant, Count, walk
from workbench.lowering.text import lines
from workbench.planning.cost import formulas
from workbench.planning.cost.counted import Counted
from workbench.planning.cost.formulas import BESIDE
from workbench.program.values import Program
from workbench.variants.held import Course, Held, HeldBy, HeldPoint
from workbench.variants.memory import HeldMemory

Made = Allocate | Constant | Count


def held_memory(
    program: Program, counted: Counted, sizes: Mapping[str, int], by: HeldBy
) -> HeldMemory:
    """Return what a run of a program holds, whose work is counted, at sizes that are all given."""
    loops, many = counted.loops, counted.copies(sizes, by.threads)
    texts = list(lines(loops.body))
    line_at = {line.position: number for number, line in enumerate(texts, 1)}
    timelines = {space: loops.timeline(sizes, by.dtype, space) for space in SPACES}
    bytes_of = {
        name: n * many.get(name, 1)
        for course in timelines.values()
        for p in course
        for name, n in p.live
    }
    position = {name: number for number, name in enumerate(bytes_of)}

    def point(there: Point) -> HeldPoint:
        line = line_at[there.position]
        held = sum(bytes_of[name] for name, _ in there.live)
        live = frozenset(position[name] for name, _ in there.live)
        return HeldPoint(line, texts[line - 1].text.strip(), there.loops, held, live)

    courses = {
        space: Course(space, len(texts), tuple(map(point, course)))
        for space, course in timelines.items()
        if course
    }
    spans = _spans(courses)
    made = {r.buffer.name: r for r in walk(loops.body) if isinstance(r, Made)}
    naming = _Naming(program, loops, many, by.dtype)
    buffers = [naming.held(made[name], n, spans[position[name]]) for name, n in bytes_of.items()]
    for space, peak in counted.peak_bytes(sizes, by.dtype, by.threads).items():
        course = courses.get(
            space, Course(space, len(texts), (HeldPoint(1, "", (), 0, frozenset()),))
        )
        rest = peak - course.peak_bytes
        if rest:
            courses[space] = course.with_all_along(len(buffers), rest)
            buffers.append(_beside(space, rest, len(texts)))
    return HeldMemory(program, loops, sizes, by, len(texts), tuple(buffers), courses, many)


def _beside(space: str, size: int, last: int) -> Held:
    """Return what compiled kernels hold from the first line to the last beside all arrays."""
    return Held(
        name=BESIDE,
        array=None,
        space=space,
        bytes=size,
        formula=f"{size} bytes",
        first_line=1,
        last_line=last,
        last_reader=None,
        until="to the end",
        statements=(),
    )


def _spans(courses: Mapping[str, Course]) -> dict[int, tuple[int, int, bool]]:
    """Return the first and last line of each buffer, and whether it is given back at all."""
    spans: dict[int, tuple[int, int, bool]] = {}
    for course in courses.values():
        live: frozenset[int] = frozenset()
        for point in course.points:
            for one in point.live - live:
                spans[one] = (spans.get(one, (point.line,))[0], course.lines, False)
            for one in live - point.live:
                spans[one] = (spans[one][0], point.line, True)
            live = point.live
    return spans


class _Naming:
    """The buffers of a loop program under the user's names; of some a run has `many`."""

    def __init__(
        self, program: Program, loops: LoopProgram, many: Mapping[str, int], dtype: str
    ) -> None:
        self.program, self.many, self.dtype = program, many, dtype
        self.arrays = {where.buffer.name: name for name, where in loops.stored.items()}
        self.slices = {copy.device: self.arrays[copy.host] for copy in copies(loops.body)}
        self.needed = first_needed(loops.body)
        self.readers = last_readers(loops.body)
        self.heirs = {
            record.source: record.buffer.name
            for record in walk(loops.body)
            if isinstance(record, Allocate) and record.source is not None
        }
        self.outputs = {result.buffer for result in loops.results}

    def held(self, record: Made, size: int, span: tuple[int, int, bool]) -> Held:
        """Return a buffer that takes so many bytes over a span of lines."""
        buffer = record.buffer
        first, last, ends = span
        return Held(
            name=self._name(record),
            array=self._array(buffer.name),
            space=buffer.space,
            bytes=size,
            formula=str(formulas.footprint(buffer, self.dtype, self.many.get(buffer.name, 1))),
            first_line=first,
            last_line=last,
            last_reader=self.readers.get(buffer.name),
            until=self._until(buffer.name, ends),
            statements=self._statements(buffer.name),
        )

    def _array(self, name: str) -> str | None:
        return self.arrays.get(name) or self.slices.get(name)

    def _statements(self, name: str) -> tuple[str, ...]:
        array = self._array(name)
        if array:
            return tuple(s.name for s in self.program.writers[array])
        return (self.needed[name],) if name in self.needed else ()

    def _name(self, record: Made) -> str:
        """Return a buffer's name: that of its array, or of the array that it serves."""
        name = record.buffer.name
        array = self._array(name)
        if array is not None:
            added = ", added up" if array in self.program.storage.added else ""
            return (
                self._blocks(name)
                + (f"a slice of {array}" if name in self.slices else array)
                + added
            )
        what = "temporary" if isinstance(record, Allocate) else "constant"
        served = self._served(name)
        return self._blocks(name) + (served if served == name else f"{what} of {served}")

    def _blocks(self, name: str) -> str:
        """Return the words in front of the name of what each block has for itself."""
        many = self.many.get(name)
        return "" if many is None else f"{many} block{'s' if many != 1 else ''} of "

    def _served(self, name: str) -> str:
        """Return the array that a buffer holds, or that of the statement that needs it."""
        written = (self.program.statement[s].array for s in self._statements(name))
        return self._array(name) or next(written, name)

    def _until(self, name: str, ends: bool) -> str:
        """Say why a buffer is held as long as it is."""
        heir = self.heirs.get(name)
        reader = self.readers.get(name)
        if name in self.outputs:
            return "to the end, as an output"
        if self.many.get(name) == 0:
            return "in shared memory"
        if heir is not None:
            return f"until {self._served(heir)} takes over its memory"
        if reader is not None:
            return f"until its last reader {reader}"
        return "while it is computed" if ends else "to the end"
