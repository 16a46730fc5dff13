"""What each part of `make test` takes: `python -m tests.taken BEGUN MAKE TARGET...` runs targets
one after the other and prints a line for each, after one for the set-up: what the shell that became
this process has run since the time BEGUN. The first target that fails ends it.

Of Linux it asks for the processes that outlive their parents (a Jupyter kernel's, when it is ended
at once), whose CPU would else be nobody's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import time

ADOPT = 36
"""PR_SET_CHILD_SUBREAPER."""
PATIENCE = 10.0
"""Seconds to wait for processes that were left to end."""


def adopt() -> None:
    """Become the parent of descendants whose own is gone, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)


def bury() -> None:
    """Wait for all children that there are, as long as that is worth it."""
    until = time.monotonic() + PATIENCE
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)


def used() -> float:
    """User's and system's seconds of all children that have ended."""
    taken = os.times()
    return taken.children_user + taken.children_system


def line(name: str, cpu: float, seconds: float) -> str:
    """A row of the table."""
    return f"{name:<12} {cpu:6.0f} s of CPU in {seconds:5.0f} s"


def main(begun: float, make: str, *targets: str) -> int:
    """Run the targets; the code of the first that fails, or 0."""
    adopt()
    now, cpu = time.time(), used()
    lines = [line("set-up", cpu, now - begun)]
    for target in targets:
        code = subprocess.call([make, "--no-print-directory", target])
        if code:
            return code
        bury()
        was, now, had, cpu = now, time.time(), cpu, used()
        lines.append(line(target, cpu - had, now - was))
    print(*lines, line("together", cpu, now - begun), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), *sys.argv[2:]))
