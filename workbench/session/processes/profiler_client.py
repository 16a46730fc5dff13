"""A client of the profiling process, which is started for one profile and ended with it."""

from __future__ import annotations

from typing import Protocol

from workbench.session.processes.meter import MeterProgress
from workbench.session.processes.order_client import OrderClient
from workbench.session.processes.profiler import Profiled, ProfileOrder
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.profiler"


class ProfileListener(Protocol):
    """A listener to a profile. It is called on threads of the profile."""

    def progress(self, made: MeterProgress) -> None:
        """Hear of progress."""

    def ended(self, result: Profiled) -> None:
        """Hear the result: once, after everything else."""


class ProfilerClient(OrderClient[Profiled]):
    """A profile of a variant in a process of its own."""

    def __init__(self, order: ProfileOrder, told: ProfileListener) -> None:
        self._told = told
        super().__init__(MODULE, order, told.ended)

    def cancel(self) -> None:
        """End the profile at once: nothing of it is kept."""
        self._child.stop()
        self._end(Profiled)

    def _hear(self, message: MeterProgress | Profiled) -> None:
        if isinstance(message, Profiled):
            self._end(lambda: message)
        else:
            self._told.progress(message)

    def _died(self, reason: str) -> None:
        self._end(lambda: Profiled(error=sentence(f"The process that profiled is gone: {reason}.")))
