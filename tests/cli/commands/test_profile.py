"""`workbench profile`: its tables, its trace, its refusals."""

import json
from pathlib import Path

import pytest

from tests.cli.calling import Call
from tests.native_runs import shared_cache
from workbench.measure.profiles import effort

WALK = ["--B", "3", "--T", "6", "--backend", "numpy", "--no-progress"]


def test_profile_prints_where_the_time_goes(workbench: Call, users_file: Path) -> None:
    done = workbench("profile", users_file, *WALK)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("walk on numpy: B=3, T=6, seed 0, float32; ")
    assert [line.split()[0] for line in lines if " seconds " in line] == ["scope", "statement"]


def test_profile_of_compiled_c_writes_a_trace(
    workbench: Call, users_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    words = ["--backend", "native", "--by", "kernel", "--as-written", "--trace", path]
    with shared_cache():
        done = workbench("profile", users_file, *WALK, *words)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == f"trace written to {path}"
    assert "kernel_x_t_1_" in done.out
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    assert sum(event["name"] == "kernel_x_t_1_" for event in events) == 3 * 6


def test_profile_that_is_too_long_is_bad_input(
    workbench: Call, users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "LIMIT", 1e-9)
    done = workbench("profile", users_file, *WALK)
    assert done.code == 2
    assert done.err.startswith("workbench: not profiled, since ")
