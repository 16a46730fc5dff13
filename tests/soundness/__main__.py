"""Many random walks: `python -m tests.soundness --seconds 600`. Prints a JSON line, and what was
wrong.

Walk n of a program is decided by its name, n and --seed alone, so that a finding can be repeated:
`--program NAME --first n --walks 1`. Every program gets as much time as any other, so that the
smallest take most of the steps.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.programs import PROGRAMS
from tests.soundness.programs import (
    OF_DATA,
    OF_ENDS,
    OF_REPLAY,
    OF_SYSTEMS,
    OF_TABLES,
    OF_WINDOWS,
    all_sizes,
    program_called,
)
from tests.soundness.proposals import Dice, often
from tests.soundness.provenance import provenance
from tests.soundness.walks import Meaning, Tally, walk
from workbench.algorithms import ALGORITHMS
from workbench.transforms.step.transform import REGISTRY

LENGTH = 8
KINDS: dict[str, Collection[str]] = {
    "small": PROGRAMS,
    "data": OF_DATA,
    "windows": OF_WINDOWS,
    "ends": OF_ENDS,
    "systems": OF_SYSTEMS,
    "tables": OF_TABLES,
    "replay": OF_REPLAY,
    "algorithms": ALGORITHMS,
}
"""The programs of each kind."""
PART = 20.0
"""Seconds that one program is walked at a time."""
MOST = 10_000
"""Walks that there are at most in that time."""


@cache
def meanings(name: str) -> list[Meaning]:
    """A program at each of the sizes it is tried at."""
    return [Meaning(name, program_called(name), sizes) for sizes in all_sizes(name)]


@dataclass(frozen=True)
class Task:
    """Walks of one program, numbered from `first` on: `count` of them, or as many as there is time
    for.
    """

    program: str
    seed: int
    first: int
    count: int
    transforms: tuple[str, ...]
    until: float


def walks(task: Task) -> Tally:
    """What the walks of a task meet with."""
    np.seterr(all="ignore")
    tally, options = Tally(), meanings(task.program)
    until = min(task.until, time.time() + PART)
    for number in range(task.first, task.first + task.count):
        if time.time() > until:
            break
        dice = Dice(f"{task.program} {task.seed} {number}")
        found = walk(dice.choose(options), dice, task.transforms, LENGTH)
        for wrong in found.wrong:
            print(f"WRONG walk {number}: {wrong}\n", file=sys.stderr, flush=True)
        tally.add(found)
    return tally


def arguments() -> argparse.Namespace:
    """What the command was called with."""
    parser = argparse.ArgumentParser(prog="tests.soundness", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="accepted steps to reach")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--programs", choices=list(KINDS), default="small")
    parser.add_argument("--program", action="append", help="only these")
    parser.add_argument("--transform", action="append", help="only these")
    parser.add_argument("--having", help="propose this one often; count variants that have it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--walks", type=int, default=0, help="exactly so many of each program")
    parser.add_argument("--record", type=Path, help="append the line, where all steps were reached")
    return parser.parse_args()


def main() -> int:
    """Walk, print, and fail if anything was wrong or there were too few steps."""
    given = arguments()
    names = given.program or list(KINDS[given.programs])
    transforms = often(given.transform or sorted(REGISTRY), given.having)
    start, tally = time.time(), Tally()
    until = start + given.seconds
    following = dict.fromkeys(names, given.first)
    used = dict.fromkeys(names, 0.0)
    running: dict[Future[Tally], tuple[str, float]] = {}

    def accepted() -> int:
        return tally.having[given.having] if given.having else sum(tally.accepted.values())

    def more() -> bool:
        if given.walks:
            return any(following[n] == given.first for n in names)
        return accepted() < given.steps and time.time() < until

    with ProcessPoolExecutor(given.workers) as pool:
        while running or more():
            while more() and len(running) < given.workers:
                name = min(names, key=lambda n: used[n])
                count = given.walks or MOST
                task = Task(name, given.seed, following[name], count, transforms, until)
                following[name] += count
                used[name] += PART
                running[pool.submit(walks, task)] = name, time.time()
            for one in wait(running, return_when=FIRST_COMPLETED).done:
                name, since = running.pop(one)
                used[name] += time.time() - since - PART
                tally.add(one.result())
    line = json.dumps(report(tally, names, time.time() - start, given.seed))
    print(line)
    reached = accepted() >= given.steps
    if given.record and reached and not tally.wrong:
        with given.record.open("a") as file:
            file.write(f"{line}\n")
    return bool(tally.wrong) or not (reached or given.walks)


def report(tally: Tally, names: list[str], seconds: float, seed: int) -> dict[str, Any]:
    """The tally as plain values."""
    return {
        **provenance(),
        "programs": names,
        "seed": seed,
        "accepted": sum(tally.accepted.values()),
        "wrong": len(tally.wrong),
        "by transform": dict(sorted(tally.accepted.items())),
        "of variants that have": dict(sorted(tally.having.items())),
        "refused": dict(sorted(tally.refused.items())),
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
