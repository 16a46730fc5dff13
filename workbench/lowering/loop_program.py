"""The loop program as a value: made by lowering, read by backends and planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench.lowering.instances.guards import Guarded, OpenSteps, open_steps
from workbench.lowering.loops import bytes as memory
from workbench.lowering.loops.records import (
    DEVICE,
    HOST,
    Allocate,
    For,
    Record,
    ResultBuffer,
    walk,
)
from workbench.lowering.memory.prefetching import Late
from workbench.lowering.values.stored import Stored


@dataclass(frozen=True)
class LoopProgram:
    """Loops of array operations, or of launches of kernels, with explicit memory."""

    name: str
    sizes: tuple[str, ...]
    body: tuple[Record, ...]
    results: tuple[ResultBuffer, ...]
    stored: Mapping[str, Stored]
    aliases: Mapping[str, str]
    late: tuple[Late, ...] = ()
    """The slices that were to come early, and do not."""
    own: frozenset[str] = frozenset()
    """The buffers of which a block of a kernel has its own."""
    guarded: Mapping[str, Sequence[Guarded]] = field(default_factory=dict)
    """The statements whose array operations may be left out where no episode is open, and those
    that say where one is.
    """

    @cached_property
    def main_loop(self) -> For | None:
        """The outermost loop with the most work: its iterations count as progress. A loop whose
        blocks are apart is none, since it is all of a kernel.
        """
        outermost = [r for r in self.body if isinstance(r, For) and not r.apart]
        return max(outermost, key=lambda loop: sum(1 for _ in walk(loop.body)), default=None)

    def open_steps(self, loop: For) -> OpenSteps | None:
        """Return the part of a loop in which episodes are open; None for one that runs as a whole.
        Copies from host memory serve several statements: beside them none is left out.
        """
        return None if self._has_copies or not self.guarded else open_steps(self.guarded, loop)

    @cached_property
    def _has_copies(self) -> bool:
        records = (r for r in walk(self.body) if isinstance(r, Allocate))
        return any(record.buffer.space == HOST for record in records)

    @property
    def parts(self) -> tuple[Sequence[Record], For | None, Sequence[Record]]:
        """The records before the main loop, that loop, and the records behind."""
        main = self.main_loop
        if main is None:
            return self.body, None, ()
        at = next(k for k, r in enumerate(self.body) if r is main)
        return self.body[:at], main, self.body[at + 1 :]

    def peak(self, sizes: Mapping[str, int], dtype: str, space: str = DEVICE) -> int:
        """Return the high-water mark in bytes of a memory space at the given sizes."""
        return memory.peak(self.body, sizes, dtype, space)

    def timeline(
        self, sizes: Mapping[str, int], dtype: str, space: str = DEVICE
    ) -> list[memory.Point]:
        """Return a space's bytes and live arrays behind each allocation and free, in text order."""
        return memory.timeline(self.body, sizes, dtype, space)

    def __str__(self) -> str:
        from workbench.lowering.text import text

        return text(self)
