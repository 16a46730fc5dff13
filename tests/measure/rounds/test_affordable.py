"""Sizes at which what is too slow is measured: which are cut, how far, and that they are enough."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum, recurrent_network
from workbench.measure.compare import compare
from workbench.measure.measure import measure
from workbench.measure.rounds import expected, rounds
from workbench.measure.rounds.affordable import MARGIN, Sizes, affordable, cuts
from workbench.measure.rounds.expected import Expectation, Trial
from workbench.planning.machine import calibrated
from workbench.planning.machine.defaults import DEFAULTS
from workbench.program.sizes import resolve
from workbench.transforms import Vectorize

HUGE = {"B": 100_000, "T": 100_000}
RUNS = 6


def of(program: Any) -> Expectation:
    root = wb.variant(program)
    return Expectation(root.program, "numpy", "float32", 1)


def seconds(program: Any, sizes: Sizes) -> float:
    """Of all runs, as they are predicted."""
    return RUNS * wb.variant(program).predict(sizes, backend="numpy").seconds


def slower(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """The machine takes so many times as long as is predicted."""

    def tried(expectation: Expectation, compiled: object, check: Any, rows: object) -> Trial:
        return Trial(check.sizes, 1e-3, factor)

    monkeypatch.setattr(rounds, "trial", tried)


def test_updates_are_cut_first_then_time_then_the_rest() -> None:
    way = list(cuts(recurrent_network(B=60, I=40, T=30), {"B": 60, "I": 40, "T": 30}))
    assert [tuple(sizes.values()) for sizes in way] == [
        (60, 20, 30), (60, 10, 30), (60, 5, 30), (60, 2, 30), (60, 1, 30),
        (60, 1, 20), (60, 1, 10),
        (50, 1, 10), (20, 1, 10), (10, 1, 10),
        (10, 1, 5), (10, 1, 2), (10, 1, 1),
        (5, 1, 1), (2, 1, 1), (1, 1, 1),
    ]  # fmt: skip


@wb.program
def batches(B: int = 20, T: int = 20, M: int = 4) -> dict[str, Any]:
    """Samples, and as many in batches."""
    K = wb.size(B * T // M)
    b, t, m, k = wb.dims(b=B, t=T, m=M, k=K)
    return {"x": wb.uniform(over=(b, t)), "y": wb.uniform(over=(m, k))}


def test_short_sizes_are_cut_last() -> None:
    way = list(cuts(batches(), {"B": 20, "T": 20, "M": 4}))
    assert way[:2] == [{"B": 10, "T": 20, "M": 4}, {"B": 10, "T": 10, "M": 4}]
    assert way[-1]["M"] < 4
    assert all(sizes["M"] == 4 for sizes in way if sizes["B"] > 2)


def test_a_derived_size_divides_all_the_way() -> None:
    program = batches()
    way = list(cuts(program, {"B": 7, "T": 66, "M": 6}))
    assert [sizes["T"] for sizes in way[:2]] == [48, 18]
    assert all(
        resolve(program.equations, sizes)["K"] * sizes["M"] == sizes["B"] * sizes["T"]
        for sizes in way
    )


def test_it_is_the_first_cut_that_is_soon_over(monkeypatch: pytest.MonkeyPatch) -> None:
    program = leaky_sum()
    found = affordable(of(program), program, HUGE, RUNS, pace=1.0)
    assert found is not None
    way = list(cuts(program, HUGE))
    before = way[way.index(found) - 1]
    assert seconds(program, found) <= expected.LIMIT / 2 < seconds(program, before)


def test_there_is_a_margin_until_the_machine_is_calibrated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = leaky_sum()
    guessed = affordable(of(program), program, HUGE, RUNS, pace=None)
    assert guessed == affordable(of(program), program, HUGE, RUNS, pace=MARGIN)
    known = replace(DEFAULTS["numpy"], note="")
    monkeypatch.setattr(expected, "machine", lambda backend: known)
    assert affordable(of(program), program, HUGE, RUNS, pace=None) == affordable(
        of(program), program, HUGE, RUNS, pace=1.0
    )
    assert calibrated.machine is not expected.machine


def test_nothing_is_proposed_where_nothing_is_soon_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "LIMIT", 1e-12)
    program = leaky_sum()
    assert affordable(of(program), program, HUGE, RUNS, pace=1.0) is None


@pytest.mark.parametrize("factor", [0.5, 4.5, 40.0])
def test_what_is_proposed_is_measured(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """However slow the machine is: what a trial run took has corrected the prediction."""
    monkeypatch.setattr(expected, "LIMIT", 0.25)
    slower(monkeypatch, factor)
    variants = [wb.variant(leaky_sum()), wb.variant(leaky_sum()).apply(Vectorize("b"))]
    quick: dict[str, Any] = {"backend": "numpy", "repeats": 2, "progress": False}
    first = compare(variants, sizes=HUGE, **quick)
    assert not any(row.measurement.measured for row in first)
    assert all(row.measurement.pace == factor for row in first)
    assert first.affordable is not None
    assert first.affordable == min(
        (m.affordable for m in first.measurements if m.affordable),
        key=lambda sizes: tuple(sizes.values()),
    )
    second = compare(variants, sizes=first.affordable, **quick)
    assert all(row.measurement.measured for row in second)


def test_what_to_do_is_said_in_words_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    slower(monkeypatch, 1.0)
    found = measure(
        wb.variant(leaky_sum()), sizes={"B": 3, "T": 10**8}, progress=False, backend="numpy"
    )
    assert "force" not in found.too_slow
    assert f"sizes={found.affordable} is soon measured" in str(found)
    assert "force=True" in str(found)
    both = compare([wb.variant(leaky_sum())], sizes=HUGE, progress=False, backend="numpy")
    assert f"sizes={both.affordable}" in " ".join(repr(both).split())
    assert "force=True" in repr(both)
