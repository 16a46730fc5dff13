"""The progress of a calibration in the workbench that asked for it.

Called on the threads of `CalibratorClient`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.session.processes.measuring.calibrator import Calibrated
from workbench.session.protocol.state import ProgressView
from workbench.session.state.progress import Progress

if TYPE_CHECKING:
    from workbench.session.state.session import Session


class CalibrationProgress(Progress):
    """A listener that tells all views when predicted times have changed."""

    def __init__(self, session: Session, ended: Callable[[Calibrated], None]) -> None:
        super().__init__(session, ProgressView("calibration", "starting", 0, 1, (), ""))
        self._ended = ended

    def ended(self, result: Calibrated) -> None:
        """Show that it is over."""
        self.session.measured()
        self.session.work.rest(False)
        self.session.change(lambda values: replace(values, measuring=None))
        if result.done:
            self.session.predicted_anew()
        self._ended(result)
