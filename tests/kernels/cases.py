"""The tests of transforms and random steps, with every variant that they run in every way, and the
tests that are marked `kernels`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.kernels.builds import Build
from tests.native_runs import DTYPES, MATRIX, compiled
from tests.programs import leaky_sum
from workbench.backends.compiling import cache

REPOSITORY = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("recorded.jsonl")
CHECKED = ("check_native", "transforms.order.ordering", "soundness.walks", "test_swapping")
"""What a file of tests names that runs variants as compiled C: the check, or what calls it."""
MARK = "pytest.mark.kernels"
NO_TESTS = 5
"""How pytest ends where all tests of a file are marked for another time."""


def files() -> Iterator[str]:
    """The files of such tests, within the repository, in the order of names."""
    return _naming(*CHECKED)


def marked() -> Iterator[str]:
    """The files with tests that only `make kernels` runs."""
    return _naming(MARK)


def _naming(*names: str) -> Iterator[str]:
    for path in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if path.parent != Path(__file__).parent and any(name in text for name in names):
            yield str(path.relative_to(REPOSITORY))


def longest_first() -> list[str]:
    """The same files in the order in which one process after the other takes them, so that none
    runs alone at the end: by their seconds in the last recorded run of each, new ones first.
    """
    taken: dict[str, float] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        taken |= json.loads(line).get("seconds", {})
    return sorted(files(), key=lambda file: -taken.get(file, float("inf")))


def wrong_of(file: str, compilers: Sequence[str]) -> tuple[int, int, list[str]]:
    """How many variants a file of tests checks, how often they ran, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.jsonl"
        tally.touch()
        asked = json.dumps({"compilers": compilers, "tally": str(tally)})
        done = _run(file, {MATRIX: asked})
        lines = [json.loads(line) for line in tally.read_text(encoding="utf-8").splitlines()]
    wrong = [f"{line['name']}: {text}" for line in lines for text in line["differing"]]
    if done.returncode not in (0, NO_TESTS) and not wrong:
        wrong.append(f"{file} fails:\n{done.stdout[-2000:]}")
    return len(lines), sum(line["runs"] for line in lines), wrong


def known_units(builds: Sequence[Build]) -> Path:
    """Compile a small program in all these ways; return the folder of its units, among which are
    those of the run-time.
    """
    program = leaky_sum()
    for build in builds:
        made = compiled(program, build)
        for dtype in DTYPES:
            made.prepare(dtype)
    return cache.folder() / cache.OBJECTS


def failing_of(file: str) -> tuple[int, list[str]]:
    """The number of marked tests of a file that pass, and what fails."""
    done = _run(file, {}, "-m", "kernels")
    passed = re.search(r"(\d+) passed", done.stdout)
    wrong = [f"{file} fails:\n{done.stdout[-2000:]}"] if done.returncode else []
    return int(passed[1]) if passed else 0, wrong


def _run(file: str, more: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, file]
    return subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
