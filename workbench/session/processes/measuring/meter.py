"""The measuring process: one for each comparison.

It appends its measurements to the store itself, so that they are kept if the other end dies. When
it is told to stop, or the other end is gone, it keeps the finished rounds.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import WorkbenchError
from workbench.measure.compare import Comparison, SoFar, comparing
from workbench.measure.rounds.rounds import MeasureRequest
from workbench.measure.store import Store
from workbench.session.processes.pipe import Parent
from workbench.session.processes.sampler import Sampler
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant

EVERY = 0.5
"""Seconds between two reports of progress of one stage."""
ROUNDS_EVERY = 1.0
"""Least seconds between two reports of finished rounds: assembling them is work too."""
RESTS = 9
"""The pause after assembling a report, as a multiple of the time that it took."""


@dataclass(frozen=True)
class MeasureOrder:
    """The order of a measurement: what to measure, and where to write it down."""

    variants: tuple[Variant, ...]
    backend: str
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    repeats: int | None
    force: bool
    store: Store
    lengths: Mapping[str, Any] | None = None
    """Those of episodes by dim, as `wb.measure` takes them, or of a run at larger sizes."""


@dataclass(frozen=True)
class Stop:
    """The order to keep the finished rounds and end."""


@dataclass(frozen=True)
class MeterProgress:
    """A report of progress."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class Rounds:
    """The finished rounds so far, none yet where variants are only checked; without the courses of
    memory, which are long.
    """

    comparison: Comparison


@dataclass(frozen=True)
class Measured:
    """The comparison, or the finished rounds of it with the reason why it is not complete."""

    comparison: Comparison | None
    error: ErrorView | None


class Keeping:
    """The finished rounds, written down and told once. The measuring thread does so when it is
    done, another thread when the process is to end before.
    """

    def __init__(self, store: Store, parent: Parent) -> None:
        self._store, self._parent = store, parent
        self._lock = threading.Lock()
        self._over = False
        self.so_far: SoFar | None = None

    def stop(self) -> None:
        """End before all is done: without a round there is nothing to keep."""
        self.end(None, whole=False)

    def end(self, error: ErrorView | None, whole: bool = True) -> None:
        """Append the finished rounds to the store and send them. After an error before the first
        one, or where it was stopped before (not `whole`), nothing is kept.
        """
        with self._lock:
            if self._over:
                return
            self._over = True
            ended = error is None and whole
            if not ended and self.so_far is not None and not self.so_far.rounds:
                self.so_far = None
            comparison = None if self.so_far is None else self.so_far.comparison()
            try:
                self._store.append(() if comparison is None else comparison)
            except WorkbenchError as problem:
                error = error or error_view(problem)
            with contextlib.suppress(OSError):  # the other end is gone
                self._parent.send(Measured(comparison, error))


def measure(order: MeasureOrder, parent: Parent, keeping: Keeping) -> None:
    """Measure; report progress, and the result at the end."""
    told: dict[str, float] = {}
    least = ROUNDS_EVERY

    def is_due(what: str, pause: float) -> bool:
        now = time.monotonic()
        due = now - told.get(what, 0.0) > pause
        if due:
            told[what] = now
        return due

    def report(stage: str, done: int, total: int) -> None:
        if is_due(stage, EVERY):
            parent.send(MeterProgress(stage, done, total))

    error = None
    try:
        request = MeasureRequest(
            order.backend,
            order.sizes,
            order.seed,
            order.dtype,
            order.repeats,
            force=order.force,
            comparison=uuid.uuid4().hex[:12],
            lengths=order.lengths,
        )
        with Sampler(lambda place, _: parent.send(place)):
            for keeping.so_far in comparing(order.variants, request, report, request.backend):
                if not keeping.so_far.rounds or is_due("rounds", least):
                    started = time.monotonic()
                    parent.send(Rounds(short(keeping.so_far.comparison())))
                    # With many variants and samples it takes longer than the rounds between.
                    least = max(ROUNDS_EVERY, RESTS * (time.monotonic() - started))
    except Exception as problem:  # the caller, another process, must hear of any error
        error = error_view(problem)
    keeping.end(error)


def short(found: Comparison) -> Comparison:
    """Return the comparison without courses of memory."""
    rows = (replace(row, measurement=replace(row.measurement, timeline=())) for row in found)
    return Comparison(tuple(rows))


def main() -> None:
    """Carry out the one order."""
    parent = Parent()
    messages = iter(parent)
    order = next(messages)
    keeping = Keeping(order.store, parent)
    threading.Thread(target=_watch, args=(messages, keeping), daemon=True).start()
    measure(order, parent, keeping)


def _watch(messages: Iterator[object], keeping: Keeping) -> None:
    """End on `Stop`, or with the other end: at once, whatever is running."""
    next(messages, None)
    keeping.stop()
    os._exit(0)
