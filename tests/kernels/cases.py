"""The tests of transforms and random steps, with every variant that they run in every way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.native_runs import MATRIX

REPOSITORY = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("recorded.jsonl")
CHECKED = ("check_native", "transforms.order.ordering", "soundness.walks", "test_swapping")
"""What a file of tests names that runs variants as compiled C: the check, or what calls it."""
NO_TESTS = 5
"""How pytest ends where all tests of a file are marked for another time."""


def files() -> Iterator[str]:
    """The files of such tests, within the repository, in the order of names."""
    for path in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if path.parent != Path(__file__).parent and any(name in text for name in CHECKED):
            yield str(path.relative_to(REPOSITORY))


def longest_first() -> list[str]:
    """The same files in the order in which one process after the other takes them, so that none
    runs alone at the end: by their seconds in the last recorded run, new ones first.
    """
    *_, last = RECORDED.read_text(encoding="utf-8").splitlines()
    taken: dict[str, float] = json.loads(last)["seconds"]
    return sorted(files(), key=lambda file: -taken.get(file, float("inf")))


def wrong_of(file: str, compilers: Sequence[str]) -> tuple[int, int, list[str]]:
    """How many variants a file of tests checks, how often they ran, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.jsonl"
        tally.touch()
        asked = json.dumps({"compilers": compilers, "tally": str(tally)})
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file]
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env={**os.environ, MATRIX: asked},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [json.loads(line) for line in tally.read_text(encoding="utf-8").splitlines()]
    wrong = [f"{line['name']}: {text}" for line in lines for text in line["differing"]]
    if done.returncode not in (0, NO_TESTS) and not wrong:
        wrong.append(f"{file} fails:\n{done.stdout[-2000:]}")
    return len(lines), sum(line["runs"] for line in lines), wrong
