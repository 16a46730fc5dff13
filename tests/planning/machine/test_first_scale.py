"""The scale of built-in constants: every time in the same ratio, kept with where it comes from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import workbench as wb
from tests.programs import leaky_sum, small_reinforce
from workbench.errors import WorkbenchError
from workbench.planning.machine.calibrated import (
    keep_scale,
    machine,
    save,
    scale_file,
    scale_of,
    stamp,
)
from workbench.planning.machine.constants import Machine
from workbench.planning.machine.defaults import DEFAULTS
from workbench.transforms import Contract, Vectorize

SOURCE = "walk", {"B": 64, "T": 100}, "float32", "2026-11-26T09:10:00+00:00"


def seconds(backend: str) -> list[float]:
    """Predicted seconds of variants that spend their time on different things."""
    root = wb.variant(leaky_sum(B=50, T=400))
    large = wb.variant(small_reinforce())
    variants = [root, root.apply(Vectorize("b")), root.apply(Contract("x")), large]
    variants.append(wb.optimize(large, backend=backend))
    return [v.predict(backend=backend, threads=1).seconds for v in variants]


@pytest.mark.parametrize("backend", sorted(DEFAULTS))
def test_a_scale_changes_all_seconds_by_its_factor(backend: str) -> None:
    before = seconds(backend)
    keep_scale(backend, 3.3, *SOURCE)
    assert seconds(backend) == pytest.approx([3.3 * each for each in before], rel=1e-9)


def test_a_prediction_says_where_its_scale_comes_from() -> None:
    keep_scale("numpy", 3.3, *SOURCE)
    found = wb.variant(leaky_sum()).predict(backend="numpy")
    assert found.note == (
        "scaled by 3.3, as the first measurement here says (walk at B=64, T=100, float32, "
        "2026-11-26); `workbench doctor --calibrate` measures this machine"
    )
    assert found.note in str(found) and not found.calibrated
    assert not wb.variant(leaky_sum()).predict(backend="native").note.startswith("scaled")


def test_a_scale_changes_the_stamp_of_its_backend_alone() -> None:
    before = stamp("numpy"), stamp("native")
    keep_scale("numpy", 3.3, *SOURCE)
    assert stamp("numpy") != before[0] and stamp("native") == before[1]


def test_measured_constants_need_no_scale(server: Machine) -> None:
    keep_scale("numpy", 3.3, *SOURCE)
    assert machine("numpy") == server


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_a_scale_of_another_processor_or_release_does_not_count(backend: str) -> None:
    keep_scale(backend, 3.3, *SOURCE)
    path = scale_file(backend)
    kept = json.loads(path.read_text())
    for changed in ({"device": "another"}, {"constants": "others"}, {"factor": 0}, {"more": 1}):
        path.write_text(json.dumps(kept | changed))
        assert scale_of(backend) is None
        assert machine(backend).note.startswith("uncalibrated: ")
    path.write_text("{")
    assert scale_of(backend) is None
    path.write_text(json.dumps(kept))
    assert scale_of(backend) is not None


def test_a_scale_is_refused_when_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "file"))
    with pytest.raises(WorkbenchError, match="cannot be written"):
        keep_scale("numpy", 3.3, *SOURCE)


def test_a_calibration_is_not_scaled_when_it_is_saved() -> None:
    keep_scale("numpy", 3.3, *SOURCE)
    assert machine("numpy").fresh == pytest.approx(3.3 * DEFAULTS["numpy"].fresh)
    save(DEFAULTS["numpy"])
    built_in = asdict(DEFAULTS["numpy"])
    assert all(built_in[k] for k in ("call", "byte")) and scale_of("numpy") is not None
