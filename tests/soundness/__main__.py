"""Many random walks: `python -m tests.soundness --seconds 600`. Prints a JSON line, and what was
wrong.

Walk n of a program is decided by its name, n and --seed alone, so that a finding can be repeated:
`--program NAME --first n --walks 1`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np

from tests.programs import PROGRAMS
from tests.soundness.proposals import Dice
from tests.soundness.walks import Meaning, Tally, walk
from workbench.algorithms import ALGORITHMS
from workbench.transforms.base import REGISTRY

LENGTH = 8
ALGORITHM_SIZES = {"B": 2, "I": 2, "T": 5, "hidden": (3,)}
FEW = {"ppo": {"E": 2, "M": 2}}


@cache
def meanings(name: str) -> list[Meaning]:
    """A program at each of the sizes it is tried at."""
    if name in PROGRAMS:
        template, all_sizes = PROGRAMS[name]
        return [Meaning(name, template(), sizes) for sizes in all_sizes]
    return [Meaning(name, ALGORITHMS[name](**ALGORITHM_SIZES | FEW.get(name, {})), {})]


def walks(
    name: str, seed: int, first: int, count: int, transforms: list[str], until: float
) -> Tally:
    """So many walks of a program, or as many as there is time for."""
    np.seterr(all="ignore")
    tally, options = Tally(), meanings(name)
    for number in range(first, first + count):
        if time.time() > until:
            break
        dice = Dice(f"{name} {seed} {number}")
        found = walk(dice.choose(options), dice, transforms, LENGTH)
        for wrong in found.wrong:
            print(f"WRONG walk {number}: {wrong}\n", file=sys.stderr, flush=True)
        tally.add(found)
    return tally


def main() -> int:
    """Walk, print, and fail if anything was wrong."""
    parser = argparse.ArgumentParser(prog="tests.soundness", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="accepted steps to reach")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--programs", choices=["small", "algorithms"], default="small")
    parser.add_argument("--program", action="append", help="only these")
    parser.add_argument("--transform", action="append", help="only these")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--walks", type=int, default=0, help="exactly so many of each program")
    given = parser.parse_args()
    names = given.program or (list(PROGRAMS) if given.programs == "small" else list(ALGORITHMS))
    transforms = given.transform or sorted(REGISTRY)
    start, tally = time.time(), Tally()
    until, part = start + given.seconds, given.walks or 5
    tasks: Iterator[Any] = (
        (name, given.seed, first, part, transforms, until)
        for first in itertools.count(given.first, part)
        for name in names
    )
    if given.walks:
        tasks = itertools.islice(tasks, len(names))
    with ProcessPoolExecutor(given.workers) as pool:
        running = {pool.submit(walks, *task) for task in itertools.islice(tasks, 2 * given.workers)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for one in finished:
                tally.add(one.result())
            if sum(tally.accepted.values()) < given.steps and time.time() < until:
                following = itertools.islice(tasks, len(finished))
                running |= {pool.submit(walks, *task) for task in following}
    print(json.dumps(report(tally, names, time.time() - start, given.seed)))
    return bool(tally.wrong)


def report(tally: Tally, names: list[str], seconds: float, seed: int) -> dict[str, Any]:
    """The tally as plain values."""
    return {
        "programs": names,
        "seed": seed,
        "accepted": sum(tally.accepted.values()),
        "wrong": len(tally.wrong),
        "by transform": dict(sorted(tally.accepted.items())),
        "refused": dict(sorted(tally.refused.items())),
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
