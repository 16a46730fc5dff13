"""Numbers a second that the C run-time computes on one core: functions, draws, permutations.

Arrays lie in the first cache; permutations have 65,536 elements.

    python -m tests.benchmarks.functions --rounds 9
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from tests.benchmarks.measuring import emit, interleaved, machine
from tests.codegen.c.compiled import NATIVE, call
from tests.codegen.c.wrappers import FUNCTIONS

POINTS, TIMES, ELEMENTS = 4096, 2000, 65_536

REPEATED = """
void {name}_repeated(const float *x, float *out, int64_t n, int64_t times) {{
    for (int64_t time = 0; time < times; time++) {{
        for (int64_t i = 0; i < n; i += LANES)
            store_vf(out + i, {call});
        __asm__ volatile("" : : "r"(out) : "memory");
    }}
}}
"""
DRAWN = """
int64_t lane_count(void) { return LANES; }
void draw(int32_t *order, float *uniform, uint32_t *scratch, int64_t n, int64_t what) {
    uint32_t x[2] = {3, 4};
    if (what == 0) permutation(0, order, n, 1, 2, 2, x, scratch);
    if (what == 1) fill_uniform_f(uniform, n, 1, 2, 2, x);
    if (what == 2) fill_normal_f(uniform, n, 1, 2, 2, x);
}
"""
CALLS = {name: f"{name}_vf(load_vf(x + i))" for name in FUNCTIONS} | {
    "power": "power_vf(load_vf(x + i), all_vf(1.7f))"
}
DRAWS = ("permutation", "uniform", "normal")


def seconds(work: Callable[[], None]) -> float:
    """Time a call by this process's clock, which other processes do not move."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.benchmarks.functions", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    source = '#include "permutation.h"\n' + DRAWN
    source += "".join(REPEATED.format(name=name, call=text) for name, text in CALLS.items())
    with tempfile.TemporaryDirectory() as folder:
        library = NATIVE.library(source, Path(folder))
    x = np.linspace(0.01, 8, POINTS, dtype=np.float32)
    out, uniform = np.empty_like(x), np.empty(ELEMENTS, np.float32)
    order, scratch = np.empty(ELEMENTS, np.int32), np.empty(3 * ELEMENTS, np.uint32)
    ways = {
        name: partial(call, getattr(library, f"{name}_repeated"), x, out, POINTS, TIMES)
        for name in CALLS
    } | {
        name: partial(call, library.draw, order, uniform, scratch, ELEMENTS, k)
        for k, name in enumerate(DRAWS)
    }
    timed = {name: partial(seconds, way) for name, way in ways.items()}
    for name, samples in interleaved(timed, given.rounds).items():
        count = ELEMENTS if name in DRAWS else POINTS * TIMES
        fastest = count / min(samples) / 1e9
        lanes = ctypes.c_int64(library.lane_count()).value
        emit(what=name, billions_per_second=fastest, lanes=lanes, **machine())


if __name__ == "__main__":
    main()
