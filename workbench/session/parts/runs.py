"""The predicted time of a measurement's runs, and smaller sizes where that exceeds what is measured
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
from workbench.planning.cost.lengths import expect_lengths
from workbench.program.sizes import resolve
from workbench.variants.variant import Variant, threads_of


@dataclass(frozen=True)
class RunsView:
    """All runs of a variant in a measurement. `run` is the seconds of one run, `seconds` those of
    all, as predicted, or by the pace of a trial run. For runs that are too slow, `affordable` are
    the sizes cut until they are soon over; null where no cut is enough.
    """

    run: float
    seconds: float
    too_slow: bool
    affordable: Mapping[str, int] | None


def runs(variant: Variant, arguments: Mapping[str, Any]) -> RunsView:
    """Predict the runs of a measurement of a variant at `sizes` on `backend` in `dtype`. `repeats`
    is the number of rounds (null: as many as are enough), `pace` that of a trial run (null: none
    was made). Episodes have the `lengths`, none where they end after all steps.

    Raises SizeError for sizes that the program does not take, UnavailableError for a backend
    without known constants.
    """
    sizes, pace = variant.rows.sizes(arguments["sizes"]), arguments["pace"]
    request = MeasureRequest(
        arguments["backend"], sizes, dtype=arguments["dtype"], repeats=arguments["repeats"]
    )
    threads = threads_of(request.backend, None)
    expectation = Expectation(variant.program, request.backend, request.dtype, threads)
    lengths, equations = arguments.get("lengths", {}), variant.program.equations
    expect_lengths(lengths, equations, resolve(equations, sizes))
    said = expectation.at(sizes, lengths)
    if said is None:
        raise UnavailableError(f"no times are predicted for {request.backend}")
    run = said.seconds * (1.0 if pace is None else pace)
    least = request.least_runs
    too_slow = run * least > LIMIT
    smaller = None
    if too_slow:
        smaller = affordable(expectation, variant.root.program, sizes, least, pace, lengths)
    return RunsView(run, run * (request.warmup + request.rounds(run)), too_slow, smaller)
