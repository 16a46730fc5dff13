"""Kernels in every way: `python -m tests.kernels`. Prints what is wrong, and a JSON line.

Six kinds of tasks. Files of tests, whose variants all run: in each dtype, at three lengths of
what is in lanes, each by every third compiler and processor that this machine can stand in for.
Whole programs, which have the same float32 bits by every compiler, at each level, for each
processor. The same programs as kernels of a GPU, run as fibres, and compiled for each architecture.
Tests that are marked `kernels`: cases for which `make test` has no time. PPO's curve beside
NumPy's. The memory that PPO's kernels of a GPU ask for, in sectors.

With --kept FILE what is done is written there, and a later call at the same commit goes on. With
--part KIND it is the tasks of that kind alone, whose line says so: lines of all parts are a whole,
of the commits that they name. At the end the last line of each part is told.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from tests.homes import KNOWN
from tests.kernels import cases, curves, gpu, programs, sectors
from tests.kernels.builds import Build, compilers, marches, of_cases, of_programs
from tests.native_runs import DTYPES
from workbench.backends.cuda.building import nvrtc
from workbench.errors import CompilerError
from workbench.folders import CACHE_VARIABLE
from workbench.processor import processor

KINDS = ("tests", "program", "gpu", "marked", "curve", "sectors")
WHOLE = "whole"
QUICK = programs.Whole("reinforce", "Trivial", "in blocks")
QUICK_CURVE = {"updates": 3, "piece": 2, "seeds": (0,), "T": 32, "hidden": (8,)}


@dataclass(frozen=True)
class Task:
    """The work of one process at a time. `name` is a file, a whole program or a dtype; marked tests
    are those of a file that has others too.
    """

    kind: str
    name: str
    whole: programs.Whole | None = None
    file: str = ""


@dataclass(frozen=True)
class Done:
    """A task's cases, how often they ran, what is wrong, what is spilled, and more to be said."""

    name: str
    kind: str
    cases: int
    runs: int
    wrong: list[str]
    seconds: float
    spilled: list[str] = field(default_factory=list)
    more: Mapping[str, Any] = field(default_factory=dict)


def tasks() -> Iterator[Task]:
    """All of them, the longest first: at the end short ones make up for what is left."""
    yield from (Task("curve", dtype) for dtype in DTYPES)
    yield from (Task("tests", file) for file in cases.longest_first())
    yield from (Task("program", str(whole), whole) for whole in programs.everything())
    yield from (Task("gpu", f"{whole} on a GPU", whole) for whole in programs.everything())
    yield Task("sectors", "sectors of ppo on a GPU")
    yield from (Task("marked", f"{file} marked", file=file) for file in cases.marked())


def done(task: Task, named: Sequence[str], quick: bool = False) -> Done:
    """Do a task; with `quick` in few ways, of small programs."""
    start = time.time()
    count, spilled, more = 1, list[str](), {}
    if task.kind == "tests":
        count, runs, wrong = cases.wrong_of(task.name, named)
    elif task.kind == "marked":
        runs, wrong = cases.failing_of(task.file)
    elif task.kind == "gpu":
        assert task.whole is not None
        runs, (wrong, spilled, more) = 1, gpu.wrong_of(task.whole, quick)
    elif task.kind == "sectors":
        runs, more = 1, sectors.figures(sectors.SIZES)
        wrong = more.pop("wrong")
    elif task.whole is not None:
        builds = [Build(named[0], 1, march) for march in marches()[-2:]]
        runs, wrong = (
            programs.wrong_of(task.whole, builds, {"B": 5, "I": 1, "T": 3}, hidden=(3,))
            if quick
            else programs.wrong_of(task.whole, of_programs(named))
        )
    else:
        more = curves.line_of(task.name, **(QUICK_CURVE if quick else {}))
        runs, wrong = more["updates"], more.pop("wrong")
    wrong, spilled = ([f"{task.name}: {text}" for text in all] for all in (wrong, spilled))
    seconds = round(time.time() - start, 1)
    return Done(task.name, task.kind, count, runs, wrong, seconds, spilled, more)


