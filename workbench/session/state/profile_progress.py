"""The progress of a profile in its workbench, and its result: the profile, or why there is none.

Called on the threads of `ProfilerClient`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.session.processes.measuring.meter import MeterProgress
from workbench.session.processes.measuring.profiler import Profiled, ProfileOrder
from workbench.session.protocol.profiles import profile_view
from workbench.session.protocol.state import ProgressView
from workbench.session.state.progress import Progress
from workbench.session.state.run_progress import not_made

if TYPE_CHECKING:
    from workbench.session.state.session import Session
    from workbench.session.state.values import Values


class ProfileProgress(Progress):
    """A listener that shows a workbench the profile that was ordered."""

    def __init__(
        self, session: Session, order: ProfileOrder, ended: Callable[[Profiled], None]
    ) -> None:
        keys = (order.variant.key,)
        super().__init__(session, ProgressView("profile", "starting", 0, 1, keys, ""))
        self._order, self._ended = order, ended

    def begin(self) -> None:
        """Begin; why an earlier one failed is no longer said."""
        self.session.change(lambda values: replace(values, unprofiled=None))
        super().begin()

    def report(self, stage: str, done: int, total: int) -> None:
        """Show how far it is, of a profile that is made here."""
        self.progress(MeterProgress(stage, done, total))

    def ended(self, result: Profiled) -> None:
        """Show the result."""
        self.session.under_way.over()
        self.session.work.rest(False)
        self.session.change(lambda values: replace(self._with(values, result), measuring=None))
        self._ended(result)

    def _with(self, values: Values, result: Profiled) -> Values:
        """Return the values with the result, unless the program was traced again meanwhile."""
        order, made = self._order, result.profile
        if order.variant.key not in values.tree.variants:
            return values
        if made is not None:
            values = values.with_profile(profile_view(made))
        if result.error is None:  # it was stopped
            return values
        return replace(values, unprofiled=not_made(order, result.error, result.too_long))
