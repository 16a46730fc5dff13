"""The running process: one for each run. It tells learning curves while it runs; when it is told to
stop, what is finished is the result.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.measure.run import Result, run
from workbench.measure.runs.curves import Curve, kept
from workbench.session.processes.pipe import Parent
from workbench.session.processes.sampler import Sampler
from workbench.session.protocol.failures import error_view
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant

EVERY = 0.25
"""Least seconds between two reports."""
RESTS = 19
"""The pause after making curves, as a multiple of the time that it took."""


@dataclass(frozen=True)
class RunOrder:
    """The order of a run."""

    variant: Variant
    backend: str
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    threads: int | None


@dataclass(frozen=True)
class StopRun:
    """The order to end with what is finished."""


@dataclass(frozen=True)
class RunSoFar:
    """How far a run is, with the curves of its finished iterations; none done where it begins."""

    completed: int
    total: int
    seconds: float
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Ran:
    """The result, also of a run that was stopped; None where it was stopped before it began, or
    with the reason why there is none.
    """

    result: Result | None = None
    error: ErrorView | None = None


def ran(order: RunOrder, tell: Callable[[RunSoFar], None]) -> Ran:
    """Run, and tell how far that is, and how far it came where it fails. KeyboardInterrupt ends it
    with what is finished.
    """
    program = order.variant.program
    dims = {output.name: program.array[output.array].dims for output in program.outputs}
    begun = due = 0.0
    last: tuple[int, int, Mapping[str, Any]] | None = None

    def say(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        there = {name: own for name, own in dims.items() if name in outputs}
        tell(RunSoFar(done, total, time.monotonic() - begun, kept(outputs, there)))

    def report(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        nonlocal begun, due, last
        now, last = time.monotonic(), (done, total, outputs)
        if not done:
            begun = now
        elif now < due and done < total:
            return
        say(done, total, outputs)
        due = now + max(EVERY, RESTS * (time.monotonic() - now))

    try:
        result = run(
            order.variant,
            order.backend,
            sizes=order.sizes,
            seed=order.seed,
            dtype=order.dtype,
            threads=order.threads,
            progress=report,
        )
    except KeyboardInterrupt:  # before it began
        return Ran()
    except Exception as problem:  # the caller, another process, must hear of any error
        if last is not None:
            say(*last)
        return Ran(error=error_view(problem))
    return Ran(result)


def main() -> None:
    """Carry out the one order."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a Jupyter kernel leaves it ignored
    parent = Parent()
    messages = iter(parent)
    order = next(messages)
    threading.Thread(target=_watch, args=(messages,), daemon=True).start()
    with Sampler(lambda place, _: parent.send(place)):
        parent.send(ran(order, parent.send))


def _watch(messages: Iterator[object]) -> None:
    """Interrupt the run on `StopRun`; end with the other end: at once, whatever is running."""
    for _ in messages:
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(0)
