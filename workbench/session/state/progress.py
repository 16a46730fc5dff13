"""The beginning and the stages that a measurement and a profile have in their workbench."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.session.processes.measuring.meter import MeterProgress
from workbench.session.protocol.state import ProgressView

if TYPE_CHECKING:
    from workbench.session.state.session import Session
    from workbench.session.state.values import Values


class Progress:
    """A listener that shows a workbench how far something is; `starting` is how it begins."""

    def __init__(self, session: Session, starting: ProgressView) -> None:
        self.session, self._starting = session, starting

    def begin(self) -> None:
        """Begin; work that nobody waits for rests meanwhile."""
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
        self.session.work.rest(False)
        self.session.change(lambda values: replace(values, measuring=None))
