"""The first measurement of a backend, against built-in constants: the scale of their times."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

from workbench.errors import WorkbenchError
from workbench.measure.rounds.rounds import Candidate
from workbench.planning.machine.calibrated import UNCALIBRATED, keep_scale

LEAST = 1e-3
"""The least seconds of a run that says something: a shorter one is mostly the clock and the caches.
"""


def learn_scale(measured: Sequence[Candidate]) -> None:
    """Keep how many times as long as predicted these variants took, on the geometric mean, where
    they are the first that this machine has run of a backend without constants of its own.

    Programs that call external objects say nothing: what a call takes is not known.
    """
    ratios = [ratio for ratio in map(_ratio, measured) if ratio is not None]
    if not ratios:
        return
    factor = math.exp(sum(map(math.log, ratios)) / len(ratios))
    first = measured[0].measurement()
    with contextlib.suppress(WorkbenchError):  # a full disk: predictions stay as they are
        keep_scale(first.backend, factor, first.program, first.sizes, first.dtype, first.date)


def _ratio(candidate: Candidate) -> float | None:
    """Return measured over predicted seconds; None where that says nothing of the constants."""
    predicted, found = candidate.predicted, candidate.measurement()
    if predicted is None or not found.samples or candidate.variant.program.externals:
        return None
    if not predicted.note.startswith(UNCALIBRATED) or found.median < LEAST:
        return None
    return found.median / predicted.seconds
