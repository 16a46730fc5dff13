"""Every float32 through every function of the C run-time, against libm in double.

`python -m tests.codegen.c` prints a JSON line for each function: the largest error in units of the
last place and where it is, how often the result falls where the argument rises, and how often one
number has other bits than a vector. power has two arguments, so pairs are drawn for it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.codegen.c.compiled import NATIVE
from tests.codegen.c.wrappers import FUNCTIONS

ALL = 2**32
PART = 2**26
MOST_ULP = 2.0
SOURCE = Path(__file__).parent / "scanned.c"


class Scan(ctypes.Structure):
    """What scanned.c finds out of a range."""

    _fields_ = (
        ("most", ctypes.c_double),
        ("where", ctypes.c_uint32),
        ("falls", ctypes.c_int64),
        ("differ", ctypes.c_int64),
    )


def scanned(function: Any, past: int, first: int) -> Scan:
    """Scan one part. ctypes lets other threads run meanwhile."""
    scan = Scan()
    function.restype = None
    function(ctypes.c_uint64(first), ctypes.c_uint64(min(first + PART, past)), ctypes.byref(scan))
    return scan


def line_of(library: ctypes.CDLL, name: str, count: int, workers: int) -> dict[str, Any]:
    """Scan so many floats, or pairs of them for power."""
    start = time.time()
    with ThreadPoolExecutor(workers) as pool:
        part = partial(scanned, getattr(library, f"scan_{name}"), count)
        scans = list(pool.map(part, range(0, count, PART)))
    worst = max(scans, key=lambda scan: scan.most)
    line = {
        "date": date.today().isoformat(),
        "function": name,
        "pairs" if name == "power" else "floats": count,
        "ulp": round(worst.most, 4),
        "at": float(np.uint32(worst.where).view(np.float32)),
        "differ": sum(scan.differ for scan in scans),
    }
    if name == "tanh":
        line["falls"] = sum(scan.falls for scan in scans)
    return {**line, "seconds": round(time.time() - start, 1)}


def main() -> int:
    """Scan each function, print, and fail where one is beyond its limits."""
    parser = argparse.ArgumentParser(prog="tests.codegen.c", description=__doc__)
    parser.add_argument("functions", nargs="*", default=[*FUNCTIONS, "power"])
    parser.add_argument("--count", type=int, default=ALL)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", type=Path, help="append the lines that are within the limits")
    given = parser.parse_args()
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        library = NATIVE.library(SOURCE.read_text(encoding="utf-8"), Path(folder))
        for name in given.functions:
            count = given.count // 16 if name == "power" else given.count
            line = line_of(library, name, count, given.workers)
            print(text := json.dumps(line), flush=True)
            bad = line["ulp"] > MOST_ULP or line["differ"] or line.get("falls", 0)
            wrong |= bool(bad)
            if given.record and not bad:
                with given.record.open("a", encoding="utf-8") as file:
                    file.write(f"{text}\n")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
