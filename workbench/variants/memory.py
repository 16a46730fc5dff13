"""The memory of a variant over its schedule, array by array: what is held, from where to where, and
for whom.

Knows the loop program alone, as NumPy runs it; what compiled kernels keep to themselves it does not
know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, nearest
from workbench.lowering.attribution import first_needed, last_readers
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import Point, check_dtype
from workbench.lowering.loops.records import SPACES, Allocate, Constant, Count, walk
from workbench.lowering.text import lines
from workbench.planning.cost import formulas
from workbench.program.sizes import numbers, resolve
from workbench.program.text.units import bytes_text
from workbench.program.values import Program
from workbench.variants.held import Course, Held, HeldPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 8
"""The arrays that a memory shows of itself."""

Made = Allocate | Constant | Count


@dataclass(frozen=True, repr=False, eq=False)
class HeldMemory:
    """The memory that a run of array operations holds from the first to the last of them, in
    `buffers`, in the order in which they are first held. Bytes are exact: NumPy's run holds just
    that. One iteration stands for all of a loop.

    `courses` are of the spaces that hold anything; their points name buffers by position.
    """

    program: Program
    loops: LoopProgram
    sizes: Mapping[str, int]
    dtype: str
    lines: int
    """The lines of the loop program's text."""
    buffers: tuple[Held, ...]
    courses: Mapping[str, Course]

    @property
    def peak_bytes(self) -> dict[str, int]:
        """The most bytes held at one time, by space; spaces that hold nothing are left out."""
        return {space: course.peak_bytes for space, course in self.courses.items()}

    @cached_property
    def peak_formula(self) -> formulas.Formula:
        """The device's peak as a formula in the sizes, valid wherever the same loops run."""
        return formulas.peak(self.loops, self.sizes, self.dtype)

    def at_peak(self, space: str = "device") -> tuple[Held, ...]:
        """Return what is held where the space holds most, the largest first."""
        live = [self.buffers[n] for n in self._course(space).live_at_peak]
        return tuple(sorted(live, key=lambda one: -one.bytes))

    def most_bytes(self, arrays: Collection[str], space: str = "device") -> int:
        """Return the most bytes that some arrays hold at one time, slices of them included: one by
        its name, or several, such as `variant.gradients("policy")`.

        Raises WorkbenchError for a name that is no array's.
        """
        names = {arrays} if isinstance(arrays, str) else set(arrays)
        for name in names - set(self.program.array):
            raise WorkbenchError(
                f"unknown array {name!r}: {nearest(name, self.program.array, 'arrays')}"
            )
        own = [one.bytes if one.array in names else 0 for one in self.buffers]
        return max((sum(own[n] for n in p.live) for p in self._course(space).points), default=0)

    def frame(self) -> Any:
        """Return a pandas table with a row for everything that is held: its name, array, space,
        bytes and their formula, its first and last line in `print(variant.loop_program)`, the
        statement that reads it last, why it is held until then, whether it is held at the peak of
        its space. The largest come first.
        """
        import pandas as pd

        high = {id(one) for space in self.courses for one in self.at_peak(space)}
        rows = [
            {
                "name": one.name,
                "array": one.array,
                "space": one.space,
                "bytes": one.bytes,
                "formula": one.formula,
                "first_line": one.first_line,
                "last_line": one.last_line,
                "last_reader": one.last_reader,
                "until": one.until,
                "at_peak": id(one) in high,
            }
            for one in sorted(self.buffers, key=lambda one: -one.bytes)
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def plot(self, space: str = "device", **beside: HeldMemory) -> Figure:
        """Draw a space's bytes over the schedule, a band for each of the largest arrays and one for
        all others, in a matplotlib Figure. The totals of other variants' memories are lines over
        it, by the names that they are given: `fast.memory().plot(folded=folded.memory())`.
        """
        from workbench.variants.memory_plot import bands

        others = {name: other._course(space) for name, other in beside.items()}
        return bands(self.buffers, self._course(space), others, self.title)

    # -- text --------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What this is the memory of: program, sizes, dtype."""
        return f"{self.program.name}: {numbers(self.sizes)}, {self.dtype}"

    def __repr__(self) -> str:
        """Show the peaks, and the largest of what is held there."""
        said = []
        for space, peak in self.peak_bytes.items():
            live = self.at_peak(space)
            said += [f"{self.title}; most on {space}: {bytes_text(peak)}"]
            said += [
                f"{bytes_text(one.bytes):>9}  {one.name}, held {one.until}" for one in live[:FEW]
            ]
            rest = live[FEW:]
            if rest:
                held = bytes_text(sum(one.bytes for one in rest))
                said.append(f"{held:>9}  in {len(rest)} more")
        return "\n".join(said) or f"{self.title}; nothing is held"

    def _course(self, space: str) -> Course:
        if space not in SPACES:
            raise WorkbenchError(f"unknown space {space!r}: {nearest(space, SPACES, 'spaces')}")
        return self.courses.get(space, Course(space, self.lines))


def _line(one: Held) -> str:
    """Return a line of the text: bytes, name, how long."""
    return f"{bytes_text(one.bytes):>9}  {one.name}, held {one.until}"


_COLUMNS = (
    "name",
    "array",
    "space",
    "bytes",
    "formula",
    "first_line",
    "last_line",
    "last_reader",
    "until",
    "at_peak",
)


def held_memory(
    program: Program, loops: LoopProgram, sizes: Mapping[str, int] | None, dtype: str
) -> HeldMemory:
    """Return what the loop program of a program holds.

    Raises SizeError for sizes that the program does not take, WorkbenchError for an unknown dtype.
    """
    check_dtype(dtype)
    known = resolve(program.equations, sizes)
    texts = list(lines(loops.body))
    line_at = {line.position: number for number, line in enumerate(texts, 1)}
    timelines = {space: loops.timeline(known, dtype, space) for space in SPACES}
    bytes_of = {name: n for course in timelines.values() for p in course for name, n in p.live}
    position = {name: number for number, name in enumerate(bytes_of)}

    def point(there: Point) -> HeldPoint:
        line = line_at[there.position]
        live = frozenset(position[name] for name, _ in there.live)
        return HeldPoint(line, texts[line - 1].text.strip(), there.loops, there.bytes, live)

    courses = {
        space: Course(space, len(texts), tuple(map(point, course)))
        for space, course in timelines.items()
        if course
    }
    spans = _spans(courses)
    made = {r.buffer.name: r for r in walk(loops.body) if isinstance(r, Made)}
    naming = _Naming(program, loops)
    buffers = tuple(
        naming.held(made[name], n, spans[position[name]], dtype) for name, n in bytes_of.items()
    )
    return HeldMemory(program, loops, known, dtype, len(texts), buffers, courses)


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
    """The buffers of a loop program under the user's names."""

    def __init__(self, program: Program, loops: LoopProgram) -> None:
        self.program = program
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

    def held(self, record: Made, size: int, span: tuple[int, int, bool], dtype: str) -> Held:
        """Return a buffer that takes so many bytes over a span of lines."""
        buffer = record.buffer
        first, last, ends = span
        return Held(
            name=self._name(record),
            array=self._array(buffer.name),
            space=buffer.space,
            bytes=size,
            formula=str(formulas.footprint(buffer, dtype)),
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
            return (f"a slice of {array}" if name in self.slices else array) + added
        what = "temporary" if isinstance(record, Allocate) else "constant"
        served = self._served(name)
        return served if served == name else f"{what} of {served}"

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
        if heir is not None:
            return f"until {self._served(heir)} takes over its memory"
        if reader is not None:
            return f"until its last reader {reader}"
        return "while it is computed" if ends else "to the end"
