"""A client of the profiling process, which is started for one profile and ended with it."""

from __future__ import annotations

from workbench.session.processes.measuring.order_client import Listener, ResultClient
from workbench.session.processes.measuring.profiler import Profiled, ProfileOrder
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.measuring.profiler"


class ProfilerClient(ResultClient[Profiled]):
    """A profile of a variant in a process of its own."""

    none = Profiled()

    def __init__(self, order: ProfileOrder, told: Listener[Profiled]) -> None:
        super().__init__(MODULE, order, told)

    def _gone(self, reason: str) -> Profiled:
        return Profiled(error=sentence(f"The process that profiled is gone: {reason}."))
