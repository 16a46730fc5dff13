"""`workbench optimize` and the recipes it writes."""

import json
from functools import cache
from pathlib import Path

import pytest

import workbench as wb
from tests.cli.calling import SMALL, Call, printed
from workbench.algorithms import reinforce

pytestmark = pytest.mark.usefixtures("server")  # what is found depends on the machine

SIZES = SMALL[:-1]
ON_NUMPY = SIZES[-2:]


@cache
def automatic() -> tuple[str, ...]:
    root = wb.variant(reinforce(B=3, I=2, T=5, hidden=(4,)))
    return tuple(str(step) for step in wb.optimize(root, backend="numpy").steps)


def test_optimize_prints_each_step_with_what_a_run_is_predicted_to_cost() -> None:
    done = printed("optimize", "reinforce", *SIZES)
    assert (done.code, done.err) == (0, "")
    head, _, titles, *rows = done.out.splitlines()
    assert head == "reinforce: B=3, I=2, T=5; on numpy"
    assert titles.split() == ["step", "predicted", "peak"]
    assert [row[:52].strip() for row in rows if row[54:].strip()] == ["as written", *automatic()]
    assert max(map(len, done.out.splitlines())) <= 80


def test_optimize_says_what_steps_left_when_asked() -> None:
    assert "left as a loop over t: " not in printed("optimize", "reinforce", *SIZES).out
    done = printed("optimize", "reinforce", *SIZES, "--notes")
    assert "left as a loop over t: " in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_optimize_as_json_holds_steps_and_predictions() -> None:
    record = json.loads(printed("optimize", "reinforce", *SIZES, "--json").out)
    assert record["program"] == "reinforce"
    assert [row["step"] for row in record["steps"]] == ["as written", *automatic()]
    assert all(row["seconds"] > 0 for row in record["steps"])
    assert all(row["peak_bytes"]["device"] > 0 for row in record["steps"])
    assert record["steps"][1]["transform"] == "Vectorize"


def test_recipe_that_optimize_wrote_is_run_and_shown(
    workbench: Call, users_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "recipe.json"
    done = workbench("optimize", users_file, *ON_NUMPY, "--save", path)
    assert done.out.endswith(f"written to {path}\n")
    steps = json.loads(path.read_text(encoding="utf-8"))["steps"]
    head = workbench("run", users_file, *ON_NUMPY, "--recipe", path).out.splitlines()[0]
    assert head.count("(") == len(steps) > 0
    shown = workbench("show", users_file, "--recipe", path, "--python").out
    assert shown.count("variant.apply(") == len(steps)


def test_recipe_of_another_algorithm_is_refused(
    workbench: Call, users_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "recipe.json"
    workbench("optimize", users_file, *ON_NUMPY, "--save", path)
    done = workbench("run", "a2c", "--recipe", path)
    assert done.code == 2
    assert done.err == f"workbench: {path} is a recipe of walk, not of a2c\n"


def test_recipe_that_no_longer_fits_names_the_step(
    workbench: Call, users_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "recipe.json"
    workbench("optimize", users_file, *ON_NUMPY, "--save", path)
    text = path.read_text(encoding="utf-8").replace('"dim": "b"', '"dim": "bb"', 1)
    path.write_text(text, encoding="utf-8")
    done = workbench("run", users_file, *ON_NUMPY, "--recipe", path)
    assert done.code == 2
    assert "step 1 of " in done.err and "did you mean b?" in done.err
    assert "(applied until then: nothing)" in done.err
