"""Seconds of one update of REINFORCE once it runs, and the least that the arithmetic needs.

    python -m tests.benchmarks.steady --B 64 --T 200 --I 30

Threads of linear algebra as the environment says (OPENBLAS_NUM_THREADS).
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.benchmarks.measuring import emit, median
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.variants.variant import optimize, variant


def update_seconds(sizes: Mapping[str, int], hidden: tuple[int, ...]) -> list[float]:
    """Each update's seconds but the first's, which pays for parameters and new memory."""
    compiled = get("numpy").compile(
        optimize(variant(reinforce(hidden=hidden)), backend="numpy").program
    )
    ends: list[float] = []

    def note(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        ends.append(time.perf_counter())

    compiled.run(sizes, on_progress=note)
    return np.diff(ends).tolist()


def operations(sizes: Mapping[str, int], hidden: tuple[int, ...]) -> float:
    """Multiplications and additions of one update's matrix products.

    Forwards once for each step; backwards the weights' gradients, and those of what a layer reads
    but the first's.
    """
    widths = (4, *hidden, 2)
    layers = [2.0 * a * b for a, b in itertools.pairwise(widths)]
    return (3 * sum(layers) - layers[0]) * sizes["B"] * sizes["T"]


def rate(shape: tuple[int, int, int]) -> float:
    """The most operations per second of a float32 product (m, k) @ (k, n) seen here."""
    m, k, n = shape
    a, b, out = (
        np.ones((m, k), np.float32),
        np.ones((k, n), np.float32),
        np.ones((m, n), np.float32),
    )
    repeats = max(1, int(2e8 / (2 * m * k * n)))
    return 2.0 * m * k * n / min(_each(lambda: np.dot(a, b, out=out), repeats) for _ in range(7))


def _each(call: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=200)
    parser.add_argument("--I", type=int, default=30)
    parser.add_argument("--hidden", type=int, default=64)
    given = parser.parse_args()
    sizes, hidden = {"B": given.B, "T": given.T, "I": given.I}, (given.hidden, given.hidden)
    samples = update_seconds(sizes, hidden)
    peak, thin = rate((1024, 1024, 1024)), rate((given.B, given.hidden, given.hidden))
    needed = operations(sizes, hidden)
    emit(
        what="steady",
        **sizes,
        threads=os.environ.get("OPENBLAS_NUM_THREADS"),
        update_seconds=median(samples),
        least=min(samples),
        us_per_time_step=median(samples) * 1e6 / given.T,
        steps_per_second=given.B * given.T / median(samples),
        gflop=needed / 1e9,
        peak_gflops=peak / 1e9,
        one_step_gflops=thin / 1e9,
        floor_seconds=needed / peak,
        floor_share=needed / peak / min(samples),
    )


if __name__ == "__main__":
    main()
