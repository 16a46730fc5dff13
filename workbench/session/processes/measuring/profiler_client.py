"""A client of the profiling process, which is started for one profile and ended with it."""

from __future__ import annotations

from typing import Any

from workbench.measure.profile import Profile
from workbench.session.processes.measuring.order_client import Listener, ResultClient
from workbench.session.processes.measuring.profiler import (
    Profiled,
    ProfileOrder,
    ProfileSoFar,
)
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.measuring.profiler"


class ProfilerClient(ResultClient[Profiled]):
    """A profile of a variant in a process of its own. Where that ends early, the rounds that it
    told of are kept.
    """

    none = Profiled()

    def __init__(self, order: ProfileOrder, told: Listener[Profiled]) -> None:
        self._finished: Profile | None = None
        super().__init__(MODULE, order, told)

    def cancel(self) -> None:
        """End it at once; the rounds that it told of are kept."""
        self._child.stop()
        self._end(lambda: Profiled(self._finished))

    def _hear(self, message: Any) -> None:
        if isinstance(message, ProfileSoFar):
            self._finished = message.profile
        else:
            super()._hear(message)

    def _gone(self, reason: str) -> Profiled:
        said = sentence(f"The process that profiled is gone: {reason}.")
        return Profiled(self._finished, said)
