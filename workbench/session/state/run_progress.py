"""The progress of a run in its workbench: its curves while it runs, and its result, or why there is
none.

Called on the threads of the run.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.measure.rounds.rounds import now
from workbench.measure.run import Result
from workbench.measure.runs.curves import kept
from workbench.measure.runs.progress import environment_steps, iterations
from workbench.program.sizes import resolve, settable
from workbench.session.processes.measuring.profiler import ProfileOrder
from workbench.session.processes.measuring.runner import Ran, RunOrder, RunSoFar
from workbench.session.processes.sampler import RunPosition
from workbench.session.protocol.measurements import curve_views
from workbench.session.protocol.state import ErrorView, NotMadeView, ProgressView, RunView
from workbench.session.state.progress import Progress

if TYPE_CHECKING:
    from workbench.session.state.session import Session
    from workbench.session.state.values import Values


class RunProgress(Progress):
    """A listener that shows a workbench the run that was ordered."""

    def __init__(self, session: Session, order: RunOrder, ended: Callable[[Ran], None]) -> None:
        self._order, self._ended = order, ended
        self._view = _begun(order)
        self._begun = False
        self._place: RunPosition | None = None
        self._lock = threading.Lock()
        self._is_let_go = False
        keys, name = (order.variant.key,), self._view.id
        super().__init__(session, ProgressView("run", "compiling", 0, 1, keys, name))

    def begin(self) -> None:
        """Begin; why an earlier one failed is no longer said."""
        self.session.change(lambda values: replace(values, unrun=None))
        super().begin()

    def so_far(self, made: RunSoFar) -> None:
        """Show how far it is."""
        self._begun = True
        self._view = replace(
            self._view,
            completed=made.completed,
            total=made.total,
            seconds=made.seconds,
            curves=curve_views(made.curves),
        )

        def changed(values: Values) -> Values:
            if values.measuring is None or values.measuring.group != self._view.id:
                return values  # it was ended meanwhile
            done, total = made.completed, made.total
            view = replace(values.measuring, stage="running", done=done, total=total)
            return replace(values.with_run(self._view), measuring=view)

        self.session.change(changed)

    def seen(self, place: RunPosition) -> None:
        """Show where it is."""
        self._place = place
        self.session.show_running(place)

    def let_go(self) -> None:
        """Let something else begin."""
        with self._lock:
            if self._is_let_go:
                return
            self._is_let_go = True
        self.session.under_way.over()
        place = self._place
        if place is not None and not place.over:  # the process is gone before it could say so
            self.session.show_running(replace(place, over=True))
        self.stop()

    def ended(self, result: Ran) -> None:
        """Show the result, and keep it for Python."""
        if result.result is not None:
            self.session.result = result.result
        self.session.change(lambda values: self._with(values, result))
        self.let_go()
        self._ended(result)

    def _with(self, values: Values, made: Ran) -> Values:
        """Return the values with the result. Python has it only as long as the program is the one
        that ran.
        """
        order = self._order
        is_former = order.variant.key not in values.tree.variants
        if made.result is not None:
            after = values.with_run(run_view(made.result), made.result.lengths)
            return after if is_former else replace(after, result=self._view.id)
        if made.error is None:  # it was stopped before it began
            return values
        if self._begun:
            return values.with_run(replace(self._view, failed=made.error.sentence))
        return values if is_former else replace(values, unrun=not_made(order, made.error))


def run_view(result: Result) -> RunView:
    """Describe a run."""
    variant, sizes = result.variant, settable(result.variant.program.equations, result.sizes)
    order = RunOrder(variant, result.backend, sizes, result.seed, result.dtype, result.threads)
    dims = {name: own for name, own in result.dims.items() if name in result.outputs}
    return replace(
        _begun(order),
        threads=result.threads,
        completed=result.completed,
        total=result.total,
        seconds=result.seconds,
        compile_seconds=result.compile_seconds,
        peak_bytes=dict(result.peak),
        lengths={dim: float(x.mean()) for dim, x in result.lengths.items() if x.size},
        curves=curve_views(kept(result.outputs, dims)),
    )


def not_made(
    order: RunOrder | ProfileOrder, error: ErrorView, too_long: bool = False, not_sent: bool = False
) -> NotMadeView:
    """Describe a run or a profile that there is none of."""
    return NotMadeView(
        variant=order.variant.key,
        backend=order.backend,
        dtype=order.dtype,
        sizes=dict(order.sizes),
        seed=order.seed,
        error=error,
        too_long=too_long,
        not_sent=not_sent,
    )


def _begun(order: RunOrder) -> RunView:
    """Describe a run of which nothing is done."""
    program = order.variant.program
    sizes = resolve(program.equations, order.sizes)
    run = [order.variant.key, order.backend, order.dtype, dict(sizes), order.seed]
    total, counted = iterations(program, sizes)
    return RunView(
        id=hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()[:16],
        variant=order.variant.key,
        label=", ".join(map(str, order.variant.steps)) or "as written",
        backend=order.backend,
        threads=None,
        dtype=order.dtype,
        sizes=sizes,
        seed=order.seed,
        date=now(),
        completed=0,
        total=total,
        counted=counted,
        seconds=0.0,
        compile_seconds=None,
        environment_steps=environment_steps(program, sizes),
        peak_bytes={},
        lengths={},
        curves=(),
        failed="",
    )
