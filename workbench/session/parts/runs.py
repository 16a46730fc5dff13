"""How long the runs of a measurement take, and smaller sizes where that is more than is measured
without being asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import UnavailableError
from workbench.measure.rounds.affordable import affordable
from workbench.measure.rounds.expected import LIMIT, Expectation
from workbench.measure.rounds.rounds import MeasureRequest
from workbench.variants.variant import Variant


@dataclass(frozen=True)
class RunsView:
    """All runs of a variant in a measurement: `run` is the seconds of one, `seconds` those of all,
    as predicted, or by the pace of a trial run. Where they are too slow, `affordable` are the sizes
    that can be set, cut until the runs are soon over; null where no cut is enough.
    """

    run: float
    seconds: float
    too_slow: bool
    affordable: Mapping[str, int] | None


def runs(variant: Variant, arguments: Mapping[str, Any]) -> RunsView:
    """The runs of a measurement of a variant at `sizes` on `backend` in `dtype`, with `repeats`
    rounds (null: as many as are enough), on a machine of which a trial run told the `pace` (null:
    none was made).

    Raises SizeError for sizes that the program does not take, UnavailableError for a backend whose
    constants nobody knows.
    """
    sizes, pace = arguments["sizes"], arguments["pace"]
    request = MeasureRequest(
        arguments["backend"], sizes, dtype=arguments["dtype"], repeats=arguments["repeats"]
    )
    expectation = Expectation(variant.program, variant.loop_program, request.backend, request.dtype)
    said = expectation.at(sizes)
    if said is None:
        raise UnavailableError(f"no times are predicted for {request.backend}")
    run = said.seconds * (1.0 if pace is None else pace)
    least = request.least_runs
    too_slow = run * least > LIMIT
    smaller = None
    if too_slow:
        smaller = affordable(expectation, variant.root.program, sizes, least, pace)
    return RunsView(run, run * (request.warmup + request.rounds(run)), too_slow, smaller)
