"""How long a user waits before anything runs: import beyond NumPy's, trace and root schedule.

python -m tests.benchmarks.start
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.benchmarks.measuring import REPOSITORY, emit, interleaved, machine, median

IMPORT = """
import time
import numpy
start = time.perf_counter()
import workbench
print(time.perf_counter() - start)
"""


def import_seconds() -> float:
    """In a fresh process, with NumPy there already."""
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return float(done.stdout)


def trace_seconds() -> float:
    """REINFORCE from its function to a program under its root schedule."""
    from workbench.algorithms import reinforce

    start = time.perf_counter()
    reinforce()
    return time.perf_counter() - start


def compile_seconds() -> float:
    """The program under the automatic recipe to a function: steps, lowering, source."""
    from workbench.algorithms import reinforce
    from workbench.backends import get
    from workbench.variants.variant import optimize, variant

    root = variant(reinforce())
    start = time.perf_counter()
    assert get("numpy").compile(optimize(root).program).source
    return time.perf_counter() - start


def main() -> None:
    ways = {
        "import": import_seconds,
        "trace_and_root_schedule": trace_seconds,
        "recipe_and_lowering": compile_seconds,
    }
    found = interleaved(ways, rounds=5)
    targets = {"import": 0.5, "trace_and_root_schedule": 1.0}
    for name, samples in found.items():
        emit(what=name, seconds=median(samples), samples=samples, target=targets.get(name))
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
