"""The searching process: it looks for the automatic recipe from a variant on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.planning.recipe.aim import Objective
from workbench.program.text.units import bytes_text
from workbench.session.parts.cost import fitting_lengths
from workbench.session.picture.snapshot import snapshot
from workbench.session.processes.measuring.one_order import Report, carry_out
from workbench.session.processes.orders import NewVariant, new_variant
from workbench.session.protocol.capsule import Plain, plain
from workbench.session.protocol.failures import error_view, sentence
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant, optimize

EVERY = 0.2
"""The least seconds between two reports of progress."""
NO_STEP = "The automatic recipe has no step to take here."


@dataclass(frozen=True)
class SearchOrder:
    """The order of a search; `capacity` is the most bytes of the device's memory."""

    variant: Variant
    objective: Objective
    capacity: int | None
    backend: str
    sizes: Mapping[str, int]
    dtype: str
    lengths: Mapping[str, Any] = field(default_factory=dict)
    """The lengths of episodes by dim, as `wb.optimize` takes them, or of a run at larger sizes."""

    @property
    def name(self) -> str:
        """The name of the recipe."""
        within = "" if self.capacity is None else f" within {bytes_text(self.capacity)}"
        return f"automatic, {self.objective}{within}"


@dataclass(frozen=True)
class Searched:
    """The variants that the steps made, each after its parent, and the picture of the last. There
    are none where the search was stopped.
    """

    made: tuple[NewVariant, ...] = ()
    picture: Plain | None = None
    error: ErrorView | None = None


class Telling:
    """A listener to the search that reports how many plans were tried, now and then."""

    def __init__(self, report: Report) -> None:
        self._report, self._last, self._tried = report, 0.0, 0

    def __call__(self, idea: str, so_far: str) -> None:
        """Count an idea that is tried; `so_far` is what the best plan costs."""
        self._tried += 1
        now = time.monotonic()
        if now - self._last > EVERY:
            self._last = now
            self._report(f"{so_far} so far; trying {idea}" if so_far else idea, self._tried, 0)


def searched(order: SearchOrder, report: Report) -> Searched:
    """Search."""
    start = order.variant
    try:
        best = optimize(
            start,
            order.objective,
            order.capacity,
            sizes=order.sizes,
            backend=order.backend,
            dtype=order.dtype,
            lengths=fitting_lengths(order.lengths, start, order.sizes),
            progress=Telling(report),
        )
        made = best.lineage[len(start.lineage) :]
        if not made:
            return Searched(error=sentence(NO_STEP))
        return Searched(tuple(map(new_variant, made)), Plain(plain(snapshot(best.program))))
    except Exception as problem:  # the caller, another process, must hear of any error
        return Searched(error=error_view(problem))


def main() -> None:
    """Carry out the one order."""
    carry_out(searched)
