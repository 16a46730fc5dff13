"""A client of a process that is started for one order and ended with it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from workbench.errors import WorkbenchError
from workbench.session.processes.measuring.meter import MeterProgress
from workbench.session.processes.pipe import Child

Result = TypeVar("Result")
Heard = TypeVar("Heard", contravariant=True)


class OrderClient(ABC, Generic[Result]):
    """An order that a process of its own, `main` of a module, carries out; `ended` hears the result
    once, after everything else.
    """

    def __init__(self, module: str, order: object, ended: Callable[[Result], None]) -> None:
        self._ended = ended
        self._lock = threading.Lock()
        self._result: Result | None = None
        self._over = threading.Event()
        self._child = Child(module, self._hear, self._died)
        try:
            self._child.send(order)
        except WorkbenchError:
            self._child.stop()
            raise

    @abstractmethod
    def cancel(self) -> None:
        """End it before it is done."""

    def wait(self) -> Result:
        """Wait until it is over, and return the result."""
        self._over.wait()
        assert self._result is not None
        return self._result

    @abstractmethod
    def _hear(self, message: Any) -> None:
        """Take a message of the process."""

    @abstractmethod
    def _died(self, reason: str) -> None:
        """Take the end of a process that was not stopped."""

    def _end(self, came: Callable[[], Result]) -> None:
        """Take the result of the first to report the end: a cancellation, a second one, the process
        itself or its death.
        """
        with self._lock:
            if self._result is not None:
                return
            result = self._result = came()
        self._ended(result)
        self._over.set()


class Listener(Protocol[Heard]):
    """A listener to an order. It is called on threads of the order."""

    def progress(self, made: MeterProgress) -> None:
        """Hear of progress."""

    def ended(self, result: Heard) -> None:
        """Hear the result: once, after everything else."""


class ResultClient(OrderClient[Result]):
    """An order that has one result, and is ended at once: then there is `none` of it."""

    none: ClassVar[Any]

    def __init__(self, module: str, order: object, told: Listener[Result]) -> None:
        self._told = told
        super().__init__(module, order, told.ended)

    def cancel(self) -> None:
        """End it at once: nothing of it is kept."""
        self._child.stop()
        self._end(lambda: self.none)

    def _hear(self, message: Any) -> None:
        if isinstance(message, type(self.none)):
            self._end(lambda: message)
        else:
            self._told.progress(message)

    def _died(self, reason: str) -> None:
        self._end(lambda: self._gone(reason))

    @abstractmethod
    def _gone(self, reason: str) -> Result:
        """Return the result where the process is gone."""
