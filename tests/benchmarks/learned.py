"""Seconds until PPO has learned CartPole, as a user runs it: those of a fresh process
until the mean of the last hundred episodes reaches 475, with nothing kept from before (`cold`), and
with what the first of these runs kept (`warm`).

    python -m tests.benchmarks.learned --seeds 5
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

from tests.benchmarks.measuring import emit, lines_of, machine, median
from workbench.folders import CACHE_VARIABLE

RETURN, EPISODES = 475.0, 100
REQUIRED = {"cold": 5.5, "warm": 3.0}
SOURCE = """
import json, time
begun = time.perf_counter()
import workbench as wb
from workbench.algorithms import ppo
imported = time.perf_counter()
program = ppo()
traced = time.perf_counter()
result = wb.run(program, sizes={{"I": {updates}}}, seed={seed}, progress=False)
print(json.dumps({{
    "begun": begun, "imported": imported - begun, "traced": traced - imported,
    "ran": time.perf_counter() - traced, "compiled": result.compile_seconds,
    "c": result.compiler.seconds, "seconds": result.seconds, "backend": result.backend,
    "returns": result["episode_return"].tolist(), "episodes": result["episodes"].tolist(),
}}))
"""


def learned(returns: list[float], episodes: list[float]) -> int | None:
    """The first update after which the last hundred episodes had 475 on average; None if none."""
    count, total = np.cumsum(episodes), np.cumsum(np.nan_to_num(returns) * episodes)
    for i in range(len(count)):
        before = int(np.searchsorted(count, count[i] - EPISODES, side="right")) - 1
        first, sum_before = (count[before], total[before]) if before >= 0 else (0.0, 0.0)
        if count[i] >= EPISODES and (total[i] - sum_before) / (count[i] - first) >= RETURN:
            return i
    return None


def run(python: str, seed: int, updates: int, cache: str) -> dict[str, Any]:
    """One process: its seconds until it has learned, and what they were spent on."""
    source = SOURCE.format(seed=seed, updates=updates)
    start = time.perf_counter()  # of the machine, not of the process
    line = lines_of([python, "-c", source], os.cpu_count() or 1, {CACHE_VARIABLE: cache})[-1]
    update = learned(line.pop("returns"), line.pop("episodes"))
    line["begun"] -= start
    if update is None:
        return {**line, "update": None, "learned": None}
    done = line["begun"] + line["imported"] + line["traced"] + line["ran"] - line["seconds"]
    return {**line, "update": update, "learned": done + line["seconds"] * (update + 1) / updates}


def main() -> None:
    """Measure and print."""

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--I", type=int, default=1000, help="updates")
    given = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {"cold": [], "warm": []}
    for seed in range(given.seeds):
        with tempfile.TemporaryDirectory() as cache:
            for lines in found.values():
                lines.append(run(sys.executable, seed, given.I, cache))
    for name, lines in found.items():
        reached = [line["learned"] for line in lines if line["learned"] is not None]
        emit(
            what=f"seconds until PPO has learned CartPole, {name}",
            seconds=median(reached) if len(reached) == len(lines) else None,
            required=REQUIRED[name],
            samples=reached,
            lines=[
                {k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()}
                for line in lines
            ],
        )
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
