"""The cost of compiled kernels at given sizes: arithmetic, bytes, launches and seconds of each
statement.

What a kernel computes and what it moves overlap: of each part the longer counts. An element of a
block's own memory is as far away as that array is large. Of all other arrays, what an iteration of
a loop uses again that the one before has used is as far as all that an iteration uses is large;
what it does not, comes from further outside. Arrays in host memory are behind a bus. Copies through
it that run beside kernels, and those of both ways beside each other, count as far as they take
longer than all of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from workbench.codegen.kernel_records import LANES, PRODUCTS
from workbench.codegen.kernels import KEPT, ProgramKernels
from workbench.identity import Same
from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import HOST
from workbench.planning.cost.kernels.kernel_steps import (
    HostCopy,
    KernelBody,
    KernelGuard,
    KernelLaunch,
    KernelLoop,
    KernelStep,
    RuntimeCall,
    StraightWork,
)
from workbench.planning.cost.kernels.side_by_side import Shared, SideBySide
from workbench.planning.cost.lengths import UNKNOWN, Lengths
from workbench.planning.cost.points import Amount, Number, PointCounts, summed, total
from workbench.planning.cost.seconds import Share, Spent
from workbench.planning.machine.constants import Machine

ALONE = ""
"""The statement that loops and launches are spent on."""


def kernel_cost(
    steps: Sequence[KernelStep],
    made: ProgramKernels,
    sizes: Mapping[str, int],
    dtype: str,
    machine: Machine,
    runs: SideBySide,
    lengths: Lengths = UNKNOWN,
) -> dict[str, Share]:
    """Return the cost of each statement by the clock; under "" that of beginning a run, and
    of loops around kernels.
    """
    costing = _Costing(made, sizes, dtype, machine, runs, lengths)
    beginning = machine.call_of("begin") + machine.call_of("begin kernel") * len(made.kernels)
    costing.add(ALONE, beginning)
    streams = costing.around(steps, PointCounts(sizes, lengths=lengths))
    costing.fetch(streams, 0, 1)
    for launched in costing.launched:
        costing.spend(launched)
    copying = max(costing.copying.values(), default=0.0)
    waiting = copying - sum(spent.seconds for spent in costing.spent.values())
    costing.add(ALONE, max(waiting, 0.0))
    return {name: spent.share for name, spent in costing.spent.items()}


@dataclass
class _Work:
    """Work of a launch for a statement: seconds of computing and of its block's own bytes, bytes
    of the other buffers.
    """

    statement: str
    computing: float
    moving: float
    bytes: Mapping[str, float]
    operations: float

    def times(self, count: int) -> _Work:
        """Return that of so many launches."""
        moved = {name: n * count for name, n in self.bytes.items()}
        return _Work(
            self.statement,
            self.computing * count,
            self.moving * count,
            moved,
            self.operations * count,
        )


@dataclass
class _Stream:
    """Bytes that all launches of a kernel move of a buffer. `open` are those of which it is not
    known yet from how far they come, `seconds` what the others take.
    """

    buffer: str
    bytes: float
    open: float
    seconds: float = 0.0


@dataclass
class _Launched:
    """All launches of a kernel."""

    step: KernelLaunch
    count: int
    works: Sequence[_Work]
    streams: Mapping[str, _Stream]
    shared: Shared


@dataclass
class _Costing:
    made: ProgramKernels
    sizes: Mapping[str, int]
    dtype: str
    machine: Machine
    runs: SideBySide
    lengths: Lengths
    spent: dict[str, Spent] = field(default_factory=dict)
    launched: list[_Launched] = field(default_factory=list)
    copying: dict[str, float] = field(default_factory=dict)
    """The seconds of copies by their function: those of each way run one after the other."""
    known_bytes: dict[str, int] = field(default_factory=dict)

    @cached_property
    def named_sizes(self) -> tuple[tuple[str, int], ...]:
        """The sizes as a key."""
        return tuple(self.sizes.items())

    def add(
        self, statement: str, seconds: float, operations: int = 0, moved: int = 0, launches: int = 0
    ) -> None:
        """Add to the cost of a statement."""
        spent = self.spent.get(statement)
        if spent is None:
            spent = self.spent[statement] = Spent()
        spent.add(seconds, operations, moved, launches)

    # -- loops around kernels ----------------------------------------------------------------------

    def around(self, steps: Sequence[KernelStep], points: PointCounts) -> list[_Stream]:
        """Count steps that stand in no kernel; return what they move, as far as that does not come
        from near.
        """
        streams: list[_Stream] = []
        if not points.executions:
            return streams
        for step in steps:
            if isinstance(step, KernelLaunch):
                streams += self._launch(step, points)
            elif isinstance(step, HostCopy):
                self._copy(step, points)
            elif isinstance(step, KernelGuard):
                streams += self.around(step.steps, _held(points, step))
            elif isinstance(step, KernelLoop):
                turns = points.inside(step.variable, step.lower, step.upper, step.needed)
                inside = self.around(step.steps, turns)
                self.add(ALONE, self.machine.row_of("loop") * turns.executions)
                self.fetch(inside, points.executions, turns.executions)
                streams += inside
        return streams

    def _copy(self, step: HostCopy, points: PointCounts) -> None:
        moved = float(total(points.at(step.bytes), points.weight))
        seconds = moved * self.machine.bus
        self.copying[step.function] = self.copying.get(step.function, 0.0) + seconds
        self.add(step.statement, 0.0 if step.beside else seconds, 0, int(moved))

    def fetch(self, streams: Sequence[_Stream], loops: int, turns: int) -> None:
        """Spend the seconds of what the turns of a loop use again, of `turns` in so many `loops`;
        where these are none, of all that is open.
        """
        by_buffer: dict[str, list[_Stream]] = {}
        for stream in streams:
            by_buffer.setdefault(stream.buffer, []).append(stream)
        opened = {name: sum(stream.open for stream in those) for name, those in by_buffer.items()}
        used = sum(min(self.bytes_of(name), n / max(turns, 1)) for name, n in opened.items())
        rate = self.machine.seconds_per_byte(used)
        for name, those in by_buffer.items():
            whole = float(self.bytes_of(name) * loops)
            kept = min(1.0, whole / opened[name]) if opened[name] else 1.0
            away = self.is_away(name)
            kept = 0.0 if away else kept
            for stream in those:
                seconds = self.machine.bus if away else rate
                stream.seconds += stream.open * (1.0 - kept) * seconds
                stream.open *= kept

    def is_away(self, name: str) -> bool:
        """Tell whether a buffer is behind the bus, where nothing is kept nearer."""
        known = self.made.buffers
        return self.machine.has_device_memory and name in known and known[name].space == HOST

    def bytes_of(self, name: str) -> int:
        """Return the bytes of a buffer."""
        if name not in self.known_bytes:
            buffer = self.made.buffers.get(name)
            known = 0 if buffer is None else bytes_of(buffer, self.sizes, self.dtype)
            self.known_bytes[name] = known
        return self.known_bytes[name]

    # -- kernels -----------------------------------------------------------------------------------

    def _launch(self, step: KernelLaunch, points: PointCounts) -> list[_Stream]:
        count = points.executions
        work = self._work(step, points)
        streams = {}
        for name, n in work.moved.items():
            once = min(n, float(self.bytes_of(name) * count))
            streams[name] = _Stream(name, n, once, (n - once) * work.near)
        shared = self.runs.shared(step, points)
        self.launched.append(_Launched(step, count, work.works, streams, shared))
        return list(streams.values())

    def _work(self, step: KernelLaunch, points: PointCounts) -> _KernelWork:
        """Count the work of a kernel in all of its launches: where they are alike, as often as
        that of one.
        """
        if points.values or not isinstance(points.weight, int):
            return _kernel_work(step.body, points, self.dtype, self.machine)
        alike = Same(step.body, self.machine)
        return _work_alike(alike, self.named_sizes, self.dtype, self.lengths, points.weight)

    def spend(self, launched: _Launched) -> None:
        """Add the cost of all launches of a kernel to its statements."""
        rates = {
            s.buffer: s.seconds / s.bytes if s.bytes else 0.0 for s in launched.streams.values()
        }
        for work in launched.works:
            fetching = sum(n * rates[name] for name, n in work.bytes.items())
            seconds = max(work.computing, work.moving + fetching) * launched.shared.share
            moved = int(sum(work.bytes.values()))
            self.add(work.statement, seconds, int(work.operations), moved)
        shared, count = launched.shared, launched.count
        self.add(launched.step.statement, shared.seconds * count, launches=shared.launches * count)


@dataclass(frozen=True)
class _KernelWork:
    """Work of a kernel, the bytes that it moves of each buffer, and the seconds of one that is as
    near as the memory of its block.
    """

    works: Sequence[_Work]
    moved: Mapping[str, float]
    near: float

    def times(self, count: int) -> _KernelWork:
        """Return that of so many launches."""
        works = [work.times(count) for work in self.works]
        return _KernelWork(works, {name: n * count for name, n in self.moved.items()}, self.near)


@lru_cache(maxsize=KEPT)
def _work_alike(
    of: Same, sizes: tuple[tuple[str, int], ...], dtype: str, lengths: Lengths, count: int
) -> _KernelWork:
    """Count the work of so many launches of a kernel that are alike, on a machine."""
    if lengths.known:  # of one launch they are no whole numbers
        body, machine = of.objects
        points = PointCounts(dict(sizes), count, lengths=lengths)
        return _kernel_work(body, points, dtype, machine)
    return _work_of_one(of, sizes, dtype).times(count)


@lru_cache(maxsize=KEPT)
def _work_of_one(of: Same, sizes: tuple[tuple[str, int], ...], dtype: str) -> _KernelWork:
    """Count the work of one launch of a kernel on a machine."""
    body, machine = of.objects
    return _kernel_work(body, PointCounts(dict(sizes)), dtype, machine)


def _kernel_work(
    body: KernelBody, points: PointCounts, dtype: str, machine: Machine
) -> _KernelWork:
    """Count the work of a kernel that is launched at these points."""
    own = {name: e.evaluate(points.sizes) for name, e in body.own.items()}
    kernel = _Kernel(machine, dtype, own)
    kernel.go(body.steps, points)
    moved: dict[str, float] = {}
    for work in kernel.works:
        for name, n in work.bytes.items():
            moved[name] = moved.get(name, 0.0) + n
    return _KernelWork(kernel.works, moved, machine.seconds_per_byte(sum(own.values())))


@dataclass
class _Kernel:
    """Work of a kernel in all of its launches."""

    machine: Machine
    dtype: str
    own: Mapping[str, int]
    works: list[_Work] = field(default_factory=list)

    def go(self, steps: Sequence[KernelStep], points: PointCounts) -> None:
        """Count steps that run at these points."""
        if not points.executions:
            return
        for step in steps:
            if isinstance(step, StraightWork):
                self._straight(step, points)
            elif isinstance(step, RuntimeCall):
                self._call(step, points)
            elif isinstance(step, KernelGuard):
                self.go(step.steps, _held(points, step))
            elif isinstance(step, KernelLoop):
                turns = points.inside(step.variable, step.lower, step.upper, step.needed)
                looping = self.machine.row_of("loop") * turns.executions
                self.works.append(_Work(ALONE, looping, 0.0, {}, 0.0))
                self.go(step.steps, turns)

    def _straight(self, step: StraightWork, points: PointCounts) -> None:
        count = points.executions
        rate = self.machine.element_of
        working = sum(n * rate(kind, self.dtype) for kind, n in step.counts.items())
        computing = max(working, step.chain * rate("chain", self.dtype))
        moved = {name: float(total(points.at(n), points.weight)) for name, n in step.bytes.items()}
        self._add(step.statement, computing * count, moved, float(step.flops * count))

    def _call(self, step: RuntimeCall, points: PointCounts) -> None:
        machine, count = self.machine, points.executions
        lengths = [points.length(e) for e in step.shape]
        call = machine.call_of if step.function == "external" else machine.row_of
        own = call(step.function) * count
        if step.function == "product":
            rows, columns, times = lengths
            whole = -(-columns // LANES) * LANES if step.room else columns // LANES * LANES
            rest = columns - whole if not step.room else 0
            weight = points.weight
            flops = summed(2.0 * rows * columns * times, weight)
            computing = (
                summed(2.0 * rows * self._wide(whole) * times, weight) * machine.product[self.dtype]
                + summed(1.0 * rows * whole, weight) * machine.panel[self.dtype]
                + summed(1.0 * rows * rest * times, weight)
                * machine.element_of("lone sum", self.dtype)
            )
        else:
            elements: float = 0.0
            if lengths:
                product = lengths[0]
                for length in lengths[1:]:
                    product = product * length
                elements = summed(product, points.weight)
            computing = elements * machine.element_of(step.function, self.dtype)
            flops = 2 * elements if step.function in PRODUCTS else 0.0
        moved = {name: float(total(points.at(n), points.weight)) for name, n in step.bytes.items()}
        self._add(step.statement, own + computing, moved, flops)

    def _wide(self, columns: Number) -> Amount:
        """Return how many columns of the widest group take as long."""
        wide: Amount = 0.0
        for width, longer in self.machine.widths:
            wide = wide + columns // width * width * longer
            columns = columns % width
        return wide

    def _add(
        self, statement: str, computing: float, moved: Mapping[str, float], operations: float
    ) -> None:
        rate = self.machine.seconds_per_byte
        moving = sum(n * rate(self.own[name]) for name, n in moved.items() if name in self.own)
        outside = {name: n for name, n in moved.items() if name not in self.own}
        self.works.append(_Work(statement, computing, moving, outside, operations))


def _held(points: PointCounts, step: KernelGuard) -> PointCounts:
    """Return the points at which a condition holds."""
    condition = step.condition
    if isinstance(condition, OpenStep):
        return points.during(condition)
    return points if condition is None else points.where(condition)
