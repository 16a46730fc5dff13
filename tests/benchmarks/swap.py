"""Large observations on the host: peaks, predicted beside tracked, what the copies cost in CPU and
wall seconds (interleaved), and a capacity that the variant without Swap does not fit.

python -m tests.benchmarks.swap --B 32 --T 250 --side 64 --rounds 5
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from tests.benchmarks.large import learning_in_blocks
from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio
from workbench import environments
from workbench.errors import RunError
from workbench.measure.run import Result, run
from workbench.transforms import Swap
from workbench.variants.variant import Variant

ARRAY = "environment.observation"
QUARTER = 0.25
"""Share of the device's peak that Swap may leave."""


def timed(found: Variant, wall: list[float]) -> float:
    """CPU seconds of a run, of all threads; its wall seconds are put on the list."""
    start = time.process_time()
    wall.append(run(found, progress=False, backend="numpy").seconds)
    return time.process_time() - start


def same(first: Result, second: Result) -> bool:
    """Whether all results are equal bit by bit."""
    return all(np.array_equal(first[k], second[k], equal_nan=True) for k in first)


def refused(found: Variant, capacity: int) -> str:
    """What a run says that has too little memory; nothing where it has enough."""
    try:
        run(found, progress=False, capacity={"device": capacity}, backend="numpy")
    except RunError as error:
        return error.message
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=32)
    parser.add_argument("--T", type=int, default=250)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--block", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    noisy = environments.Noisy((3, given.side, given.side))
    plain = learning_in_blocks(given.block, B=given.B, T=given.T, I=1, environment=noisy)
    ways = {"plain": plain, **{f"{s}": plain.apply(s) for s in (Swap(ARRAY), Swap(ARRAY, 1))}}
    found = {name: run(way, progress=False, backend="numpy") for name, way in ways.items()}
    walls: dict[str, list[float]] = {name: [] for name in ways}
    cpu = interleaved(
        {name: lambda n=name, w=way: timed(w, walls[n]) for name, way in ways.items()},
        given.rounds,
    )
    for name, result in found.items():
        measured: dict[str, Any] = {}
        if name != "plain":
            share = result.peak_bytes / found["plain"].peak_bytes
            slower, interval = ratio(cpu[name], cpu["plain"])
            measured = {"share": share, "target": QUARTER, "cpu_ratio": slower, "within": interval}
        emit(
            what=name,
            peak=dict(result.peak),
            predicted=dict(ways[name].predict(backend="numpy").peak_bytes),
            equal=same(found["plain"], result),
            cpu_seconds=median(cpu[name]),
            wall_seconds=median(walls[name][1:]),
            **measured,
        )
    limit = int(found["plain"].peak_bytes * QUARTER)
    messages = {name: refused(way, limit) for name, way in ways.items()}
    emit(what="capacity", bytes=limit, refused=messages)
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
