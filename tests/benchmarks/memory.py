"""The tracked peak of a run against what tracemalloc sees NumPy hold, and the computed peak.

python -m tests.benchmarks.memory --B 64 --T 200 --I 3
"""

from __future__ import annotations

import argparse
import tracemalloc

import numpy as np

from tests.benchmarks.measuring import emit
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.backends.protocol import Compiled, Execution
from workbench.program.sizes import resolve
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant, optimize, variant


def numpy_peak(compiled: Compiled, sizes: dict[str, int], dtype: str) -> tuple[Execution, int]:
    """A run, and the most bytes that NumPy's arrays held in it.

    tracemalloc's peak is of Python's objects and NumPy's arrays together, so a first run finds out
    how much of it is Python's: what is held besides arrays when the last update ends.
    """
    seen: list[int] = []
    compiled.run(sizes, dtype=dtype)  # caches are full and the source is compiled after this
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    compiled.run(sizes, dtype=dtype, on_progress=lambda *_: seen.append(_python_bytes()))
    besides = seen[-1] - start
    del seen[:]
    tracemalloc.stop()
    tracemalloc.start()
    note = lambda *_: seen.append(tracemalloc.get_traced_memory()[1])  # noqa: E731
    done = compiled.run(sizes, dtype=dtype, on_progress=note)
    tracemalloc.stop()
    return done, seen[-1] - max(0, besides)


def _python_bytes() -> int:
    """What is held and is no array: NumPy reports its arrays in a domain of their own."""
    held = tracemalloc.get_traced_memory()[0]
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    traces = tracemalloc.take_snapshot().filter_traces([arrays]).traces
    return held - sum(trace.size for trace in traces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=200)
    parser.add_argument("--I", type=int, default=3)
    given = parser.parse_args()
    large = {"B": given.B, "T": given.T, "I": given.I}
    root = variant(reinforce())
    cases: list[tuple[str, Variant, dict[str, int]]] = [
        ("as written", root, {"B": 8, "T": 100, "I": 1}),
        ("vectorized over b", root.apply(Vectorize("b")), large),
        ("automatic recipe", optimize(root, backend="numpy"), large),
    ]
    for name, chosen, sizes in cases:
        compiled = get("numpy").compile(chosen.program)
        for dtype in ("float32", "float64"):
            done, seen = numpy_peak(compiled, sizes, dtype)
            known = resolve(chosen.program.equations, sizes)
            computed = max(point.bytes for point in compiled.loop_program.timeline(known, dtype))
            emit(
                what=f"memory, {name}",
                **sizes,
                dtype=dtype,
                tracked=done.peak_bytes,
                computed=computed,
                equal=done.peak_bytes == computed,
                numpy_peak=seen,
                tracked_share=done.peak_bytes / seen,
                target=0.95,
            )


if __name__ == "__main__":
    main()
