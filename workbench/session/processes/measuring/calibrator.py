"""The calibrating process: it measures what predicted times are made of."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.measure.calibration.calibrate import calibrate
from workbench.session.processes.measuring.one_order import Report, carry_out
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.state import ErrorView


@dataclass(frozen=True)
class CalibrateOrder:
    """The order of a calibration of this machine for a backend."""

    backend: str


@dataclass(frozen=True)
class Calibrated:
    """The end of a calibration: where it was not stopped, and there is no error, its constants are
    kept.
    """

    done: bool = False
    error: ErrorView | None = None


def calibrated(order: CalibrateOrder, report: Report) -> Calibrated:
    """Measure and keep the constants."""
    report("calibrating", 0, 1)
    try:
        calibrate(order.backend)
    except Exception as problem:  # the caller, another process, must hear of any error
        return Calibrated(error=error_view(problem))
    return Calibrated(done=True)


def main() -> None:
    """Carry out the one order."""
    carry_out(calibrated)
