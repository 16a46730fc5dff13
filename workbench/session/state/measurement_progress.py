"""The progress of a measurement in its workbench: its stage, its position, its finished rounds.

Called on the threads of `MeterClient`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.measure.compare import Comparison
from workbench.session.processes.meter import Measured, MeterProgress
from workbench.session.processes.sampler import RunPosition
from workbench.session.protocol.measurements import measurement_views, together
from workbench.session.protocol.state import ProgressView

if TYPE_CHECKING:
    from workbench.session.state.session import Session, Values


class MeasurementProgress:
    """A listener that shows a workbench the measurement of the variants of these keys."""

    def __init__(
        self, session: Session, keys: tuple[str, ...], ended: Callable[[Measured], None]
    ) -> None:
        self._session, self._keys, self._ended = session, keys, ended
        self._place: RunPosition | None = None

    def begin(self) -> None:
        """Begin; work that nobody waits for rests meanwhile."""
        self._session.work.rest(True)
        starting = ProgressView("starting", 0, 1, self._keys, "")
        self._session.change(lambda values: replace(values, measuring=starting))

    def progress(self, made: MeterProgress) -> None:
        """Show how far it is."""

        def changed(values: Values) -> Values:
            if values.measuring is None:  # it was ended meanwhile
                return values
            stage, done, total = made.stage, made.done, made.total
            view = replace(values.measuring, stage=stage, done=done, total=total)
            return replace(values, measuring=view)

        self._session.change(changed)

    def rounds(self, found: Comparison) -> None:
        """Show the finished rounds."""

        def changed(values: Values) -> Values:
            if values.measuring is None:
                return values
            view = replace(values.measuring, group=found.measurements[0].comparison)
            return replace(self._with(values, found), measuring=view)

        self._session.change(changed)

    def seen(self, place: RunPosition) -> None:
        """Show where it is."""
        self._place = place
        self._session.show_running(place)

    def ended(self, result: Measured) -> None:
        """Show the result."""
        self._session.measured()
        self.over(result.comparison)
        self._ended(result)

    def over(self, found: Comparison | None) -> None:
        """End, with the comparison if there is one."""
        self._session.work.rest(False)
        place = self._place
        if place is not None and not place.over:  # the process is gone before it could say so
            self._session.show_running(replace(place, over=True))
        self._session.change(lambda v: replace(self._with(v, found), measuring=None))

    def _with(self, values: Values, found: Comparison | None) -> Values:
        """Return the values with the comparison, unless the program was traced again meanwhile."""
        if found is None or self._keys[0] not in values.tree.variants:
            return values
        views = measurement_views(found.measurements)
        return replace(values, measurements=together(values.measurements, views))