def attempted(task: Task, named: Sequence[str], quick: bool) -> Done | None:
    """Do a task; None where a compiler did not end, as on a busy machine: the others go on, and a
    later call does this one.
    """
    try:
        return done(task, named, quick)
    except CompilerError as error:
        print(f"NOT DONE {task.name}: {error}\n", file=sys.stderr, flush=True)
        return None


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """What the command was called with."""
    parser = argparse.ArgumentParser(prog="tests.kernels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two small tasks: does it work")
    parser.add_argument("--only", help="tasks whose name holds this")
    parser.add_argument("--part", choices=KINDS, help="tasks of this kind")
    parser.add_argument("--compiler", action="append", help="as CC names it; all that are found")
    parser.add_argument("--seconds", type=float, default=7200.0, help="begin no task after these")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="the file of what is done")
    parser.add_argument(
        "--record", type=Path, help="append the line, where all is done and no value differs"
    )
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Do what is left, print, and fail if anything is wrong or not done."""
    given = arguments(words)
    named = given.compiler or list(compilers())
    found, left = known(given.kept), list(tasks())
    if given.quick:
        left = [
            Task("program", str(QUICK), QUICK),
            Task("gpu", f"{QUICK} on a GPU", QUICK),
            Task("curve", "float64"),
        ]
    if given.only:
        left = [task for task in left if given.only in task.name]
    if given.part:
        left = [task for task in left if task.kind == given.part]
        found = [one for one in found if one.kind == given.part]
    names = {one.name for one in found}
    left = [task for task in left if task.name not in names]
    until = time.time() + given.seconds
    with tempfile.TemporaryDirectory() as folder:
        # Nothing of the user's, nothing for later; units lie beside it, since tests keep out of it.
        os.environ.setdefault(CACHE_VARIABLE, str(Path(folder, "cache")))
        if any(task.kind == "tests" for task in left):
            units = Path(folder, "units")
            shutil.copytree(cases.known_units(of_cases(named)), units)
            os.environ[KNOWN] = str(units)
        for one in worked(left, named, given.workers, until, given.quick):
            found.append(one)
            keep(given.kept, one)
            print(f"{one.kind} {one.name}: {one.runs} runs, {one.seconds:.0f} s", flush=True)
            for what, texts in (("WRONG", one.wrong), ("SPILLED", one.spilled)):
                for text in texts:
                    print(f"{what} {text}\n", file=sys.stderr, flush=True)
    missing = len(left) - sum(one.name in {task.name for task in left} for one in found)
    line = json.dumps(report(found, named, given.part or WHOLE))
    print(line)
    wrong, spilled = (any(of) for of in ([d.wrong for d in found], [d.spilled for d in found]))
    if missing:
        print(f"{missing} tasks are not done", file=sys.stderr)
    elif given.record and not wrong and not given.only:
        with given.record.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        lines = given.record.read_text(encoding="utf-8").splitlines()
        for part, last in last_of_parts(map(json.loads, lines)).items():
            print(f"{part}: {last['date']} at {last['commit'][:8]}" if last else f"{part}: never")
    return bool(wrong or spilled or missing)


def worked(
    left: Sequence[Task], named: Sequence[str], workers: int, until: float, quick: bool
) -> Iterator[Done]:
    """What comes of the tasks, as it comes."""
    if workers == 1:
        ran = (attempted(task, named, quick) for task in left if time.time() < until)
        yield from (one for one in ran if one is not None)
        return
    waiting, running = list(left)[::-1], set[Future[Done | None]]()
    with ProcessPoolExecutor(workers) as pool:
        while running or (waiting and time.time() < until):
            while waiting and len(running) < workers and time.time() < until:
                running.add(pool.submit(attempted, waiting.pop(), named, quick))
            ended = wait(running, return_when=FIRST_COMPLETED)
            running = set(ended.not_done)
            results = (one.result() for one in ended.done)
            yield from (one for one in results if one is not None)


def commit() -> str:
    """The commit that is checked out."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def known(kept: Path | None) -> list[Done]:
    """What was done at this commit before."""
    if kept is None or not kept.is_file():
        return []
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    return [Done(**line["done"]) for line in lines if line["commit"] == commit()]


def keep(kept: Path | None, one: Done) -> None:
    """Write down what is done."""
    if kept is not None:
        with kept.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps({'commit': commit(), 'done': asdict(one)})}\n")


def last_of_parts(lines: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any] | None]:
    """The last line of each kind of task: its own, or that of a run of all of them."""
    last: dict[str, Mapping[str, Any] | None] = dict.fromkeys(KINDS)
    for line in lines:
        part = line.get("part", WHOLE)
        last |= dict.fromkeys(KINDS if part == WHOLE else (part,), line)
    return last


def report(found: Sequence[Done], named: Sequence[str], part: str) -> dict[str, Any]:
    """The line to record: whole programs whose bits are the same have no exceptions."""
    of = {kind: [one for one in found if one.kind == kind] for kind in KINDS}
    return {
        "date": date.today().isoformat(),
        "commit": commit(),
        "part": part,
        "processor": processor(),
        "compilers": [str(Build(name).found()) for name in named],
        "processors": list(marches()),
        "cases": sum(one.cases for one in of["tests"]),
        "programs": len(of["program"]),
        "runs": sum(one.runs for kind in KINDS if kind != "curve" for one in of[kind]),
        "differing": sum(len(one.wrong) for one in found),
        "spilled": [text for one in found for text in one.spilled],
        "curves": [one.more for one in of["curve"]],
        "nvrtc": nvrtc.release(),
        "sectors": [one.more for one in of["sectors"]],
        "on a GPU": {one.name.removesuffix(" on a GPU"): one.more for one in of["gpu"]},
        "minutes of one process": round(sum(one.seconds for one in found) / 60, 1),
        "seconds": {one.name: one.seconds for one in found},
    }


if __name__ == "__main__":
    sys.exit(main())
