"""Measurements, runs, profiles, calibrations and searches of a workbench: one at a time, in a
process of its own. Results come back on threads of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workbench.errors import WorkbenchError
from workbench.measure.run import Result
from workbench.session.processes.measuring.calibrator import Calibrated, CalibrateOrder
from workbench.session.processes.measuring.calibrator_client import CalibratorClient
from workbench.session.processes.measuring.in_kernel import InKernel
from workbench.session.processes.measuring.meter import Measured, MeasureOrder
from workbench.session.processes.measuring.meter_client import MeterClient
from workbench.session.processes.measuring.profiler import Profiled, ProfileOrder, profiled
from workbench.session.processes.measuring.profiler_client import ProfilerClient
from workbench.session.processes.measuring.runner import Ran, RunOrder, ran
from workbench.session.processes.measuring.runner_client import RunnerClient
from workbench.session.processes.pipe import NotSentError
from workbench.session.processes.searching.searcher import Searched, SearchOrder
from workbench.session.processes.searching.searcher_client import SearcherClient
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.state import ProgressView
from workbench.session.state.measurement_progress import MeasurementProgress
from workbench.session.state.profile_progress import ProfileProgress
from workbench.session.state.progress import OrderProgress, Progress
from workbench.session.state.run_progress import RunProgress, not_made

if TYPE_CHECKING:
    from workbench.session.state.session import Session

Measuring = (
    MeterClient
    | RunnerClient
    | ProfilerClient
    | CalibratorClient
    | SearcherClient
    | InKernel[Ran]
    | InKernel[Profiled]
)
Client = TypeVar(
    "Client",
    MeterClient,
    RunnerClient,
    ProfilerClient,
    CalibratorClient,
    SearcherClient,
    InKernel[Ran],
    InKernel[Profiled],
)


class UnderWay:
    """The one thing that a workbench has under way, if any. All that starts something raises
    WorkbenchError while another thing is under way.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.RLock()
        self._client: Measuring | None = None
        self._running: RunnerClient | None = None

    def measure(
        self, order: MeasureOrder, ended: Callable[[Measured], None] = lambda result: None
    ) -> MeterClient:
        """Start to measure variants of the tree. Raises WorkbenchError while a measurement or a
        profile or a run is under way.
        """
        keys = tuple(variant.key for variant in order.variants)

        def came(result: Measured) -> None:
            self._session.look_at_constants()
            ended(result)

        told = MeasurementProgress(self._session, keys, came)
        return self._start(told, lambda: MeterClient(order, told))

    def run(
        self,
        order: RunOrder,
        ended: Callable[[Ran], None] = lambda result: None,
        here: bool = False,
    ) -> RunnerClient | InKernel[Ran]:
        """Start to run a variant of the tree, in a process of its own or `here`. Raises
        WorkbenchError as `measure` does, NotSentError where it can be run here only.
        """
        told = RunProgress(self._session, order, ended)
        if here:
            return self._start(
                told, lambda: InKernel(lambda: ran(order, told.so_far), told.ended, Ran())
            )
        try:
            client = self._start(told, lambda: RunnerClient(order, told))
            self._running = client
            return client
        except NotSentError as problem:
            refused = not_made(order, error_view(problem), not_sent=True)
            self._session.change(lambda values: replace(values, unrun=refused))
            raise

    def last_result(self) -> Result | None:
        """Return the result of the last run; of one that was just stopped it is waited for. None
        where it was of the program before that was traced again.
        """
        if self._running is not None and self._running.stopping:
            self._running.wait()
        found = self._session.result
        is_own = found is not None and found.variant.root.key == self._session.tree.root
        return found if is_own else None

    def profile(
        self,
        order: ProfileOrder,
        ended: Callable[[Profiled], None] = lambda result: None,
        here: bool = False,
    ) -> ProfilerClient | InKernel[Profiled]:
        """Start to profile a variant of the tree, as `run` does."""
        told = ProfileProgress(self._session, order, ended)
        if here:
            return self._start(
                told,
                lambda: InKernel(
                    lambda: profiled(order, told.report, lambda _: None), told.ended, Profiled()
                ),
            )
        try:
            return self._start(told, lambda: ProfilerClient(order, told))
        except NotSentError as problem:
            refused = not_made(order, error_view(problem), not_sent=True)
            self._session.change(lambda values: replace(values, unprofiled=refused))
            raise

    def calibrate(
        self, order: CalibrateOrder, ended: Callable[[Calibrated], None] = lambda result: None
    ) -> CalibratorClient:
        """Start to calibrate this machine. Raises WorkbenchError as `measure` does."""

        def came(result: Calibrated) -> None:
            self._session.look_at_constants()
            ended(result)

        starting = ProgressView("calibration", "starting", 0, 1, (), "")
        told = OrderProgress[Calibrated](self._session, starting, came)
        return self._start(told, lambda: CalibratorClient(order, told))

    def search(self, order: SearchOrder, ended: Callable[[Searched], None]) -> SearcherClient:
        """Start to look for the automatic recipe from a variant on. Raises WorkbenchError as
        `measure` does.
        """
        starting = ProgressView("search", "starting", 0, 0, (order.variant.key,), "")
        told = OrderProgress[Searched](self._session, starting, ended, rests=False)
        return self._start(told, lambda: SearcherClient(order, told))

    def _start(self, told: Progress, start: Callable[[], Client]) -> Client:
        with self._lock:
            if self._client is not None:
                what = self._session.values.measuring
                name = "measurement" if what is None else what.what
                raise WorkbenchError(f"a {name} is under way; stop it or wait for its end")
            told.begin()
            try:
                client = start()
            except WorkbenchError:
                told.stop()
                raise
            self._client = client
            return client

    def over(self) -> None:
        """Allow the next."""
        with self._lock:
            self._client = None

    def cancel(self) -> bool:
        """Stop what is measured, run, profiled, calibrated or looked for; False if nothing is."""
        with self._lock:
            measuring = self._client
        if measuring is not None:
            measuring.cancel()
        return measuring is not None
