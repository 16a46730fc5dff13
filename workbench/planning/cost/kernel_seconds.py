"""The cost of compiled kernels at given sizes: arithmetic, bytes, launches and seconds of each
statement.

What a kernel computes and what it moves overlap: of each part the longer counts. An element of a
block's own memory is as far away as that array is large; all others come to a kernel from as far as
all that is used around it is large, and are near when they are used again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.codegen.kernel_records import LANES
from workbench.codegen.kernels import Dealing, ProgramKernels
from workbench.lowering.loops.bytes import bytes_of
from workbench.planning.cost.kernel_steps import (
    KernelGuard,
    KernelLaunch,
    KernelLoop,
    KernelStep,
    RuntimeCall,
    StraightWork,
)
from workbench.planning.cost.points import PointCounts, summed, total
from workbench.planning.cost.seconds import Share
from workbench.planning.machine.constants import Machine

ALONE = ""
"""The statement that loops and launches are spent on."""


def kernel_cost(
    steps: Sequence[KernelStep],
    made: ProgramKernels,
    sizes: Mapping[str, int],
    dtype: str,
    machine: Machine,
    threads: int,
) -> dict[str, Share]:
    """Return the cost of each statement by the clock; under "" that of beginning a run, and
    of loops around kernels.
    """
    costing = _Costing(made, sizes, dtype, machine, threads)
    costing.add(ALONE, Share(machine.call_of("begin") * len(made.kernels)))
    costing.around(steps, PointCounts(sizes), costing.used(steps))
    return dict(costing.shares)


@dataclass
class _Work:
    """What a launch does for a statement: seconds of computing and of its block's own bytes, bytes
    of the other buffers.
    """

    statement: str
    computing: float
    moving: float
    bytes: Mapping[str, float]
    operations: float


@dataclass
class _Costing:
    made: ProgramKernels
    sizes: Mapping[str, int]
    dtype: str
    machine: Machine
    threads: int
    shares: dict[str, Share] = field(default_factory=dict)

    def add(self, statement: str, share: Share) -> None:
        """Add to the cost of a statement."""
        self.shares[statement] = self.shares.get(statement, Share()) + share

    # -- loops around kernels ----------------------------------------------------------------------

    def around(self, steps: Sequence[KernelStep], points: PointCounts, used: int) -> None:
        """Cost steps that stand in no kernel; there and in their neighbours `used` bytes are."""
        if not points.executions:
            return
        for step in steps:
            if isinstance(step, KernelLaunch):
                self._launch(step, points, used)
            elif isinstance(step, KernelGuard):
                self.around(step.steps, _held(points, step), used)
            elif isinstance(step, KernelLoop):
                inside = self.used(step.steps)
                for part in points.inside(step.variable, step.lower, step.upper, step.needed):
                    self.add(ALONE, Share(self.machine.row_of("loop") * part.executions))
                    again = part.executions > points.executions
                    self.around(step.steps, part, inside if again else used)

    def used(self, steps: Sequence[KernelStep]) -> int:
        """Return the bytes of all buffers that the kernels of some steps touch, blocks' own not
        among them.
        """
        return sum(map(self._bytes_of, self._touched(steps)))

    def _touched(self, steps: Sequence[KernelStep]) -> dict[str, None]:
        names: dict[str, None] = {}
        for step in steps:
            if isinstance(step, KernelLaunch):
                names |= dict.fromkeys(b for b in step.kernel.buffers if b not in step.own)
            elif isinstance(step, (KernelLoop, KernelGuard)):
                names |= self._touched(step.steps)
        return names

    def _bytes_of(self, name: str) -> int:
        buffer = self.made.buffers.get(name)
        return 0 if buffer is None else bytes_of(buffer, self.sizes, self.dtype)

    # -- kernels -----------------------------------------------------------------------------------

    def _launch(self, step: KernelLaunch, points: PointCounts, used: int) -> None:
        machine, count = self.machine, points.executions
        own = {name: e.evaluate(self.sizes) for name, e in step.own.items()}
        kernel = _Kernel(machine, self.dtype, own)
        kernel.go(step.steps, points)
        shared, waiting = self._shared(step.dealing, points)
        near, far = machine.seconds_per_byte(sum(own.values())), machine.seconds_per_byte(used)
        moved: dict[str, float] = {}
        for work in kernel.works:
            for name, n in work.bytes.items():
                moved[name] = moved.get(name, 0.0) + n
        rates = {}
        for name, n in moved.items():
            first = min(n, float(self._bytes_of(name) * count))
            rates[name] = (first * far + (n - first) * near) / n if n else near
        for work in kernel.works:
            fetching = sum(n * rates[name] for name, n in work.bytes.items())
            seconds = max(work.computing, work.moving + fetching) * shared
            held = int(sum(work.bytes.values()))
            self.add(work.statement, Share(seconds, int(work.operations), held))
        own_launch = machine.call_of("launch") + waiting
        self.add(step.statement, Share(own_launch * count, launches=count))

    def _shared(self, dealing: Dealing | None, points: PointCounts) -> tuple[float, float]:
        """Return the share of a kernel's time that it takes on all threads, and what a launch takes
        more for them.
        """
        if dealing is None or self.threads == 1:
            return 1.0, 0.0
        chunks = points.length(dealing.chunks)
        rounds = -(-chunks // self.threads)
        most = max(total(chunks, points.weight), 1)
        return total(rounds, points.weight) / most, self.machine.call_of("threads")


@dataclass
class _Kernel:
    """What a kernel does in all of its launches."""

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
                for part in points.inside(step.variable, step.lower, step.upper, step.needed):
                    turns = self.machine.row_of("loop") * part.executions
                    self.works.append(_Work(ALONE, turns, 0.0, {}, 0.0))
                    self.go(step.steps, part)

    def _straight(self, step: StraightWork, points: PointCounts) -> None:
        count = points.executions
        computing = sum(
            n * self.machine.element_of(kind, self.dtype) for kind, n in step.counts.items()
        )
        moved = {name: float(total(points.at(n), points.weight)) for name, n in step.bytes.items()}
        self._add(step.statement, computing * count, moved, float(step.flops * count))

    def _call(self, step: RuntimeCall, points: PointCounts) -> None:
        machine, count = self.machine, points.executions
        lengths = [points.length(e) for e in step.shape]
        call = machine.call_of if step.function == "external" else machine.row_of
        own = call(step.function) * count
        flops = 0.0
        if step.function == "product":
            rows, columns, times = lengths
            whole = -(-columns // LANES) * LANES if step.room else columns // LANES * LANES
            rest = columns - whole if not step.room else 0
            weight = points.weight
            flops = summed(2.0 * rows * columns * times, weight)
            computing = (
                summed(2.0 * rows * whole * times, weight) * machine.product[self.dtype]
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
        moved = {name: float(total(points.at(n), points.weight)) for name, n in step.bytes.items()}
        self._add(step.statement, own + computing, moved, flops)

    def _add(
        self, statement: str, computing: float, moved: Mapping[str, float], operations: float
    ) -> None:
        rate = self.machine.seconds_per_byte
        moving = sum(n * rate(self.own[name]) for name, n in moved.items() if name in self.own)
        outside = {name: n for name, n in moved.items() if name not in self.own}
        self.works.append(_Work(statement, computing, moving, outside, operations))


def _held(points: PointCounts, step: KernelGuard) -> PointCounts:
    """Return the points at which a condition holds."""
    return points if step.condition is None else points.where(step.condition)
