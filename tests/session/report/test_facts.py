"""Which facts a report tells: what was measured of both, and the steps between them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.measure.rounds.made import measurement
from tests.programs import leaky_sum, returns
from workbench.errors import WorkbenchError
from workbench.measure.rounds.measurement import Measurement
from workbench.session.protocol.measurements import measurement_views
from workbench.session.report.facts import Facts, Setting, facts, name_of
from workbench.session.report.tables import headline, rows, where_text
from workbench.transforms import Contract, Vectorize
from workbench.variants.variant import Variant

ROOT = wb.variant(leaky_sum())
FAST = ROOT.apply(Vectorize("b"))
BOTH = FAST.apply(Contract("x"))
SIZES = {"B": 30, "T": 50}


def of(variant: Variant, *samples: float, peak: int = 4096, **more: Any) -> Measurement:
    """A measurement of a variant, made up."""
    found = measurement(*samples, **more)
    return replace(
        found,
        key=variant.key,
        program="leaky_sum",
        sizes=SIZES,
        steps=tuple(variant.to_json()),
        peak_bytes={"device": peak} if samples else {},
    )


def told(
    *measured: Measurement, before: Variant = ROOT, after: Variant = FAST, notes: str = ""
) -> Facts:
    views = measurement_views(list(measured))
    return facts(before, after, views, {}, notes, Setting({}, "numpy", "float32"))


def test_what_was_measured_in_turn_is_the_headline() -> None:
    old = of(ROOT, 0.2, 0.21, 0.2, 0.2, 0.2, comparison="c", peak=8192)
    new = of(FAST, 0.1, 0.105, 0.1, 0.1, 0.1, comparison="c", peak=2048)
    found = told(old, new)
    head = headline(found)
    assert head.text == "time ÷ 2, memory ÷ 4"
    assert re.fullmatch(r"Measured in turn: ÷ [\d.]+–[\d.]+, with 95 % confidence\.", head.basis)
    first, *others = rows(found)
    assert (first.by, first.difference) == ("measured", "÷ 2")
    assert first.before.startswith("200 ms (200 ms to ")
    assert [(r.quantity, r.by, r.difference) for r in others] == [
        ("Time of a run", "predicted", "same"),
        ("Peak memory, device", "measured", "÷ 4"),
        ("Peak memory, device", "predicted", "same"),
    ]
    assert where_text(found) == (
        "Measured on a processor, 2 of 2 cores: numpy, float32, at B=30, T=50, seed 0, 5 runs "
        "each, 2026-01-02 03:04 UTC."
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (0, 6144, "memory ÷ 2, +6.14 kB on the host"),
        (6144, 0, "memory ÷ 2, −6.14 kB on the host"),
        (2048, 6144, "memory ÷ 2, host memory × 3"),
        (2048, 2048, "memory ÷ 2"),
    ],
)
def test_what_moved_to_the_host_is_part_of_the_headline(old: int, new: int, said: str) -> None:
    before, after = of(ROOT, 0.2, peak=8192), of(FAST, 0.1, peak=4096)
    before, after = (
        replace(one, peak_bytes={**one.peak_bytes, "host": held})
        for one, held in ((before, old), (after, new))
    )
    assert headline(told(before, after)).text == f"time ÷ 2, {said}"


def test_a_difference_that_cannot_be_seen_is_said_to_be_none() -> None:
    samples = (0.1, 0.2, 0.3, 0.15, 0.25)
    found = told(of(ROOT, *samples, comparison="c"), of(FAST, *samples[::-1], comparison="c"))
    assert headline(found).text == "no measurable difference in time, memory same"


def test_a_slower_variant_is_said_to_be_so() -> None:
    old, new = of(ROOT, 0.1, 0.1, comparison="c"), of(FAST, 0.2, 0.21, comparison="c", peak=8192)
    head = headline(told(old, new))
    assert head.text == "time × 2.05, memory × 2"
    assert head.basis == "Measured in turn: × 2–2.1, with 95 % confidence."


def test_one_run_has_no_interval() -> None:
    found = told(of(ROOT, 0.2, comparison="c"), of(FAST, 0.1, comparison="c"))
    head, first = headline(found), next(iter(rows(found)))
    assert head.text == "time ÷ 2, memory same"
    assert head.basis.startswith("Measured in turn, once: ") and "95 %" not in head.basis
    assert (first.before, first.difference) == ("200 ms (1 run)", "÷ 2")
    assert ", seed 0, 1 run each, " in where_text(found)


def test_what_was_not_measured_in_turn_is_told_to_be_so() -> None:
    found = told(of(ROOT, 0.2, 0.2), of(FAST, 0.1, 0.1))
    assert headline(found).text == "time ÷ 2, memory same"
    assert "not in turn" in headline(found).basis
    assert next(iter(rows(found))).difference == "÷ 2, not in turn"


def test_runs_at_other_sizes_are_not_put_beside_each_other() -> None:
    found = told(replace(of(ROOT, 0.2, 0.2), sizes={"B": 3, "T": 5}), of(FAST, 0.1, 0.1))
    assert found.before.measured is None
    assert headline(found).kind == "predicted"
    assert next(iter(rows(found))).before == "not measured"


def test_the_newest_measured_in_turn_with_times_counts() -> None:
    good = [of(ROOT, 0.2, 0.2, comparison="a"), of(FAST, 0.1, 0.1, comparison="a")]
    newer = [of(ROOT, 0.3, 0.3, comparison="b"), of(FAST, 0.1, 0.1, comparison="b")]
    slow = [of(ROOT, comparison="c", too_slow="a run takes an hour"), of(FAST, 0.1, comparison="c")]
    assert headline(told(*good, *newer, *slow)).text.startswith("time ÷ 3")


def test_a_failed_check_is_the_headline() -> None:
    wrong = of(FAST, comparison="c")
    wrong = replace(wrong, check=replace(wrong.check, verdict="failed", reason="s[0] is 3, not 4"))
    head = headline(told(of(ROOT, 0.2, comparison="c"), wrong))
    assert (head.text, head.kind) == ("the result is not the same", "failed")
    assert "s[0] is 3, not 4" in head.basis


def test_a_measurement_of_one_that_contradicts_its_prediction_is_told() -> None:
    far = headline(told(of(FAST, 0.2)))  # 11 ms were predicted of it
    assert far.text.startswith("predicted: time not known, memory")
    assert "the other one of both is not measured" in far.basis
    assert "were predicted" in far.basis
    near = headline(told(of(FAST, 0.012)))
    assert re.match(r"predicted: time (same|[÷×])", near.text)
    assert "were predicted" in near.basis


def test_what_was_not_measured_is_predicted_for_the_run_asked_for() -> None:
    found = facts(ROOT, FAST, (), {}, "", Setting({"B": 64, "T": 7}, "numpy", "float64"))
    assert headline(found).text.startswith("predicted: ")
    assert where_text(found) == "Predicted for numpy, float64, at B=64, T=7."
    assert {row.by for row in rows(found)} == {"predicted"}
    forecast = FAST.predict({"B": 64, "T": 7}, "numpy", "float64")
    assert found.after.forecast is not None
    assert found.after.forecast.seconds == forecast.seconds


def test_steps_have_their_reasons() -> None:
    first, second = told(after=BOTH).steps
    assert (first.text, first.kind) == ("Vectorize('b')", "Vectorize")
    assert first.reason == ROOT.why(Vectorize("b")).sentence
    assert second.reason == FAST.why(Contract("x")).sentence
    (chosen,) = wb.optimize(ROOT, backend="numpy").lineage[1:2]
    assert told(after=chosen).steps[0].reason == chosen.because


def test_steps_since_two_branches_parted_are_told() -> None:
    other = ROOT.apply(Contract("x"))
    found = told(before=other, after=BOTH)
    assert [step.text for step in found.steps] == ["Vectorize('b')", "Contract('x')"]
    assert found.left == (str(other.step),)


def test_variants_have_names() -> None:
    assert name_of(ROOT) == "as written"
    assert name_of(FAST) == "Vectorize('b')"
    assert facts(ROOT, FAST, (), {FAST.key: "fast"}, "", Setting()).after.name == "fast"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (FAST, FAST, "both are Vectorize"),
        (wb.variant(returns()), FAST, "two variants of one program; these start from returns"),
    ],
)
def test_a_report_refused_when_there_is_nothing_to_compare(
    before: Variant, after: Variant, sentence: str
) -> None:
    with pytest.raises(WorkbenchError, match=sentence):
        told(before=before, after=after)
