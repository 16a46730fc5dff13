"""A second Python process and the pickled messages to and from it.

`Child` is the end that started it, `Parent` the end of the process itself. Definitions of a
notebook are pickled by value, since the other process has not run its cells. Knows nothing of the
messages' meaning.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import IO, Any

import cloudpickle

from workbench.errors import WorkbenchError

Heard = Callable[[Any], None]
PACKAGES = Path(__file__).parents[3]
"""The folder of this package."""
STEP_BACK = "from workbench.session.processes.pipe import step_back; step_back(); "
"""The first statements of a process that is behind all others."""
NICENESS = 10
"""That of such a process: others have nine times as much of a processor that both want."""
AUTOGROUP = Path("/proc/self/autogroup")
"""What has a niceness of its own on Linux where each session has its share of the processors."""
_LENGTH = struct.Struct("<Q")


class NotSentError(WorkbenchError):
    """A message cannot be given to another process: something in it cannot be pickled."""


class Child:
    """A process that runs `main` of a module. `heard` is called with each of its messages. `ended`
    is called with the reason for its end, unless it was stopped. Both run on a thread of their own.

    The process starts in a session of its own, so that interrupting a cell does not interrupt it.
    It is `behind` where it computes in the time that nobody else on the machine needs.
    """

    def __init__(
        self, module: str, heard: Heard, ended: Callable[[str], None], behind: bool = False
    ) -> None:
        self._heard, self._ended = heard, ended
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the reader
        begun = STEP_BACK if behind else ""
        paths = [str(PACKAGES), *(path or os.getcwd() for path in sys.path)]
        self._process = subprocess.Popen(
            # Unbuffered: what it prints stands before its last words, not behind.
            [sys.executable, "-u", "-c", f"{begun}from {module} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
        )
        self._stopped = False
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for work in (self._write, self._read):
            threading.Thread(target=work, name=f"{module} {work.__name__}", daemon=True).start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, message: Any) -> None:
        """Send a message. Raises NotSentError where it cannot be pickled."""
        self._outbox.put(pickled(message))

    def stop(self) -> None:
        """End the process at once; `ended` is not called."""
        self._stopped = True
        self._process.kill()

    def kill(self) -> None:
        """End the process at once; `ended` is called as if it had died."""
        self._process.kill()

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):  # it is gone, as the reader reports
            while (data := self._outbox.get()) is not None:
                _put(pipe, data)
        with contextlib.suppress(OSError):
            pipe.close()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        for message in _messages(pipe):
            if not self._stopped:
                self._heard(message)
        code = self._process.wait()
        self._outbox.put(None)
        pipe.close()
        with self._said:
            if not self._stopped:
                self._ended(f"{_reason(code)}{self._last_words()}")

    def _last_words(self) -> str:
        """Return the end of its error output."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1].strip()[:300]}" if lines else ""


class Parent:
    """The process's own end. Its prints go to the error output, since the pipe is for messages."""

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        self._lock = threading.Lock()

    def send(self, message: Any) -> None:
        """Send a message, from any thread."""
        data = pickled(message)
        with self._lock:
            _put(self._out, data)

    def __iter__(self) -> Iterator[Any]:
        """Yield messages as they come, until the other end is gone."""
        return _messages(self._in)


def step_back() -> None:
    """Let all other processes go before this one, as far as the system knows how."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):
        AUTOGROUP.write_text(str(NICENESS), encoding="ascii")


def pickled(message: Any) -> bytes:
    """Pickle a message, classes and functions of a notebook by value. Raises NotSentError."""
    file = io.BytesIO()
    try:
        _Pickler(file).dump(message)
    except Exception as error:  # a user's __reduce__ may raise anything
        raise NotSentError(f"this cannot be given to another process: {error}") from error
    return file.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    """cloudpickle's, but for code, which keeps its file: errors point at its line. From 3.1.3 on
    cloudpickle leaves it out.
    """

    def reducer_override(self, given: Any) -> Any:
        """Return how a value is made again."""
        if isinstance(given, CodeType):
            return _code, (*self.dispatch_table[CodeType](given), given.co_filename)
        return super().reducer_override(given)


def _code(make: Callable[..., CodeType], arguments: tuple[Any, ...], file: str) -> CodeType:
    return make(*arguments).replace(co_filename=file)


def _put(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _messages(pipe: IO[bytes]) -> Iterator[Any]:
    while len(head := pipe.read(_LENGTH.size)) == _LENGTH.size:
        (length,) = _LENGTH.unpack(head)
        data = pipe.read(length)
        if len(data) < length:
            return
        yield pickle.loads(data)


def _reason(code: int) -> str:
    """Describe in words how a process ended."""
    if code >= 0:
        return f"it ended with code {code}"
    if code == -signal.SIGKILL:
        return "it was ended by SIGKILL, as the system does when memory runs out"
    with contextlib.suppress(ValueError):
        return f"it was ended by {signal.Signals(-code).name}"
    return f"it was ended by signal {-code}"
