"""The progress of a measurement in its workbench: its position and its finished rounds.

Called on the threads of `MeterClient`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.measure.compare import Comparison
from workbench.session.processes.measuring.meter import Measured
from workbench.session.processes.sampler import RunPosition
from workbench.session.protocol.measurements import measurement_views, together
from workbench.session.protocol.state import ProgressView
from workbench.session.state.progress import Progress

if TYPE_CHECKING:
    from workbench.session.state.session import Session
    from workbench.session.state.values import Values


class MeasurementProgress(Progress):
    """A listener that shows a workbench the measurement of the variants of these keys."""

    def __init__(
        self, session: Session, keys: tuple[str, ...], ended: Callable[[Measured], None]
    ) -> None:
        super().__init__(session, ProgressView("measurement", "starting", 0, 1, keys, ""))
        self._keys, self._ended = keys, ended
        self._place: RunPosition | None = None

    def rounds(self, found: Comparison) -> None:
        """Show the finished rounds."""

        def changed(values: Values) -> Values:
            if values.measuring is None:
                return values
            view = replace(values.measuring, group=found.measurements[0].comparison)
            return replace(self._with(values, found), measuring=view)

        self.session.change(changed)

    def seen(self, place: RunPosition) -> None:
        """Show where it is."""
        self._place = place
        self.session.show_running(place)

    def ended(self, result: Measured) -> None:
        """Show the result."""
        self.session.under_way.over()
        place = self._place
        if place is not None and not place.over:  # the process is gone before it could say so
            self.session.show_running(replace(place, over=True))
        self.session.work.rest(False)
        found = result.comparison
        self.session.change(lambda v: replace(self._ending(v, found), measuring=None))
        self._ended(result)

    def _ending(self, values: Values, found: Comparison | None) -> Values:
        """Return the values with the result; without one, rows of variants that were only checked
        go again.
        """
        group = "" if values.measuring is None else values.measuring.group
        if found is None and group:
            kept = tuple(one for one in values.measurements if one.group != group)
            return replace(values, measurements=kept)
        return self._with(values, found)

    def _with(self, values: Values, found: Comparison | None) -> Values:
        """Return the values with the comparison, unless the program was traced again meanwhile."""
        if found is None or self._keys[0] not in values.tree.variants:
            return values
        views = measurement_views(found.measurements)
        return replace(values, measurements=together(values.measurements, views))
