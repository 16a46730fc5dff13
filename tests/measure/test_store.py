"""The store: what is appended is read, whoever else writes, whatever a line has become."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.measure.rounds.made import measurement, passed
from workbench.errors import WorkbenchError
from workbench.folders import users_folder
from workbench.measure.compare import comparison
from workbench.measure.store import Store, store

FIRST = measurement(0.01, 0.011, 0.012)
SECOND = measurement(0.02, 0.021, 0.022, steps=("b",))


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    return store(tmp_path / "folder" / "measured.jsonl")


def test_what_is_appended_is_read_in_order_and_labelled_as_recorded(kept: Store) -> None:
    kept.append(FIRST)
    kept.append(SECOND)
    found = kept.read()
    assert list(found) == [FIRST, SECOND]
    assert [m.recorded for m in found] == [kept.path.name] * 2
    assert found[0].timeline == FIRST.timeline
    assert not found.problems
    assert f"recorded: read from {kept.path.name}" in str(found[0])
    assert repr(found) == (
        f"2 measurements recorded in {kept.path.name}\n  on a processor, 2 of 2 cores"
    )


def test_comparison_is_appended_in_its_order(kept: Store) -> None:
    kept.append(comparison({"first": FIRST, "second": SECOND}))
    assert list(kept.read()) == [FIRST, SECOND]


def test_what_has_no_times_is_kept_with_the_reason(kept: Store) -> None:
    wrong = measurement(check=passed(verdict="failed", reason="loss is 1, expected 2"))
    slow = measurement(too_slow="a run would take 5 minutes")
    kept.append([wrong, slow])
    found = kept.read()
    assert [m.to_json() for m in found] == [wrong.to_json(), slow.to_json()]
    assert (found[0].measured, found[0].checked) == (False, False)
    assert found[1].too_slow == "a run would take 5 minutes"


def test_file_that_is_not_there_holds_nothing(kept: Store) -> None:
    assert len(kept.read()) == 0
    assert repr(kept.read()).startswith("0 measurements")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"program": "walk", "samp', "line 2: no JSON: Unterminated string"),
        ("[1, 2]", "line 2: no measurement: expected an object, found [1, 2]"),
        ('{"program": "walk"}', "line 2: no measurement: KeyError 'predicted'"),
        (
            json.dumps(FIRST.to_json() | {"unknown": 1}),
            "line 2: no measurement: TypeError Measurement.__init__() got an unexpected keyword",
        ),
        (
            json.dumps(FIRST.to_json() | {"samples": ["fast"]}),
            "line 2: no measurement: ValueError could not convert string to float: 'fast'",
        ),
    ],
)
def test_broken_line_is_reported_with_its_number_and_the_rest_read(
    kept: Store, line: str, problem: str
) -> None:
    kept.append(FIRST)
    with kept.path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n\n")
    kept.append(SECOND)
    found = kept.read()
    assert list(found) == [FIRST, SECOND]
    (said,) = found.problems
    assert said.startswith(problem)
    assert f"not read: {problem}" in repr(found)


def test_line_that_was_cut_off_does_not_spoil_the_next(kept: Store) -> None:
    kept.append(FIRST)
    with kept.path.open("a", encoding="utf-8") as file:
        file.write('{"program": "wa')
    kept.append(SECOND)
    found = kept.read()
    assert list(found) == [FIRST, SECOND]
    assert [p.split(":")[0] for p in found.problems] == ["line 2"]


def test_processes_that_append_at_a_time_do_not_mix_their_lines(
    kept: Store, repository: Path
) -> None:
    code = (
        "import sys; from tests.measure.rounds.made import measurement\n"
        "from workbench.measure.store import store\n"
        "kept = store(sys.argv[1])\n"
        "for k in range(40): kept.append(measurement(float(k), program=sys.argv[2] * 2000))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, kept.path, name], cwd=repository)
        for name in "abc"
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    found = kept.read()
    assert not found.problems
    for name in "abc":
        own = [m.samples[0] for m in found if m.program[0] == name]
        assert own == [float(k) for k in range(40)]


def test_measurement_of_a_device_that_is_not_here_is_read(kept: Store) -> None:
    kept.append(replace(FIRST, backend="cuda", device="NVIDIA H200"))
    (found,) = kept.read()
    assert (found.backend, found.device) == ("cuda", "NVIDIA H200")
    assert found.median == FIRST.median


def test_step_of_a_transform_that_is_not_here_is_shown_as_it_was_written(kept: Store) -> None:
    step = {"transform": "Teleport", "arguments": {"dim": "t", "far": True}}
    kept.append(replace(FIRST, steps=(step,)))
    assert kept.read()[0].label == "Teleport(dim='t', far=True)"


def test_frame_has_a_row_for_each_measurement(kept: Store) -> None:
    kept.append([FIRST, SECOND])
    frame = kept.read().frame
    assert list(frame["variant"]) == ["as written", "Vectorize('b')"]
    assert list(frame["median_ms"]) == [11.0, 21.0]
    assert set(frame["recorded"]) == {kept.path.name}


def test_what_is_no_measurement_is_refused_and_nothing_written(kept: Store) -> None:
    with pytest.raises(WorkbenchError, match="expected measurements, found 'fast'"):
        kept.append([FIRST, "fast"])  # type: ignore[list-item]
    assert not kept.path.exists()


def test_folder_in_place_of_a_file_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match=r"cannot be written: Is a directory"):
        store(tmp_path).append(FIRST)
    with pytest.raises(WorkbenchError, match=r"cannot be read: Is a directory"):
        store(tmp_path).read()


@pytest.mark.parametrize(
    ("platform", "variable", "folder"),
    [
        ("linux", "XDG_DATA_HOME", "workbench"),
        ("win32", "APPDATA", "workbench"),
        ("linux", None, ".local/share/workbench"),
        ("darwin", None, "Library/Application Support/workbench"),
        ("win32", None, "AppData/Roaming/workbench"),
    ],
)
def test_users_own_store_lies_where_the_system_keeps_data(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    variable: str | None,
    folder: str,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("XDG_DATA_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path))
    assert users_folder() == tmp_path / folder
    assert store().path == tmp_path / folder / "measurements.jsonl"
