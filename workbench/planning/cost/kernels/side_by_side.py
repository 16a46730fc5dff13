"""Runners of kernels side by side: the threads of a processor, or the multiprocessors of a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.kernel_parts import SIDE_BY_SIDE_BLOCKS
from workbench.planning.cost.kernels.kernel_steps import KernelLaunch
from workbench.planning.cost.points import PointCounts, total
from workbench.planning.machine.constants import Machine

BUSY_THREADS = 512
"""The threads that keep a multiprocessor busy: four warps for each of its four schedulers."""


@dataclass(frozen=True)
class Shared:
    """A kernel that is shared: `share` times its seconds on all that there is, or on one thread,
    and `seconds` more for each of its launches, of which some are one with others.
    """

    share: float
    seconds: float
    launches: int


class SideBySide(Protocol):
    """A runner of kernels."""

    def shared(self, step: KernelLaunch, points: PointCounts) -> Shared:
        """Return how a kernel is shared at these points."""


@dataclass(frozen=True)
class OnThreads:
    """Threads of a processor, to which blocks are dealt. Constants are those of one."""

    machine: Machine
    threads: int

    def shared(self, step: KernelLaunch, points: PointCounts) -> Shared:
        """Return how a kernel is shared at these points."""
        launch = self.machine.call_of("launch")
        if step.dealing is None or self.threads == 1:
            return Shared(1.0, launch, 1)
        chunks = points.length(step.dealing.chunks)
        rounds = -(-chunks // self.threads)
        most = max(total(chunks, points.weight), 1)
        share = total(rounds, points.weight) / most
        return Shared(share, launch + self.machine.call_of("threads"), 1)


@dataclass(frozen=True)
class KernelPlace:
    """A kernel in the functions that run it, none where one block runs it in front of another
    kernel. They are launched for it, or else for another one beside it.
    """

    functions: tuple[Function, ...] = ()
    launches: bool = True


@dataclass(frozen=True)
class OnMultiprocessors:
    """Multiprocessors of a GPU. Constants are those of all together; kernels are `placed` by their
    identity.
    """

    machine: Machine
    placed: Mapping[int, KernelPlace]

    def shared(self, step: KernelLaunch, points: PointCounts) -> Shared:
        """Return how a kernel is shared at these points: by the blocks of its function; where it
        has several, each has as much of its work as it has of their blocks.
        """
        placed = self.placed[id(step.kernel)]
        if not placed.functions:
            return Shared(float(self.machine.multiprocessors), 0.0, 0)
        blocks = [self._blocks(function, points) for function in placed.functions]
        each = list(map(self._alone, placed.functions, blocks, [points] * len(blocks)))
        share = sum(n * one.share for n, one in zip(blocks, each, strict=True)) / sum(blocks)
        if not placed.launches:
            return Shared(share, 0.0, 0)
        return Shared(share, sum(one.seconds for one in each), len(each))

    def _blocks(self, function: Function, points: PointCounts) -> float:
        count = max(points.executions, 1)
        return max(total(points.length(function.blocks), points.weight) / count, 1.0)

    def _alone(self, function: Function, blocks: float, points: PointCounts) -> Shared:
        machine, count = self.machine, max(points.executions, 1)
        held = max(machine.shared_bytes // max(function.shared_bytes, 1), 1)
        if function.by_pieces:
            held = min(held, SIDE_BY_SIDE_BLOCKS)
        each = min(blocks / machine.multiprocessors, float(held))
        busy = min(1.0, max(each, 1.0) * function.threads / BUSY_THREADS)
        used = min(1.0, blocks / machine.multiprocessors) * busy
        waves = -(-blocks // (machine.multiprocessors * held))
        passed = sum(
            total(points.length(barriers), points.weight) * points.share(steps)
            for steps, barriers in function.barriers
        )
        waiting = waves * (passed / count) * machine.call_of("barrier")
        return Shared(1.0 / used, machine.call_of("launch") + waiting, 1)
