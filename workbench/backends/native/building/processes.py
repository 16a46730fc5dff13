"""Commands that run side by side, each in a process group of its own: their output, their times,
and an end for all of them when one fails, takes too long or the user interrupts.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

MOST_OUTPUT = 65_536
"""The bytes that are read of what a command prints."""
PAUSE = 0.002


@dataclass(frozen=True)
class Ended:
    """A command that ended. `code` is its exit status, negative for a signal, None where it was
    stopped because it took too long; `seconds` are by the clock.
    """

    code: int | None
    output: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """True if it ended without an error."""
        return self.code == 0

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it, or None."""
        if self.code is None or self.code >= 0:
            return None
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"


@dataclass(frozen=True)
class _Started:
    process: subprocess.Popen[bytes]
    output: IO[bytes] = field(repr=False)
    start: float

    def ended(self, code: int | None, cpu_seconds: float) -> Ended:
        """Return what came of it."""
        self.output.seek(0)
        said = self.output.read(MOST_OUTPUT).decode("utf-8", errors="replace")
        self.output.close()
        return Ended(code, said, time.perf_counter() - self.start, cpu_seconds)


def run_side_by_side(
    commands: Sequence[Sequence[str]],
    *,
    at_once: int,
    timeout: float,
    folder: Path,
    environment: Mapping[str, str],
) -> dict[int, Ended]:
    """Run commands in a folder, `at_once` at a time; return how each ended, by its position.

    At the first that does not end well, or is not done after `timeout` seconds, the others are
    stopped and left out. Each has the working folder, no input, and a process group of its own.

    A thread of its own starts and stops them: Python interrupts only the main thread, so that no
    command can have been started without being known.
    """
    interrupted = threading.Event()
    with ThreadPoolExecutor(max_workers=1) as starter:
        try:
            return starter.submit(
                _run_until, interrupted, commands, at_once, timeout, folder, environment
            ).result()
        finally:
            interrupted.set()


def _run_until(
    interrupted: threading.Event,
    commands: Sequence[Sequence[str]],
    at_once: int,
    timeout: float,
    folder: Path,
    environment: Mapping[str, str],
) -> dict[int, Ended]:
    """Run commands side by side until they are done, or interrupted: then stop all."""
    ended: dict[int, Ended] = {}
    running: dict[int, _Started] = {}
    waiting = list(enumerate(commands))[::-1]
    try:
        while (waiting or running) and all(one.ok for one in ended.values()):
            while waiting and len(running) < at_once:
                position, command = waiting.pop()
                try:
                    running[position] = _start(command, folder, environment)
                except OSError as error:
                    return {position: Ended(127, f"it cannot be started: {error.strerror}")}
            ended |= _just_ended(running, timeout)
            if running and interrupted.wait(PAUSE):
                break
    finally:
        for started in running.values():
            _stop(started)
            started.output.close()
    return ended


def _just_ended(running: dict[int, _Started], timeout: float) -> dict[int, Ended]:
    """Take out of `running` those that are done or took too long."""
    ended = {}
    for position, started in list(running.items()):
        cpu_seconds = _reaped(started.process)
        if cpu_seconds is not None:
            ended[position] = started.ended(started.process.returncode, cpu_seconds)
        elif time.perf_counter() - started.start > timeout:
            _stop(started)
            ended[position] = started.ended(None, 0.0)
        else:
            continue
        del running[position]
    return ended


def _start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> _Started:
    output = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the command has ended
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        output.close()
        raise
    return _Started(process, output, time.perf_counter())


def _reaped(process: subprocess.Popen[bytes]) -> float | None:
    """Return the CPU seconds of a process that has ended, its own children's included; else None.

    Windows does not say: zero.
    """
    if sys.platform == "win32":
        return None if process.poll() is None else 0.0
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)  # `Popen` does not ask again
    return usage.ru_utime + usage.ru_stime


def _stop(started: _Started) -> None:
    """End a process with all that it started."""
    if sys.platform == "win32":
        started.process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.process.pid, signal.SIGKILL)
    started.process.wait()
