"""What `wb.optimize(objective="memory")` saves of a long episode, and what that costs in time.

Runs of the fastest variant that is found and of the one that holds least, interleaved; tracked
peaks and times beside the predicted ones, and what any variant must hold.

    python -m tests.benchmarks.frugal --B 256 --T 1000 --I 1 --rounds 7
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping

from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio
from workbench.algorithms import reinforce
from workbench.measure.run import run
from workbench.variants.variant import Variant, optimize

MOST_BYTES, MOST_TIMES = 16e6, 2.0

KEPT = ("state", "alive", "policy.action")
"""What acting leaves and only acting can make again: learning needs all of it."""


def floor_bytes(variant: Variant, sizes: Mapping[str, int]) -> int:
    """The bytes of what must be stored of an episode, wherever, in float32."""
    footprint = variant.root.predict(sizes, backend="numpy").footprint
    updates = sizes["I"]
    return sum(round(footprint[name].evaluate(sizes)) // updates for name in KEPT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=256)
    parser.add_argument("--T", type=int, default=1000)
    parser.add_argument("--I", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    sizes = {"B": given.B, "T": given.T, "I": given.I}
    program = reinforce(hidden=(64, 64))
    found: dict[str, Variant] = {}
    for objective in ("time", "memory"):
        start = time.process_time()
        found[objective] = optimize(program, objective, sizes=sizes, backend="numpy")  # type: ignore[arg-type]
        emit(what=f"optimize for {objective}", cpu_seconds=time.process_time() - start, **sizes)
    ways = {
        name: lambda v=variant: run(v, sizes=sizes, progress=False, backend="numpy").seconds  # type: ignore[misc]
        for name, variant in found.items()
    }
    taken = interleaved(ways, given.rounds)
    times, interval = ratio(taken["memory"], taken["time"])
    peaks = {
        name: run(v, sizes=sizes, progress=False, backend="numpy").peak for name, v in found.items()
    }
    for name, variant in found.items():
        peak, predicted = peaks[name], variant.predict(sizes, backend="numpy")
        emit(
            what=f"REINFORCE for {name}",
            **sizes,
            device_bytes=peak["device"],
            host_bytes=peak["host"],
            predicted_device_bytes=predicted.peak_bytes["device"],
            equal=peak == dict(predicted.peak_bytes),
            seconds=median(taken[name]),
            predicted_seconds=predicted.seconds,
        )
    held = peaks["memory"]["device"]
    emit(
        what="REINFORCE, least memory",
        device_bytes=held,
        target_bytes=MOST_BYTES,
        floor_bytes=floor_bytes(found["memory"], sizes),
        floor="states, whether alive, actions of an episode: what only acting can make again",
        times_the_fastest=times,
        interval=interval,
        target_times=MOST_TIMES,
        reached=held <= MOST_BYTES and times <= MOST_TIMES,
        **machine(),
    )


if __name__ == "__main__":
    main()
