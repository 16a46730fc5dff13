"""The parts of a run of kernels: each as it was launched, divided as a second build tells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from workbench.backends.timed.stamps import TimedRun
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.stamps.segments import Segment
from workbench.codegen.stamps.statement_work import StatementWork, WorkAt, readers_of_common
from workbench.lowering.loops.bytes import FLOAT_BYTES, bytes_of
from workbench.lowering.memory.tiles import TileStored
from workbench.measure.profiles.parts import PYTHON, Division, KernelTime, Part, scope_of
from workbench.program.accumulating import owner
from workbench.program.values import Program

SHORT = 200e-9
"""The seconds below which a stamp tells little: neighbours that are shorter are one entry."""

Works = Mapping[str, StatementWork]


@dataclass(frozen=True)
class Entry:
    """What was timed as one: its seconds, its executions, and the work of its statements."""

    seconds: float
    calls: int
    work: Works


@dataclass(frozen=True)
class KernelTimes:
    """The runs of a program that tell its times: in the plain build, and where kernels have
    `segments`, by one thread `alone` in that build and in one that has stamps between them.
    `launched` is what is launched by name, each with the kernels that it runs.
    """

    program: Program
    made: ProgramKernels = field(repr=False)
    launched: Mapping[str, tuple[KernelRecords, ...]] = field(repr=False)
    sizes: Mapping[str, int]
    dtype: str
    plain: TimedRun
    segments: Sequence[Segment] = field(default=(), repr=False)
    alone: TimedRun | None = None
    divided: TimedRun | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all that is launched, in the order of the text."""
        return tuple(self.launched)

    @cached_property
    def _kernels(self) -> list[tuple[KernelRecords, ...]]:
        return list(self.launched.values())

    def kernels(self) -> tuple[KernelTime, ...]:
        """Return the time of each kernel that was launched."""
        return tuple(
            KernelTime(name, self.plain.calls[k], self.plain.net[k], self._division(k))
            for k, name in enumerate(self.names)
            if self.plain.calls[k]
        )

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of all kernels, and what was between them."""
        between = Part(PYTHON, 0, PYTHON, PYTHON, self.plain.between, self.plain.execution.total)
        kernels = [
            part
            for k, name in enumerate(self.names)
            if self.plain.calls[k]
            for part in self._parts(k, name)
        ]
        return (*kernels, between)

    def _parts(self, number: int, name: str) -> Iterator[Part]:
        entries = list(self._entries(number))
        of_kernel = self._work(number)
        program = self.program
        kernels = self._kernels[number]
        readers = {s for kernel in kernels for s in readers_of_common(kernel.records)}
        touched = self._touched(kernels) * self.plain.calls[number]
        moved = sum(one.bytes for entry in entries for one in entry.work.values())
        kept = min(touched / moved, 1.0) if moved else 1.0
        for position, entry in enumerate(entries):
            work = _owned(entry.work, of_kernel, readers)
            steps = sum(one.steps for one in work.values())
            for statement, one in work.items():
                share = one.steps / steps if steps else 1 / len(work)
                yield Part(
                    kernel=name,
                    entry=position,
                    statement=statement,
                    scope=scope_of(program.statement[statement]),
                    seconds=entry.seconds * share,
                    calls=entry.calls,
                    flops=one.flops,
                    bytes=one.bytes * kept,
                )

    def _entries(self, number: int) -> Iterator[Entry]:
        """Yield what was timed as one in a kernel, in the seconds of the plain build."""
        seconds, calls = self.plain.net[number], self.plain.calls[number]
        inside = self._inside(number)
        net, times = ((), ()) if self.divided is None else (self.divided.net, self.divided.calls)
        measured = sum(net[k] for k in inside)
        if not measured:
            yield Entry(seconds, calls, _times(self._work(number), calls))
            return
        scale = seconds / measured
        for group in _groups(inside, net, times):
            work: dict[str, StatementWork] = {}
            for k in group:
                segment = inside[k]
                one = self._counting.by_statement(segment.records, segment.ranges, segment.serving)
                for statement, each in _times(one, times[k]).items():
                    work[statement] = work.get(statement, StatementWork()) + each
            yield Entry(sum(net[k] for k in group) * scale, max(times[k] for k in group), work)

    def _inside(self, number: int) -> dict[int, Segment]:
        """Return the segments of a kernel that were run, by the numbers of their stamps."""
        first = len(self._kernels)
        return {
            first + k: segment
            for k, segment in enumerate(self.segments)
            if segment.kernel == number and self.divided and self.divided.calls[first + k]
        }

    def _division(self, number: int) -> Division | None:
        """Return the two times of a kernel that is divided, None where it is not."""
        inside = self._inside(number)
        if self.alone is None or self.divided is None or not inside:
            return None
        net = self.divided.net
        return Division(self.alone.net[number], net[number] + sum(net[k] for k in inside))

    # -- work --------------------------------------------------------------------------------------

    @cached_property
    def _counting(self) -> WorkAt:
        tiles = {
            s.buffer.name for s in self.made.loops.stored.values() if isinstance(s, TileStored)
        }
        outside = {s.buffer.name for s in self.made.loops.stored.values()} - tiles
        return WorkAt(self.sizes, outside, FLOAT_BYTES[self.dtype])

    def _work(self, number: int) -> Works:
        """Return the work of one launch by all its statements."""
        program, found = self.made.program, dict[str, StatementWork]()
        for kernel in self._kernels[number]:
            for s in kernel.statements:
                found.setdefault(owner(program.statement[s]), StatementWork())
            counted = self._counting.by_statement(kernel.records, kernel.ranges)
            for statement, one in counted.items():
                found[statement] = found.get(statement, StatementWork()) + one
        return found

    def _touched(self, kernels: Iterable[KernelRecords]) -> float:
        """Return the bytes of the arrays in memory that kernels touch: a launch reads or writes an
        element at most once, the caches see to that.
        """
        buffers = self.made.buffers
        outside = self._counting.outside
        return sum(
            bytes_of(buffers[name], self.sizes, self.dtype)
            for name in dict.fromkeys(n for kernel in kernels for n in kernel.buffers)
            if name in outside and name in buffers
        )


def _times(work: Works, calls: int) -> Works:
    return {statement: one * calls for statement, one in work.items()}


def _owned(work: Works, of_kernel: Works, readers: Collection[str]) -> Works:
    """Return work in which that of no statement is given to those that read what it made, to each
    in proportion to its work in the kernel.
    """
    common = work.get("")
    if common is None:
        return work
    own = {statement: one for statement, one in work.items() if statement}
    named = [statement for statement in of_kernel if statement in readers]
    others = named or [statement for statement in of_kernel if statement]
    steps = sum(of_kernel[statement].steps for statement in others)
    for statement in others:
        share = of_kernel[statement].steps / steps if steps else 1 / len(others)
        own[statement] = own.get(statement, StatementWork()) + common * share
    return own


def _groups(
    inside: Mapping[int, Segment], seconds: Sequence[float], calls: Sequence[int]
) -> list[list[int]]:
    """Join neighbours that are too short to be timed by themselves."""
    numbers = list(inside)
    groups = [numbers[:1]]
    for before, k in pairwise(numbers):
        short = all(seconds[n] < SHORT * calls[n] for n in (before, k))
        if short and inside[before].row == inside[k].row:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups
