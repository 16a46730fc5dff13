"""What it costs to be looked at: a run with the workbench's sampler beside it, and without.

    python -m tests.benchmarks.live --B 64 --T 50 --I 30

What is seen is turned into messages as in a notebook, but sent nowhere.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import nullcontext

import workbench as wb
from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio
from workbench.algorithms import reinforce
from workbench.session.processes.sampler import RunPosition, Sampler
from workbench.session.protocol.capsule import plain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=50)
    parser.add_argument("--I", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    variant = wb.optimize(reinforce(B=given.B, T=given.T, I=given.I), backend="numpy")
    reports: list[str] = []

    def seen(place: RunPosition, variant: wb.Variant | None) -> None:
        reports.append(json.dumps(plain(place)))

    sampler = Sampler(seen)  # one for all cells, as in a notebook

    def seconds(watched: bool) -> float:
        with sampler if watched else nullcontext():
            start = time.process_time()
            wb.run(variant, progress=False, backend="numpy")
            return time.process_time() - start

    taken = interleaved(
        {"watched": lambda: seconds(True), "alone": lambda: seconds(False)}, given.rounds
    )
    found, interval = ratio(taken["watched"], taken["alone"])
    least = min(taken["watched"]) / min(taken["alone"])
    emit(
        what="watched / alone",
        ratio=found,
        interval=interval,
        of_least=least,
        seconds_alone=median(taken["alone"]),
        reports=len(reports),
        **machine(),
    )


if __name__ == "__main__":
    main()
