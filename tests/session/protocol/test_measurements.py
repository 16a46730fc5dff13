from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

import workbench as wb
from tests.measure.rounds.made import measurement, passed
from workbench.algorithms import reinforce
from workbench.measure.compare import NO_DIFFERENCE
from workbench.measure.rounds.measurement import Measurement, from_json
from workbench.measure.runs.curves import Curve, kept
from workbench.session.protocol.capsule import plain
from workbench.session.protocol.measurements import measurement_views
from workbench.transforms import Vectorize

SMALL = {"B": 4, "I": 6, "T": 5}


def test_a_comparison_is_told_against_its_first() -> None:
    first = measurement(0.2, 0.21, 0.2, 0.2, 0.2, comparison="c")
    second = measurement(0.1, 0.105, 0.1, 0.1, 0.1, steps=("b",), comparison="c")
    a, b = measurement_views([first, second])
    assert (a.group, b.group) == ("c", "c")
    assert (a.ratio, a.difference, a.label) == (1.0, "", "as written")
    assert b.ratio == 0.5
    assert b.difference == "÷ 2"
    assert b.ratio_low is not None
    assert b.ratio_high is not None
    assert b.ratio_low <= 0.5 <= b.ratio_high
    assert b.label == "Vectorize('b')"


def test_what_was_not_measured_in_turn_is_not_compared() -> None:
    alone = measurement(0.2, 0.2)
    a, b, c = measurement_views([alone, measurement(0.1, 0.1), replace(alone, comparison="d")])
    assert len({a.group, b.group, c.group}) == 3
    assert [x.difference for x in (a, b, c)] == ["", "", ""]


def test_times_that_cannot_be_told_apart_are_said_to_be_so() -> None:
    samples = (0.1, 0.2, 0.3, 0.15, 0.25)
    first = measurement(*samples, comparison="c")
    second = measurement(*samples[::-1], steps=("b",), comparison="c")
    assert measurement_views([first, second])[1].difference == NO_DIFFERENCE


def test_a_step_is_told_against_the_nearest_variant_that_it_goes_on_from() -> None:
    def of(seconds: float, *steps: str) -> Measurement:
        return measurement(*[seconds] * 5, steps=steps, comparison="c")

    views = measurement_views(
        [of(0.8), of(0.4, "b"), of(0.1, "b", "t", "u"), of(0.2, "x"), of(0.2, "b")]
    )
    shown = [
        None if v.last_steps is None else (v.last_steps.since, v.last_steps.text) for v in views
    ]
    assert shown == [
        None,
        ("root", "÷ 2"),
        ("root-b", "÷ 4"),
        ("root", "÷ 4"),
        ("root", "÷ 4"),
    ]


def test_a_step_is_not_told_against_what_was_measured_at_another_time() -> None:
    first = measurement(0.2, 0.2, comparison="c")
    second = measurement(0.1, 0.1, steps=("b",), comparison="d")
    assert [v.last_steps for v in measurement_views([first, second])] == [None, None]


def test_a_failed_check_has_no_time_and_says_why() -> None:
    wrong = measurement(check=passed(verdict="failed", reason="loss at i=1 is 2, expected 3"))
    (view,) = measurement_views([wrong])
    assert view.outcome == "failed"
    assert view.samples == ()
    assert view.median is None
    assert view.compile_seconds is None
    assert "loss at i=1 is 2, expected 3" in view.check
    json.dumps(plain(view), allow_nan=False)


def test_what_is_read_again_from_a_file_is_the_same_measurement() -> None:
    here = measurement(0.2, 0.2, comparison="c", curves=(Curve("loss", "i", 1, (1.0, np.nan)),))
    there = from_json(json.loads(json.dumps(here.to_json(), allow_nan=False)), "kept.jsonl")
    (a,), (b,) = measurement_views([here]), measurement_views([there])
    assert a.id == b.id
    assert b == replace(a, recorded="kept.jsonl")
    assert b.curves[0].values == (1.0, None)


def test_a_recorded_line_of_an_earlier_release_has_no_curves() -> None:
    record = measurement(0.2).to_json()
    del record["curves"], record["comparison"]
    assert from_json(record).curves == ()


def test_a_measured_comparison_comes_out_with_its_curves() -> None:
    root = wb.variant(reinforce(hidden=(4,)))
    found = wb.compare(
        [root, root.apply(Vectorize("b"))], sizes=SMALL, repeats=2, progress=False, backend="numpy"
    )
    views = measurement_views(found.measurements)
    assert {v.group for v in views} == {found.measurements[0].comparison}
    assert [v.variant for v in views] == [row.measurement.key for row in found]
    result = wb.run(root, sizes=SMALL, progress=False, backend="numpy")
    for view in views:
        curve = next(c for c in view.curves if c.name == "episode_return")
        assert (curve.dim, curve.every) == ("i", 1)
        np.testing.assert_allclose(
            np.array(curve.values, dtype=float), result["episode_return"], rtol=1e-4
        )
        assert view.predicted_peak_bytes["device"] == view.peak_bytes["device"]


def test_a_long_curve_is_thinned_to_means() -> None:
    values = np.arange(1000.0)
    values[8:12] = np.nan
    (curve,) = kept({"loss": np.stack([values, values], axis=1)}, {"loss": ("i", "m")})
    assert curve.every == 4
    assert len(curve.values) == 250
    assert curve.values[0] == 1.5
    assert np.isnan(curve.values[2])
    assert curve.values[-1] == 997.5
