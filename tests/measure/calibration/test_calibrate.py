"""Constants of a machine: measured, kept, read back; what is wrong with a file is said."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.cli import main
from workbench.cli.commands.doctor import constants
from workbench.errors import UnavailableError, WorkbenchError
from workbench.folders import cache_directory
from workbench.measure.calibration import probes, stopwatch
from workbench.measure.calibration.calibrate import calibrate
from workbench.planning.machine.calibrated import file_of, machine, save
from workbench.planning.machine.defaults import CUDA, DEFAULTS, NATIVE, NUMPY
from workbench.processor import model, processor


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache directory of its own."""
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few and short samples: here it only matters that all is measured."""
    monkeypatch.setattr(stopwatch, "SAMPLES", 1)
    monkeypatch.setattr(stopwatch, "SHORTEST", 0.0)
    monkeypatch.setattr(stopwatch, "TURNS", 1)
    monkeypatch.setattr(probes, "WORKING_SETS", (1200, 2400, 3600, 4800))


@pytest.mark.usefixtures("hasty")
def test_calibration_measures_every_constant_and_keeps_it() -> None:
    found, path = calibrate(backend="numpy")
    assert path == file_of("numpy")
    for name in ("call", "row", "element"):
        assert getattr(found, name).keys() == getattr(NUMPY, name).keys()
    rates = [*found.call.values(), *found.row.values(), *(v for _, v in found.byte)]
    rates += [rate for by_dtype in found.element.values() for rate in by_dtype.values()]
    rates += [*found.product.values(), *found.panel.values(), found.fresh, found.cold]
    assert all(math.isfinite(rate) and rate >= 0 for rate in rates)
    assert all(found.call.values())
    assert set(found.versions) == {"python", "numpy"}
    assert machine("numpy") == found
    assert found.calibrated
    prediction = wb.variant(leaky_sum()).predict(backend="numpy")
    assert prediction.calibrated
    assert "uncalibrated" not in str(prediction)


@pytest.mark.usefixtures("hasty", "default_backend")
def test_doctor_calibrates_and_prints_the_constants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--calibrate"]) == 0
    out = capsys.readouterr().out
    assert str(file_of("numpy")) in out
    assert "a call with cold caches" in out
    assert main(["doctor"]) == 0
    assert "numpy times     calibrated " in capsys.readouterr().out


@pytest.mark.usefixtures("default_backend")
def test_doctor_says_what_is_not_calibrated(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    assert "missing  numpy times     uncalibrated: `workbench" in capsys.readouterr().out


def test_doctor_refuses_to_calibrate_an_unknown_backend(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "--calibrate", "nampy"]) == 1
    assert "unknown backend 'nampy': did you mean numpy?" in capsys.readouterr().err


def test_without_a_file_the_built_in_constants_say_so() -> None:
    found = machine("numpy")
    assert replace(found, note="") == NUMPY
    assert found.note == "uncalibrated: `workbench doctor --calibrate` measures this machine"
    assert not machine("cuda").calibrated


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is broken (Expecting property name"),
        ("[]", "is broken ("),
        ('{"format": 0}', "is broken (expected format 3)"),
        ("{}", "is broken ('format')"),
    ],
)
@pytest.mark.usefixtures("default_backend")
def test_broken_file_is_reported(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = file_of("numpy")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    found = machine("numpy")
    assert said in found.note
    assert str(path) not in found.note  # which stands in what is given away
    main(["doctor"])
    assert f"({path})" in capsys.readouterr().out
    assert "`workbench doctor --calibrate` again" in found.note
    assert found.call == NUMPY.call
    assert said in wb.variant(leaky_sum()).predict(backend="numpy").note


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"call": {"elementwise": 1e-7}}, "call lacks accumulate, allocate, argmax"),
        ({"row": {"elementwise": "fast"}}, "a rate is no number"),
        ({"row": {"elementwise": -1.0}}, "a rate is no number"),
        ({"byte": []}, "byte is empty"),
        ({"widths": []}, "widths is empty"),
        ({"fresh": None}, "float() argument"),
        ({"speed": 3}, "unexpected keyword argument 'speed'"),
    ],
)
def test_file_with_a_wrong_entry_is_reported(change: dict[str, object], said: str) -> None:
    path = save(NUMPY)
    path.write_text(json.dumps(json.loads(path.read_text()) | change), encoding="utf-8")
    assert said in machine("numpy").note


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_constants_of_another_processor_are_not_used(backend: str) -> None:
    path = save(replace(DEFAULTS[backend], device=processor(), fresh=1.0))
    assert machine(backend).fresh == 1.0
    other = processor().replace(model(), "Another 9000")
    path.write_text(path.read_text().replace(processor(), other), encoding="utf-8")
    found = machine(backend)
    assert (found.fresh, found.calibrated) == (DEFAULTS[backend].fresh, False)
    assert f"what was measured is of another processor ({other})" in found.note
    assert "`workbench doctor --calibrate` measures this one" in found.note


def test_file_that_is_a_directory_is_reported() -> None:
    file_of("numpy").mkdir(parents=True)
    assert "cannot be read (Is a directory)" in machine("numpy").note


def test_saving_refused_where_the_directory_cannot_be(cache: Path) -> None:
    cache.write_text("a file", encoding="utf-8")
    with pytest.raises(WorkbenchError, match="name another directory in WORKBENCH_CACHE"):
        save(NUMPY)


def test_calibration_refused_for_unknown_backend() -> None:
    with pytest.raises(UnavailableError, match=r"unknown backend 'nampy': did you mean numpy\?"):
        calibrate("nampy")
    for called in ("cupy", "GPU"):
        with pytest.raises(UnavailableError, match=f"backend '{called}': the name is 'cuda'$"):
            calibrate(called)


def test_cache_directory_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WORKBENCH_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "workbench"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache_directory() == tmp_path / "workbench" / "Cache"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_directory().parts[-3:] == ("Library", "Caches", "workbench")


def test_defaults_know_the_same_kinds_for_backends_of_kernels() -> None:
    assert CUDA.element.keys() == NATIVE.element.keys()
    assert CUDA.call.keys() - {"barrier"} == NATIVE.call.keys() - {"threads"}
    assert CUDA.call["launch"] > NATIVE.call["launch"]
    assert CUDA.product["float32"] < NATIVE.product["float32"]


def test_seconds_of_a_byte_go_with_the_working_set() -> None:
    known = replace(NUMPY, byte=((100, 1.0), (10_000, 3.0)))
    assert known.seconds_per_byte(1) == 1.0
    assert known.seconds_per_byte(1000) == pytest.approx(2.0)
    assert known.seconds_per_byte(10**9) == 3.0


def test_table_has_a_line_for_every_kind() -> None:
    lines = constants(NUMPY).splitlines()
    shown = {line.split("  ")[0].strip() for line in lines}
    assert {*NUMPY.call, *NUMPY.row, *NUMPY.element} <= shown
    assert "elementwise" in shown
    (row,) = (line for line in lines if line.startswith("sum "))
    assert row.split() == ["sum", "700", "18", "0.17", "0.18"]
