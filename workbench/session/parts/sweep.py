"""The predicted cost of a variant as one size grows and the others stay. A slider reads it and asks
nothing while it moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import SizeError, WorkbenchError
from workbench.program.sizes import resolve
from workbench.session.parts.cost import predicted
from workbench.variants.variant import Variant

FACTORS = (
    0.0625, 0.09375, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16,
)  # fmt: skip
"""The stops, as factors of the present value of the size."""


@dataclass(frozen=True)
class SweepPoint:
    """The prediction at one value of the size."""

    value: int
    seconds: float
    peak_bytes: Mapping[str, int]


@dataclass(frozen=True)
class SweepView:
    """Predictions at several values of `size`, least first. Values that the program does not take
    are left out (a derived size does not divide). Episodes are no longer than there are steps.
    """

    size: str
    sizes: Mapping[str, int]
    points: tuple[SweepPoint, ...]


def sweep(variant: Variant, arguments: Mapping[str, Any]) -> SweepView:
    """Predict at stops of `size` around its value in `sizes` (omitted ones have their defaults), on
    `backend` in `dtype`.

    Raises WorkbenchError where there is no such size to set, SizeError for sizes that the program
    does not take, UnavailableError for a backend without known constants.
    """
    size = arguments["size"]
    free = [p.name for p in variant.program.parameters if p.definition is None]
    if size not in free:
        raise WorkbenchError(f"{size!r} is no size that can be set; expected {', '.join(free)}")
    given = dict(arguments["sizes"])
    here = resolve(variant.program.equations, variant.rows.sizes(given))
    return SweepView(size, here, tuple(_points(variant, arguments, given, size, here[size])))


def _points(
    variant: Variant, arguments: Mapping[str, Any], given: Mapping[str, int], size: str, here: int
) -> Iterator[SweepPoint]:
    lengths = {dim: np.asarray(x) for dim, x in arguments.get("lengths", {}).items()}
    for value in sorted({max(1, round(here * factor)) for factor in FACTORS}):
        try:
            sizes = {**given, size: value}
            prediction = predicted(variant, {**arguments, "sizes": sizes, "lengths": lengths})
        except SizeError:
            continue
        yield SweepPoint(value, prediction.seconds, prediction.peak_bytes)
