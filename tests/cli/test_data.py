"""`--data NAME=FILE`: rows of a user's program on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.calling import Call

FILE = '''
import workbench as wb


@wb.program
def total(W=2, K=4):
    """The sum of each worker's rows."""
    w, k = wb.dims(w=W, k=K)
    log = wb.data("log", {"x": ("float", ())}, over=(w, k), bounds={"x": (0, 100)})
    return {"sum": log["x"].sum(over=k)}
'''
QUIET = ["--backend", "numpy", "--no-progress", "--as-written"]


@pytest.fixture
def total(tmp_path: Path) -> list[str]:
    """The words that name the program and its rows, 0 to 11."""
    (tmp_path / "total.py").write_text(FILE, encoding="utf-8")
    np.savez(tmp_path / "log.npz", x=np.arange(12.0))
    return [f"{tmp_path}/total.py:total", "--data", f"log={tmp_path}/log.npz"]


@pytest.mark.parametrize(
    ("sizes", "sums"),
    [
        ([], [15.0, 51.0]),
        (["--W", "3"], [6.0, 22.0, 38.0]),
        (["--K", "4"], [6.0, 22.0, 38.0]),
        (["--K", "4", "--W=2"], [6.0, 22.0]),
    ],
)
def test_sizes_that_are_not_given_follow_from_the_rows(
    workbench: Call, tmp_path: Path, total: list[str], sizes: list[str], sums: list[float]
) -> None:
    path = tmp_path / "results.json"
    done = workbench("run", *total, *sizes, *QUIET, "--output", path)
    assert (done.code, done.err) == (0, "")
    assert json.loads(path.read_text(encoding="utf-8"))["outputs"]["sum"]["values"] == sums


def test_comparisons_recipes_and_profiles_take_rows(workbench: Call, total: list[str]) -> None:
    given = ["--backend", "numpy"]
    compared = workbench("compare", *total, *given, "--repeats", "1", "--no-progress", "--json")
    (data,) = json.loads(compared.out)["measurements"][0]["data"]
    assert (data["name"], data["rows"]) == ("log", 12)
    planned = workbench("optimize", *total, *given)
    assert planned.out.startswith("total: W=2, K=6; on numpy")
    profiled = workbench("profile", *total, *given, "--as-written", "--no-progress")
    assert "W=2, K=6" in profiled.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--data", "log"], "--data: expected NAME=FILE, found 'log'"),
        (["--data", "log=none.npz"], "data 'log': there is no file none.npz"),
        (["--data", "lag=none.npz"], "total has no data set 'lag': did you mean log?"),
        (["--data", "log=a.npz", "--data", "log=b.npz"], "log is a.npz already"),
        ([], "total reads the data set 'log', which is not given"),
    ],
)
def test_rows_refused(workbench: Call, total: list[str], words: list[str], sentence: str) -> None:
    done = workbench("run", total[0], *words, *QUIET)
    assert done.code == 2
    assert sentence in done.err
