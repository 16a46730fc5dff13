"""Many random programs: `python -m tests.soundness.random_programs`. Prints a JSON
line, and each program that is wrong.

Program n of a kind is decided by its kind, n and --seed alone, so that a finding can be repeated:
`--kind episodes --first n --count 1`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from tests.soundness.provenance import provenance
from tests.soundness.random_programs.kinds import KINDS, wrong

COUNTS = {"episodes": 300, "in place": 300, "reads": 300, "pairs": 2000, "parts": 200}
"""The programs of each kind: a pair needs no compiler, a run in parts needs several."""


def judged(kind: str, seed: int, number: int) -> str | None:
    """The fault of a program; None where it has none."""
    with np.errstate(all="ignore"):
        return wrong(kind, number, seed)


def main() -> int:
    """Hold so many programs to what they mean, print, and fail where one was wrong."""
    parser = argparse.ArgumentParser(prog="tests.soundness.random_programs", description=__doc__)
    parser.add_argument("--count", type=int, help="of each kind, instead of the usual numbers")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", type=Path, help="append the line, where nothing was wrong")
    given = parser.parse_args()
    counts = {kind: given.count or COUNTS[kind] for kind in given.kind or KINDS}
    start, findings = time.time(), 0
    with ProcessPoolExecutor(given.workers) as pool:
        for kind, count in counts.items():
            numbers = range(given.first, given.first + count)
            for found in pool.map(partial(judged, kind, given.seed), numbers, chunksize=4):
                if found is not None:
                    findings += 1
                    print(f"WRONG {found}\n", file=sys.stderr, flush=True)
    line = json.dumps(
        {
            **provenance(),
            "random programs": counts,
            "seed": given.seed,
            "first": given.first,
            "wrong": findings,
            "seconds": round(time.time() - start, 1),
        }
    )
    print(line)
    if given.record and not findings:
        with given.record.open("a") as file:
            file.write(f"{line}\n")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
