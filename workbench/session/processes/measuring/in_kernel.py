"""Orders that are carried out here, on a thread of the Jupyter kernel, since what they need cannot
be given to another process.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class InKernel(Generic[Result]):
    """An order on a thread of this process. `do` gives its result; `ended` hears it once, after
    everything else; `none` is that of an order that was interrupted before it had one.
    """

    def __init__(
        self, do: Callable[[], Result], ended: Callable[[Result], None], none: Result
    ) -> None:
        self._do, self._ended, self._result = do, ended, none
        self._lock = threading.Lock()
        self._interruptible = True
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="workbench run", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Interrupt it, as Ctrl-C does a cell: where the thread next comes to a line of Python."""
        with self._lock:
            number = self._thread.ident
            if self._interruptible and number is not None:
                self._interruptible = False
                interrupt = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(number), interrupt)

    def wait(self) -> Result:
        """Wait until it is over, and return the result."""
        self._over.wait()
        return self._result

    def _work(self) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            self._result = self._do()
            with self._lock:
                self._interruptible = False
        self._ended(self._result)
        self._over.set()
