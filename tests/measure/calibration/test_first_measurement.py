"""The first measurement of a backend tells the scale of what is predicted; later ones do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.measure.calibration.first_measurement import LEAST
from workbench.measure.checking.check import ran
from workbench.measure.rounds import rounds
from workbench.planning.cost.counted import counted
from workbench.planning.cost.prediction import predict
from workbench.planning.machine.calibrated import scale_of
from workbench.planning.machine.defaults import DEFAULTS
from workbench.program.values import Program
from workbench.transforms import Vectorize

QUICK: dict[str, Any] = {"sizes": {"B": 20, "T": 200}, "repeats": 3, "progress": False}
FEW = {"B": 2, "T": 3}
ROOT = wb.variant(leaky_sum())
FAST = ROOT.apply(Vectorize("b"))


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets how many times as long as by built-in constants every run takes."""
    factor = [1.0]

    def run(compiled: Any, program: Program, sizes: Mapping[str, int], *rest: Any) -> Any:
        said = predict(counted(program, "numpy"), sizes, DEFAULTS["numpy"])
        done = ran(compiled, program, FEW, *rest)  # how long it takes is said, not measured
        return replace(done, seconds=factor[0] * said.seconds)

    monkeypatch.setattr(rounds, "ran", run)
    return lambda value: factor.__setitem__(0, value)


def seconds(variant: wb.Variant) -> float:
    return variant.predict(QUICK["sizes"], "numpy").seconds


def test_the_first_measurement_sets_the_scale_and_ratios_stay(
    takes: Callable[[float], None],
) -> None:
    ratio, before = seconds(ROOT) / seconds(FAST), seconds(ROOT)
    takes(3.0)
    found = wb.measure(ROOT, "numpy", **QUICK)
    assert found.predicted is not None and found.predicted.note.startswith("uncalibrated")
    assert found.predicted.seconds == before
    assert seconds(ROOT) == pytest.approx(found.median) == pytest.approx(3 * before)
    note = ROOT.predict(QUICK["sizes"], "numpy").note
    assert note.startswith(
        "scaled by 3, as the first measurement here says (leaky_sum at B=20, T=2"
    )
    assert seconds(ROOT) / seconds(FAST) == pytest.approx(ratio, rel=1e-9)


def test_a_second_measurement_of_another_kind_changes_nothing(
    takes: Callable[[float], None],
) -> None:
    takes(3.0)
    wb.measure(ROOT, "numpy", **QUICK)
    first, before = scale_of("numpy"), seconds(ROOT)
    takes(40.0)
    again = wb.compare([FAST], "numpy", **QUICK | {"sizes": {"B": 40, "T": 90}})
    (predicted,) = (m.predicted for m in again.measurements)
    assert predicted is not None and predicted.note.startswith("scaled by 3")
    assert (scale_of("numpy"), seconds(ROOT)) == (first, before)


def test_a_comparison_takes_the_mean_of_its_ratios(
    takes: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    takes(2.0)
    found = wb.compare([ROOT, FAST], "numpy", **QUICK)
    scale = scale_of("numpy")
    assert scale is not None and scale.factor == pytest.approx(2.0)
    assert (scale.program, scale.date) == ("leaky_sum", found.measurements[0].date)


def test_runs_that_are_over_at_once_say_nothing(takes: Callable[[float], None]) -> None:
    takes(0.5 * LEAST / seconds(ROOT))
    assert wb.measure(ROOT, "numpy", **QUICK).median < LEAST
    assert scale_of("numpy") is None


def test_another_backend_keeps_its_own_scale(takes: Callable[[float], None]) -> None:
    before = ROOT.predict(backend="native", threads=1).seconds
    takes(3.0)
    wb.measure(ROOT, "numpy", **QUICK)
    assert ROOT.predict(backend="native", threads=1).seconds == before
