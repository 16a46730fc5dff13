"""The beginning and the stages of what a workbench has under way: one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from workbench.session.processes.measuring.meter import MeterProgress
from workbench.session.protocol.state import ProgressView

if TYPE_CHECKING:
    from workbench.session.state.session import Session
    from workbench.session.state.values import Values


Result = TypeVar("Result")


class Progress:
    """A listener that shows a workbench how far something is; `starting` is how it begins. Work
    that nobody waits for `rests` meanwhile, where it would spoil times.
    """

    def __init__(self, session: Session, starting: ProgressView, rests: bool = True) -> None:
        self.session, self._starting, self._rests = session, starting, rests

    def begin(self) -> None:
        """Begin."""
        if self._rests:
            self.session.work.rest(True)
        self.session.change(lambda values: replace(values, measuring=self._starting))

    def progress(self, made: MeterProgress) -> None:
        """Show how far it is."""

        def changed(values: Values) -> Values:
            if values.measuring is None:  # it was ended meanwhile
                return values
            stage, done, total = made.stage, made.done, made.total
            view = replace(values.measuring, stage=stage, done=done, total=total)
            return replace(values, measuring=view)

        self.session.change(changed)

    def stop(self) -> None:
        """End, without a result."""
        if self._rests:
            self.session.work.rest(False)
        self.session.change(lambda values: replace(values, measuring=None))


class OrderProgress(Progress, Generic[Result]):
    """The same for an order whose result does not stand in the state: `ended` takes it."""

    def __init__(
        self,
        session: Session,
        starting: ProgressView,
        ended: Callable[[Result], None],
        rests: bool = True,
    ) -> None:
        super().__init__(session, starting, rests)
        self._ended = ended

    def ended(self, result: Result) -> None:
        """Show that it is over."""
        self.session.under_way.over()
        self.stop()
        self._ended(result)
