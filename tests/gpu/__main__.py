"""All that only a GPU can tell, part by part: `python -m tests.gpu`, which `make gpu` runs.

Prints a JSON line for each thing that was tried; --record FILE appends it too. Ends with 1 where
something is wrong. A part takes at most eight minutes. --rehearse runs a few small ones as fibres.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from tests.gpu import benchmarks, functions, programs
from tests.gpu.devices import GPU, REHEARSED, Asked, name_of, release_of

Part = Callable[[Asked], Iterator[dict[str, Any]]]

TOOLS = ("memcheck", "racecheck")


def sanitized(asked: Asked) -> Iterator[dict[str, Any]]:
    """A few programs under compute-sanitizer, where it is installed."""
    tool = shutil.which("compute-sanitizer")
    if tool is None or asked.where == REHEARSED:
        yield {"sanitizer": "none", "wrong": []}
        return
    for check in filter(asked.wants, TOOLS):
        watching = [tool, "--tool", check, "--error-exitcode", "9"]
        command = [*watching, sys.executable, "-m", "tests.gpu", "programs", "--few"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wrong = [done.stdout[-2000:]] if done.returncode else []
        yield {"sanitizer": check, "wrong": wrong}


PARTS: dict[str, Part] = {
    "programs": programs.checked,
    "functions": functions.checked,
    "sanitizer": sanitized,
    "losses": benchmarks.same_losses,
    "ppo": benchmarks.of_ppo,
    "profile": benchmarks.by_kernel,
    "steps": benchmarks.of_steps,
    "large": benchmarks.of_large,
}


def main(words: Sequence[str] | None = None) -> int:
    """Try what is asked for; print, and fail if anything is wrong."""
    parser = argparse.ArgumentParser(prog="tests.gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all")
    parser.add_argument("--rehearse", action="store_true", help="as fibres, a few small ones")
    parser.add_argument("--few", action="store_true", help="a few small ones")
    parser.add_argument("--only", nargs="+", default=[], help="those with a word in their name")
    parser.add_argument("--record", type=Path, help="append the lines")
    given = parser.parse_args(words)
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    where = REHEARSED if given.rehearse else GPU
    about = {"device": name_of(where), "driver": release_of(where)}
    about["date"] = date.today().isoformat()
    asked = Asked(where, given.few or given.rehearse, tuple(given.only))
    failed = 0
    for name in given.parts or PARTS:
        for found in PARTS[name](asked):
            line = json.dumps({"part": name, **about, **found})
            print(line, flush=True)
            failed += bool(found.get("wrong"))
            if given.record is not None:
                with given.record.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
