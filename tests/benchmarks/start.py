"""How long a user waits before anything runs: import beyond NumPy's, in CPU seconds too, trace and
root schedule; for PPO also with eight hidden layers, unrolled and as a dimension, and until its
first update is done.

python -m tests.benchmarks.start
"""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from typing import Any

from tests.benchmarks.measuring import REPOSITORY, emit, interleaved, machine, median

IMPORT = """
import time
import numpy
start = time.perf_counter()
import workbench
print(time.perf_counter() - start)
"""

FIRST_UPDATE = """
import time
start = time.perf_counter()
import workbench as wb
from workbench.algorithms import ppo
wb.run(ppo(), sizes={"B": 4, "I": 1}, progress=False)
print(time.perf_counter() - start)
"""
DEEP = (64,) * 8


ALONE = """
import resource
before = resource.getrusage(resource.RUSAGE_SELF)
import {module}
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
"""


def import_cpu_seconds(module: str) -> float:
    """Of user and system, in a fresh process."""
    return _printed(ALONE.format(module=module))


def import_seconds() -> float:
    """In a fresh process, with NumPy there already."""
    return _printed(IMPORT)


def first_update_seconds() -> float:
    """PPO at B=4 in a fresh process: from the import to the end of its first update."""
    return _printed(FIRST_UPDATE)


def _printed(source: str) -> float:
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return float(done.stdout)


def trace_seconds() -> float:
    """REINFORCE from its function to a program under its root schedule."""
    from workbench.algorithms import reinforce

    start = time.perf_counter()
    reinforce()
    return time.perf_counter() - start


def ppo_seconds(**arguments: Any) -> float:
    """PPO from its function to a program under its root schedule."""
    from workbench.algorithms import ppo

    start = time.perf_counter()
    ppo(**arguments)
    return time.perf_counter() - start


def compile_seconds() -> float:
    """The program under the automatic recipe to a function: steps, lowering, source."""
    from workbench.algorithms import reinforce
    from workbench.backends import get
    from workbench.variants.variant import optimize, variant

    root = variant(reinforce())
    start = time.perf_counter()
    assert get("numpy").compile(optimize(root, backend="numpy").program).source
    return time.perf_counter() - start


def main() -> None:
    ways = {
        "import": import_seconds,
        "trace_and_root_schedule": trace_seconds,
        "recipe_and_lowering": compile_seconds,
        "ppo_trace_and_root_schedule": ppo_seconds,
        "ppo_8_layers": lambda: ppo_seconds(hidden=DEEP),
        "ppo_8_layers_as_dim": lambda: ppo_seconds(hidden=DEEP, layers="dim"),
        "ppo_first_update": first_update_seconds,
    }
    found = interleaved(ways, rounds=5)
    targets = {
        "import": 0.5,
        "trace_and_root_schedule": 1.0,
        "ppo_trace_and_root_schedule": 1.5,
        "ppo_first_update": 4.0,
    }
    for name, samples in found.items():
        emit(what=name, seconds=median(samples), samples=samples, target=targets.get(name))
    imports = {name: partial(import_cpu_seconds, name) for name in ("numpy", "workbench")}
    taken = {name: min(samples) for name, samples in interleaved(imports, rounds=20).items()}
    beyond = (taken["workbench"] - taken["numpy"]) / taken["numpy"]
    emit(what="import beyond NumPy / import NumPy", of_least=beyond, cpu_seconds=taken, target=3.0)
    for name, target in (("ppo_8_layers", 3.0), ("ppo_8_layers_as_dim", 1.5)):
        of_least = min(found[name]) / min(found["ppo_trace_and_root_schedule"])
        emit(what=f"{name} / ppo_trace_and_root_schedule", of_least=of_least, target=target)
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
