"""A measurement in a process of its own, which is started for it and ended with it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.errors import WorkbenchError
from workbench.session.failures import sentence
from workbench.session.meter import Measured, Meter, Progress
from workbench.session.process import Child
from workbench.session.running import Place

MODULE = "workbench.session.meter"


class Measuring:
    """Variants being measured. `progress` and `seen` are called on a thread of their own while it
    lasts, `ended` once.
    """

    def __init__(
        self,
        order: Meter,
        progress: Callable[[Progress], None],
        seen: Callable[[Place], None],
        ended: Callable[[Measured], None],
    ) -> None:
        self._progress, self._seen, self._ended = progress, seen, ended
        self._lock = threading.Lock()
        self._result: Measured | None = None
        self._over = threading.Event()
        self._child = Child(MODULE, self._hear, self._died)
        try:
            self._child.send(order)
        except WorkbenchError:
            self._child.stop()
            raise

    def cancel(self) -> None:
        """End it at once."""
        self._child.stop()
        self._end(Measured(None, sentence("The measurement was stopped before it was done.")))

    def wait(self) -> Measured:
        """What came out, when it is over."""
        self._over.wait()
        assert self._result is not None
        return self._result

    def _hear(self, message: Progress | Place | Measured) -> None:
        if isinstance(message, Progress):
            self._progress(message)
        elif isinstance(message, Place):
            self._seen(message)
        else:
            self._end(message)

    def _died(self, reason: str) -> None:
        self._end(Measured(None, sentence(f"The process that measured is gone: {reason}.")))

    def _end(self, result: Measured) -> None:
        with self._lock:
            if self._result is not None:
                return
            self._result = result
        self._ended(result)
        self._over.set()
