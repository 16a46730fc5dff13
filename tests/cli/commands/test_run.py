"""`workbench run`: its table, its files, its order."""

import csv
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.cli.calling import SMALL, Call, printed
from tests.native_runs import shared_cache
from workbench.algorithms import reinforce
from workbench.cli import results
from workbench.transforms import Vectorize
from workbench.transforms.step.transform import Transform

QUIET = ["--backend", "numpy", "--no-progress", "--as-written"]
"""What is printed and written is so in any order; to search for one takes longer than to run."""


@cache
def small() -> wb.Program:
    """What the words of `SMALL` ask for."""
    return reinforce(B=3, I=2, T=5, hidden=(4,))


@cache
def automatic() -> tuple[Transform, ...]:
    return wb.optimize(small(), backend="numpy").steps


def test_run_prints_first_last_and_best_of_each_output() -> None:
    done = printed("run", "reinforce", *SMALL)
    assert done.code == 0
    assert done.err == ""
    head, _, columns, *rows = done.out.splitlines()
    assert head.startswith("reinforce on numpy: B=3, I=2, T=5, seed 0, float32; Vectorize(")
    assert columns.split() == ["first", "last", "best"]
    assert "episode_return" in [row.split()[0] for row in rows if row]
    assert "steps/s" in rows[-1]
    assert "peak" in rows[-1]


def test_run_prints_the_mean_of_several_values_and_that_no_episode_ended(
    workbench: Call, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    sizes = ["--B", "2", "--I", "2", "--T", "3", "--E", "1", "--M", "2", "--hidden", "4"]
    done = workbench("run", "ppo", *sizes, "--environment", "Pendulum", *QUIET, "--output", path)
    rows = {row.split("  ")[0]: row for row in done.out.splitlines()}
    assert rows["episode_return"].count("no episode ended") == 2
    assert "nan" not in rows["episode_return"]
    losses = json.loads(path.read_text(encoding="utf-8"))["outputs"]["loss"]["values"]
    means = [f"{np.mean(values):.4g}" for values in losses]
    assert rows["loss, mean of 1×2"].split()[-2:] == means


def test_run_prints_what_an_episode_returned() -> None:
    done = printed("run", "reinforce", *SMALL)
    (row,) = (row for row in done.out.splitlines() if row.startswith("episode_return"))
    assert [float(x) for x in row.split()[1:3]]


def test_run_shows_progress_unless_told_not_to() -> None:
    assert "2/2" in printed("run", "reinforce", *SMALL[:-1], "--as-written").err
    assert printed("run", "reinforce", *SMALL, "--as-written").err == ""


@pytest.mark.usefixtures("default_backend")
def test_run_takes_compiled_c_where_there_is_a_compiler(workbench: Call, users_file: Path) -> None:
    with shared_cache():
        done = workbench("run", users_file, "--as-written", "--threads", "1", "--no-progress")
    assert done.out.startswith("walk on native: ")


@pytest.mark.parametrize(
    ("options", "dims"),
    [([], None), (["--as-written"], []), (["--vectorized", "b"], ["b"]), (["--automatic"], None)],
)
def test_run_in_the_order_asked_for(options: list[str], dims: list[str] | None) -> None:
    steps = automatic() if dims is None else [Vectorize(dim) for dim in dims]
    head = printed("run", "reinforce", *SMALL, *options).out.splitlines()[0]
    assert head.endswith(f"; {', '.join(map(str, steps)) or 'as written'}")


def test_run_writes_csv(workbench: Call, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    done = workbench("run", "reinforce", *SMALL, "--as-written", "--output", path)
    assert f"written to {path}" in done.out
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["i"] for row in rows] == ["0", "1"]
    assert all(1 <= float(row["episode_return"]) <= 5 for row in rows)


def test_run_writes_json_with_all_that_repeats_it(workbench: Call, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    words = ["--seed", "7", "--dtype", "float64", "--as-written"]
    workbench("run", "reinforce", *SMALL, *words, "--output", path)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["sizes"] == {"B": 3, "I": 2, "T": 5}
    assert (record["seed"], record["dtype"], record["completed"]) == (7, "float64", 2)
    assert record["outputs"]["loss"]["dims"] == ["i"]
    result = wb.run(wb.variant(small()), seed=7, dtype="float64", progress=False, backend="numpy")
    assert record["outputs"]["loss"]["values"] == result["loss"].tolist()


def test_nan_is_null_in_json() -> None:
    assert results._plain([1.0, [float("nan"), float("inf")]]) == [1.0, [None, None]]


def test_same_seed_gives_the_same_outputs(
    workbench: Call, users_file: Path, tmp_path: Path
) -> None:
    path, outputs = tmp_path / "results.json", []
    for seed in ("1", "1", "2"):
        workbench("run", users_file, *QUIET, "--seed", seed, "--output", path)
        outputs.append(json.loads(path.read_text(encoding="utf-8"))["outputs"])
    first, second, other = outputs
    assert first == second != other


def test_run_names_the_first_value_that_is_not_finite(workbench: Call) -> None:
    done = workbench("run", "reinforce", *SMALL, *QUIET, "--learning_rate", "nan", "--check-finite")
    assert done.code == 1
    assert "not finite" in done.err
    assert "i=0" in done.err


@pytest.mark.parametrize(
    "environment", ["CartPole", pytest.param("Pendulum", marks=pytest.mark.soundness)]
)
def test_run_goes_on_from_what_was_saved(workbench: Call, tmp_path: Path, environment: str) -> None:
    words = ["run", "ppo", "--environment", environment, *SMALL[:2], "--T", "4", "--E", "1"]
    words += ["--M", "2", "--hidden", "4", *QUIET]
    path, table = tmp_path / "parameters.safetensors", tmp_path / "results.csv"
    done = workbench(*words, "--I", "2", "--seed", "5", "--save", path)
    assert done.code == 0, done.err
    assert f"parameters written to {path}" in done.out
    done = workbench(*words, "--I", "3", "--resume", path, "--output", table, "--save", path)
    head = done.out.splitlines()[0]
    assert "I=3" in head
    assert "seed 5" in head
    assert head.endswith("; after 2 updates")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["i"] for row in rows] == ["2", "3", "4"]
    assert "; after 5 updates" in workbench(*words, "--I", "1", "--resume", path).out
