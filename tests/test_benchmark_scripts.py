"""Benchmarks are run by hand, and nobody would see that one no longer runs: here each does, at its
smallest sizes. What it measures then tells nothing.
"""

from pathlib import Path

import pytest

from tests.benchmarks.measuring import module

SMALLEST = {
    "dqn": "--steps 20 --starts 10 --rounds 1",
    "ends": "--updates 1 --rounds 1 --seeds 0",
    "frugal": "--B 2 --T 3 --rounds 1",
    "functions": "--rounds 1",
    "large": "--B 2 --T 3 --side 2 --block 2 --hidden 2",
    "learned": "--seeds 1 --I 2",
    "live": "--B 2 --T 2 --I 1 --rounds 1",
    "ppo": "--B 4 --I 2 --rounds 1",
    "scan": "--B 2 --T 64 --rounds 1",
    "swap": "--B 2 --T 3 --side 2 --block 2 --rounds 1",
    "tables": "--rows 100 --passes 1 --workers 1 --threads 1 --rounds 1",
    "vectorize": "--B 2 --T 2 --rounds 1",
}
QUICK = {"browser", "drawing", "memory", "native", "start", "steady", "steps"}
"""Those that take longer at any size, which `make bench` runs."""
LONG = {"prediction", "profile"}
"""Those that measure a dozen variants, minutes even so."""
BESIDE = {"peer"}
"""Those that need another project's program."""


def test_all_benchmarks_are_named(repository: Path) -> None:
    folder = repository / "tests" / "benchmarks"
    scripts = {p.stem for p in folder.glob("*.py") if "def main()" in p.read_text("utf-8")}
    scripts |= {p.parent.name for p in folder.glob("*/__main__.py")}
    assert scripts == {*SMALLEST, *QUICK, *LONG, *BESIDE}
    quick = (folder / "test_quick.py").read_text("utf-8")
    assert not [name for name in QUICK if f'"{name}"' not in quick]


@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_runs(name: str) -> None:
    found = module(name, *SMALLEST[name].split(), threads=1)
    assert found
