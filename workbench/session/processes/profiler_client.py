"""A client of the profiling process, which is started for one profile and ended with it."""

from __future__ import annotations

import threading
from typing import Protocol

from workbench.errors import WorkbenchError
from workbench.session.processes.meter import MeterProgress
from workbench.session.processes.pipe import Child
from workbench.session.processes.profiler import Profiled, ProfileOrder
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.profiler"


class ProfileListener(Protocol):
    """A listener to a profile. It is called on threads of the profile."""

    def progress(self, made: MeterProgress) -> None:
        """Hear of progress."""

    def ended(self, result: Profiled) -> None:
        """Hear the result: once, after everything else."""


class ProfilerClient:
    """A profile of a variant in a process of its own."""

    def __init__(self, order: ProfileOrder, told: ProfileListener) -> None:
        self._told = told
        self._lock = threading.Lock()
        self._result: Profiled | None = None
        self._over = threading.Event()
        self._child = Child(MODULE, self._hear, self._died)
        try:
            self._child.send(order)
        except WorkbenchError:
            self._child.stop()
            raise

    def cancel(self) -> None:
        """End the profile at once: nothing of it is kept."""
        self._child.stop()
        self._end(Profiled())

    def wait(self) -> Profiled:
        """Wait until the profile is over, and return the result."""
        self._over.wait()
        assert self._result is not None
        return self._result

    def _hear(self, message: MeterProgress | Profiled) -> None:
        if isinstance(message, Profiled):
            self._end(message)
        else:
            self._told.progress(message)

    def _died(self, reason: str) -> None:
        self._end(Profiled(error=sentence(f"The process that profiled is gone: {reason}.")))

    def _end(self, result: Profiled) -> None:
        """Take the first result: a cancellation, the process's own, or its death."""
        with self._lock:
            if self._result is not None:
                return
            self._result = result
        self._told.ended(result)
        self._over.set()
