"""Variants too slow to measure: said so with a time, unless it is asked for all the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum, returns
from workbench.measure.compare import compare
from workbench.measure.measure import measure
from workbench.measure.rounds import expected
from workbench.transforms import Vectorize

QUICK: dict[str, Any] = {"backend": "numpy", "repeats": 2, "progress": False}
HUGE = {"B": 100_000, "T": 100_000}


def test_variant_that_would_take_too_long_is_not_run_and_says_how_long() -> None:
    found = measure(wb.variant(leaky_sum()), sizes=HUGE, progress=False, backend="numpy")
    assert not found.measured
    assert found.checked is True
    assert re.fullmatch(
        r"not measured, since a run would take about [\d.]+ (min|h|d), 6 of them [\d.]+ (min|h|d) "
        r"\(predicted from one of [\d.]+ (ms|µs|s) at B=3, T=4\)",
        found.too_slow,
    )
    assert found.too_slow in str(found)
    assert found.predicted is not None
    assert found.predicted.seconds > expected.LIMIT


def test_force_measures_it_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "LIMIT", 0.0)
    root = wb.variant(leaky_sum())
    assert not measure(root, **QUICK).measured
    assert measure(root, force=True, **QUICK).measured


def test_more_runs_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    root = wb.variant(leaky_sum())
    sizes = {"B": 9, "T": 9}
    monkeypatch.setattr(expected, "LIMIT", 1e9)
    assert not measure(root, sizes=sizes, repeats=1, progress=False, backend="numpy").too_slow
    monkeypatch.setattr(expected, "LIMIT", 1e-9)
    assert (
        " 3 of them "
        in measure(root, sizes=sizes, repeats=2, progress=False, backend="numpy").too_slow
    )


def test_slow_variant_stands_in_a_comparison_without_times() -> None:
    root = wb.variant(returns())
    fast = root.apply(Vectorize("b")).apply(Vectorize("t"))
    found = compare([fast, root], sizes={"B": 20_000, "T": 60}, **QUICK)
    assert found[0].measurement.measured
    assert not found[1].measurement.measured
    assert "a run would take about" in repr(found)
    assert found.frame["not_measured"].iloc[0] == ""


def test_prediction_stands_beside_what_was_measured() -> None:
    variant = wb.optimize(wb.variant(returns()), backend="numpy")
    said = variant.predict({"B": 8}, backend="numpy")  # before: what is measured first corrects it
    found = measure(variant, sizes={"B": 8}, **QUICK)
    assert found.predicted is not None
    assert found.predicted.seconds == said.seconds
    assert found.predicted.peak_bytes == dict(said.peak_bytes) == found.peak_bytes


def test_backend_of_which_nothing_is_known_has_no_prediction() -> None:
    root = wb.variant(leaky_sum())
    assert expected.Expectation(root.program, "reference", "float32", 1).at(None) is None
