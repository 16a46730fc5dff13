"""A client of the measuring process, which is started for one measurement and ended with it."""

from __future__ import annotations

import threading
from typing import Protocol

from workbench.errors import WorkbenchError
from workbench.measure.compare import Comparison
from workbench.session.processes.measuring.meter import (
    Measured,
    MeasureOrder,
    MeterProgress,
    Rounds,
    Stop,
)
from workbench.session.processes.measuring.order_client import OrderClient
from workbench.session.processes.sampler import RunPosition
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.measuring.meter"
GRACE = 1.0
"""Seconds that a stopped process has to write down the finished rounds."""


class MeasurementListener(Protocol):
    """A listener to a measurement. It is called on threads of the measurement."""

    def progress(self, made: MeterProgress) -> None:
        """Hear of progress."""

    def rounds(self, found: Comparison) -> None:
        """Hear of all rounds finished so far."""

    def seen(self, place: RunPosition) -> None:
        """Hear the position of the running program."""

    def ended(self, result: Measured) -> None:
        """Hear the result: once, after everything else."""


class MeterClient(OrderClient[Measured]):
    """A measurement of variants in a process of its own."""

    def __init__(self, order: MeasureOrder, told: MeasurementListener) -> None:
        self._order, self._told = order, told
        self._finished: Comparison | None = None
        super().__init__(MODULE, order, told.ended)

    def cancel(self) -> None:
        """End the measurement; the finished rounds are kept."""
        self._child.send(Stop())
        late = threading.Timer(GRACE, self._stop)
        late.daemon = True
        late.start()

    def _hear(self, message: MeterProgress | RunPosition | Rounds | Measured) -> None:
        match message:
            case MeterProgress():
                self._told.progress(message)
            case Rounds():
                if any(one.samples for one in message.comparison.measurements):
                    self._finished = message.comparison  # else they are checked, and no more
                self._told.rounds(message.comparison)
            case Measured():
                self._end(lambda: message)
            case _:
                self._told.seen(message)

    def _stop(self) -> None:
        """End the process at once, if it is still busy with work that cannot be interrupted."""
        if not self._over.is_set():
            self._child.stop()
            self._end(lambda: self._left(""))

    def _died(self, reason: str) -> None:
        self._end(lambda: self._left(f"The process that measured is gone: {reason}."))

    def _left(self, reason: str) -> Measured:
        """Return what was heard of a dead process, and append it to the store, unless that process
        did so and could not tell.
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
