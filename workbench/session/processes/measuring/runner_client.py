"""A client of the running process, which is started for one run and ended with it."""

from __future__ import annotations

import threading
from typing import Protocol

from workbench.session.processes.measuring.order_client import OrderClient
from workbench.session.processes.measuring.runner import Ran, RunOrder, RunSoFar, StopRun
from workbench.session.processes.sampler import RunPosition
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.measuring.runner"
GRACE = 0.4
"""Seconds after which something else may begin, though a stopped process still gives its result."""
PATIENCE = 5.0
"""Seconds that it has to give it."""
NOT_IN_TIME = (
    "The run did not stop in time and was ended: its curves are kept as far as they were told, its "
    "arrays are not."
)


class RunListener(Protocol):
    """A listener to a run. It is called on threads of the run."""

    def so_far(self, made: RunSoFar) -> None:
        """Hear how far it is."""

    def seen(self, place: RunPosition) -> None:
        """Hear the position of the running program."""

    def let_go(self) -> None:
        """Hear that nobody waits for it any longer: its result may still come."""

    def ended(self, result: Ran) -> None:
        """Hear the result: once, after everything else."""


class RunnerClient(OrderClient[Ran]):
    """A run of a variant in a process of its own."""

    def __init__(self, order: RunOrder, told: RunListener) -> None:
        self._told = told
        self._begun = False
        self.stopping = False
        """True from when it is told to stop: then its result comes soon."""
        super().__init__(MODULE, order, told.ended)

    def cancel(self) -> None:
        """End the run; finished iterations are kept."""
        self.stopping = True
        self._child.send(StopRun())
        for seconds, then in ((GRACE, self._let_go), (PATIENCE, self._stop)):
            late = threading.Timer(seconds, then)
            late.daemon = True
            late.start()

    def _hear(self, message: RunSoFar | RunPosition | Ran) -> None:
        match message:
            case RunSoFar():
                self._begun = True
                self._told.so_far(message)
            case Ran():
                self._end(lambda: message)
            case _:
                self._told.seen(message)

    def _let_go(self) -> None:
        if not self._over.is_set():
            self._told.let_go()

    def _stop(self) -> None:
        """End the process at once, if it is still busy with work that cannot be interrupted."""
        if not self._over.is_set():
            self._child.stop()
            self._end(self._unfinished)

    def _died(self, reason: str) -> None:
        if self.stopping:  # it may be told so before there is a run that could end with a result
            self._end(self._unfinished)
        else:
            self._end(lambda: Ran(error=sentence(f"The process that ran it is gone: {reason}.")))

    def _unfinished(self) -> Ran:
        return Ran(error=sentence(NOT_IN_TIME) if self._begun else None)
