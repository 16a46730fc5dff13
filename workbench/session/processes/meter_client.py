"""A measurement in a process of its own, which is started for it and ended with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from workbench.errors import WorkbenchError
from workbench.measure.compare import Comparison
from workbench.session.processes.meter import (
    STOPPED,
    Measured,
    MeasureOrder,
    MeterProgress,
    Rounds,
    Stop,
)
from workbench.session.processes.pipe import Child
from workbench.session.processes.sampler import RunPosition
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.meter"
GRACE = 1.0
"""Seconds that it has to write down what is finished when it is stopped."""


class MeasurementListener(Protocol):
    """What hears of a measurement, on threads of its own."""

    def progress(self, made: MeterProgress) -> None:
        """How far it is."""

    def rounds(self, found: Comparison) -> None:
        """All that is finished so far."""

    def seen(self, place: RunPosition) -> None:
        """Where it is."""

    def ended(self, result: Measured) -> None:
        """What came out: once, the last that is told."""


class MeterClient:
    """Variants being measured."""

    def __init__(self, order: MeasureOrder, told: MeasurementListener) -> None:
        self._order, self._told = order, told
        self._lock = threading.Lock()
        self._finished: Comparison | None = None
        self._result: Measured | None = None
        self._over = threading.Event()
        self._child = Child(MODULE, self._hear, self._died)
        try:
            self._child.send(order)
        except WorkbenchError:
            self._child.stop()
            raise

    def cancel(self) -> None:
        """End it; the rounds that are finished are kept."""
        self._child.send(Stop())
        late = threading.Timer(GRACE, self._stop)
        late.daemon = True
        late.start()

    def wait(self) -> Measured:
        """What came out, when it is over."""
        self._over.wait()
        assert self._result is not None
        return self._result

    def _hear(self, message: MeterProgress | RunPosition | Rounds | Measured) -> None:
        match message:
            case MeterProgress():
                self._told.progress(message)
            case Rounds():
                self._finished = message.comparison
                self._told.rounds(message.comparison)
            case Measured():
                self._end(lambda: message)
            case _:
                self._told.seen(message)

    def _stop(self) -> None:
        """End it at once, where it was busy with what cannot be interrupted."""
        if not self._over.is_set():
            self._child.stop()
            self._end(lambda: self._left("" if self._finished else STOPPED))

    def _died(self, reason: str) -> None:
        self._end(lambda: self._left(f"The process that measured is gone: {reason}."))

    def _left(self, reason: str) -> Measured:
        """What was heard of a process that could not write it down: it is kept from here, unless
        that process wrote it and could not say so.
        """
        heard = self._finished
        if heard is not None:
            own = heard.measurements[0].comparison
            try:
                if all(m.comparison != own for m in self._order.store.read()):
                    self._order.store.append(heard)
            except WorkbenchError as problem:
                reason = f"{reason} {problem.message}".strip()
        return Measured(heard, sentence(reason) if reason else None)

    def _end(self, came: Callable[[], Measured]) -> None:
        """What came out, from whoever says so first: of a cancellation, a second one, the process
        itself and its death.
        """
        with self._lock:
            if self._result is not None:
                return
            result = self._result = came()
        self._told.ended(result)
        self._over.set()
