"""The process that measures: `python -m workbench.session.meter`, one for each comparison.

It appends what it measured to the store itself, so that it is kept whatever becomes of the other
end; when that end is gone it stops.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.measure.compare import Comparison, compare
from workbench.measure.store import Store
from workbench.session.failures import error_view
from workbench.session.process import Parent
from workbench.session.running import Place, Sampler
from workbench.session.state import ErrorView
from workbench.variants.variant import Variant

EVERY = 0.5
"""Seconds between two reports of progress of one stage."""


@dataclass(frozen=True)
class Meter:
    """What to measure, and where it is written down."""

    variants: tuple[Variant, ...]
    backend: str
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    repeats: int | None
    force: bool
    store: Store


@dataclass(frozen=True)
class Progress:
    """How far it is."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class Measured:
    """The comparison, or why there is none."""

    comparison: Comparison | None
    error: ErrorView | None


def measured(order: Meter, parent: Parent) -> Measured:
    """Measure, and append what came out to the store."""
    stages: dict[str, float] = {}

    def report(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - stages.get(stage, 0.0) > EVERY:
            stages[stage] = now
            parent.send(Progress(stage, done, total))

    def seen(place: Place) -> None:
        parent.send(place)

    try:
        with Sampler(seen):
            found = compare(
                order.variants,
                order.backend,
                sizes=order.sizes,
                seed=order.seed,
                dtype=order.dtype,
                repeats=order.repeats,
                force=order.force,
                progress=report,
            )
        order.store.append(found)
    except Exception as error:  # the caller is another process: whatever it is, it is told
        return Measured(None, error_view(error))
    return Measured(found, None)


def main() -> None:
    """Do the one thing that is asked for."""
    parent = Parent()
    messages = iter(parent)
    order = next(messages)
    threading.Thread(target=_watch, args=(messages,), daemon=True).start()
    parent.send(measured(order, parent))


def _watch(messages: Iterator[object]) -> None:
    """End with the other end."""
    for _ in messages:
        pass
    os._exit(0)


if __name__ == "__main__":
    from workbench.session.meter import main as importable  # classes here would be __main__'s

    importable()
