"""`workbench compare`: its table, its JSON, its store, its exit code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.cli.calling import Call
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.measure.rounds import expected

ON_NUMPY = ["--backend", "numpy"]
WALK = ["--B", "3", "--T", "6", "--repeats", "2", *ON_NUMPY, "--no-progress"]


def test_compare_prints_the_variants_asked_for(
    workbench: Call, users_file: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "b.json"
    done = workbench("optimize", users_file, *ON_NUMPY, "--save", recipe)
    words = ["--variant", "as-written", "--variant", recipe, "--variant", "automatic"]
    done = workbench("compare", users_file, *WALK, *words)
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0].startswith("walk on numpy: B=3, T=6, seed 0, float32; ")
    assert max(map(len, lines)) <= 80
    assert "A  as-written" in lines and "C  automatic" in lines
    assert str(recipe) in done.out.replace("\n   ", "")
    assert done.out.count("  yes") == 3
    assert done.out.count("predicted") == 3


def test_compare_as_json_holds_rows_and_raw_samples(workbench: Call, users_file: Path) -> None:
    done = workbench("compare", users_file, *WALK[:-1], "--json", "--seed", "4")
    assert (done.code, done.err) == (0, "")
    record = json.loads(done.out)
    assert [row["variant"] for row in record["rows"]] == ["as-written", "automatic"]
    assert record["rows"][0]["ratio"] == 1.0
    first, second = record["measurements"]
    assert (len(first["samples"]), first["steps"], first["seed"]) == (2, [], 4)
    assert second["steps"]
    assert second["check"]["verdict"] == "passed"


def test_compare_appends_to_a_store(workbench: Call, users_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "measured.jsonl"
    for _ in range(2):
        done = workbench("compare", users_file, *WALK, "--store", path)
        assert f"appended to {path}" in done.out
    assert [m.program for m in wb.store(path).read()] == ["walk"] * 4


def test_compare_appends_to_the_users_own_store(
    workbench: Call, users_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    done = workbench("compare", users_file, *WALK, "--json", "--store")
    json.loads(done.out)
    assert len(wb.store().read()) == 2
    assert str(tmp_path) in done.err


def test_compare_fails_where_a_variant_is_wrong(
    workbench: Call, users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = CompiledArrays.run

    def wrong(self: CompiledArrays, *given: Any, **more: Any) -> Any:
        done = right(self, *given, **more)
        done.outputs["x"] += 1.0
        return done

    monkeypatch.setattr(CompiledArrays, "run", wrong)
    done = workbench("compare", users_file, *WALK, "--drift", "0.75")
    assert done.code == 1
    assert "FAILED: x[" in done.out.replace("\n   ", " ")


def test_compare_says_in_its_own_options_what_is_soon_measured(
    workbench: Call, users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expected, "LIMIT", 0.5)
    words = ["--variant", "as-written", "--repeats", "1", *ON_NUMPY, "--no-progress"]
    done = workbench("compare", users_file, "--B", "1000", "--T", "100000", *words)
    said = " ".join(done.out.split())
    assert "not measured, since a run would take about" in said
    assert "force=True" not in said and "sizes=" not in said
    found = re.search(r"((?:--[BT] \d+ ?)+)is soon measured; --force measures it all", said)
    assert found is not None
    monkeypatch.setattr(expected, "LIMIT", 30.0)  # whatever the machine is busy with
    again = workbench("compare", users_file, "--B", "1000", *found[1].split(), *words)
    assert "not measured" not in again.out
