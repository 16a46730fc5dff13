"""A client of the calibrating process, which is started for one calibration and ended with it."""

from __future__ import annotations

from workbench.session.processes.measuring.calibrator import Calibrated, CalibrateOrder
from workbench.session.processes.measuring.order_client import Listener, ResultClient
from workbench.session.protocol.failures import sentence

MODULE = "workbench.session.processes.measuring.calibrator"


class CalibratorClient(ResultClient[Calibrated]):
    """A calibration in a process of its own."""

    none = Calibrated()

    def __init__(self, order: CalibrateOrder, told: Listener[Calibrated]) -> None:
        super().__init__(MODULE, order, told)

    def _gone(self, reason: str) -> Calibrated:
        return Calibrated(error=sentence(f"The process that calibrated is gone: {reason}."))
