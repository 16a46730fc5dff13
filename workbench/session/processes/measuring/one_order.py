"""A process that carries out one order. It ends with its result, or with the other end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from workbench.session.processes.measuring.meter import MeterProgress
from workbench.session.processes.pipe import Parent

Report = Callable[[str, int, int], None]
"""Tells a stage, and how much of how much is done; of 0 where nobody knows."""


Tell = Callable[[Any], None]
"""Tells what there is of a result so far."""


def carry_out(do: Callable[[Any, Report], object]) -> None:
    """Carry out the one order that comes, and send the result."""
    carry_out_telling(lambda order, report, _: do(order, report))


def carry_out_telling(do: Callable[[Any, Report, Tell], object]) -> None:
    """Carry out the one order that comes, tell what there is so far, and send the result."""
    parent = Parent()
    messages = iter(parent)
    order = next(messages)
    threading.Thread(target=_watch, args=(messages,), daemon=True).start()
    parent.send(do(order, lambda *stage: parent.send(MeterProgress(*stage)), parent.send))


def _watch(messages: Iterator[object]) -> None:
    """End with the other end: at once, whatever is running."""
    next(messages, None)
    os._exit(0)
