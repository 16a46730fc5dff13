"""Accumulate: sums carried along a dimension, and what then runs in a window."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from tests.transforms.order.ordering import assert_computes_the_same, refusal
from workbench.algorithms.reinforce import reinforce
from workbench.lowering.lower import lower
from workbench.program.sizes import resolve
from workbench.program.text.infix import equation
from workbench.transforms import Accumulate, Contract, Incrementalize, Reschedule, Vectorize


@wb.program
def sums(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=2, over=(b, t))
    positive = x[..., 0] > 0.0
    return {
        "total": x.sum(over=(b, t)),
        "row": x.sum(over=t),
        "count": positive.sum(over=t),
        "later": positive[b, t:T].sum(),
        "highest": x.max(over=t),
    }


def test_sum_of_two_dims_adds_what_is_summed_over_the_other_first() -> None:
    found = wb.variant(sums()).apply(Accumulate("t", "total"))
    written = {s.name: equation(s, found.program.equations) for s in found.program.statements}
    assert written["total.added"] == "total.added[t] = sum(b) x[b, t]"
    assert written["total.running[t+1]"] == (
        "total.running[t + 1] = total.running[t] + total.added[t]"
    )
    assert written["total"] == "total = total.running[T]"
    for T in (1, 3):
        assert_computes_the_same(found, {"T": T})


def test_without_statements_all_that_can() -> None:
    found = wb.variant(sums()).apply(Accumulate("t"))
    running = {a for a in found.program.array if a.endswith(".running")}
    assert running == {"total.running", "row.running", "count.running"}
    for sizes in ({}, {"T": 1}, {"B": 1, "T": 2}):
        assert_computes_the_same(found, sizes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_candidate_computes_the_same(name: str) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    for step in Accumulate.candidates(root.program):
        after = root.apply(step)
        for sizes in many[: 1 if len(root.program.statements) > 50 else 3]:
            assert_computes_the_same(after, sizes)


@pytest.mark.parametrize(
    ("step", "kind", "sentence"),
    [
        (Accumulate("t", "x"), "capability", "x does not sum over t"),
        (Accumulate("t", "highest"), "capability", "highest is max, not a sum"),
        (Accumulate("t_1", "later"), "input", "unknown dim t_1: did you mean t?"),
        (Accumulate("t", "totl"), "input", "unknown statement totl: did you mean total?"),
    ],
)
def test_refused(step: Accumulate, kind: str, sentence: str) -> None:
    found = refusal(wb.variant(sums()), step)
    assert found.kind == kind
    assert sentence in found.sentence


def test_parts_that_blocks_left_are_added_block_by_block() -> None:
    blocks = wb.variant(sums()).apply(Incrementalize("total", "t", 2))
    found = blocks.apply(Accumulate("t_block2", "total"))
    written = {s.name: equation(s, found.program.equations) for s in found.program.statements}
    assert written["total.running[t_block2+1]"] == (
        "total.running[t_block2 + 1] = total.running[t_block2] + total.partial[t_block2]"
        "  for 0 <= t_block2 < (T + 1) // 2"
    )
    assert written["total"] == "total = total.running[(T + 1) // 2]"
    for T in (1, 2, 5):
        assert_computes_the_same(found, {"T": T})


def test_part_of_a_dimension_refused() -> None:
    blocks = wb.variant(sums()).apply(Incrementalize("total", "t", 2))
    found = refusal(blocks, Accumulate("t", "total.partial"))
    assert found.kind == "capability"
    assert found.sentence.endswith("total.partial does not sum over all of t in every instance")


def test_no_effect_refused_when_nothing_is_left() -> None:
    once = wb.variant(sums()).apply(Accumulate("t"))
    found = refusal(once, Accumulate("t"))
    assert found.kind == "no effect"
    assert found.sentence == "Accumulate('t'): nothing sums over all of t"


# -- algorithm-specific scheduling -----------------------------------------------------------------


def in_a_window(estimator: str) -> wb.Variant:
    """Sums carried, isl's order for an update, windows: the same steps for every estimator."""
    program = reinforce(estimator=estimator, B=4, I=2, T=12, n=8, hidden=(8,))
    variant = wb.variant(program).apply(Vectorize("b")).apply(Accumulate("t"))
    step = Reschedule(("environment.start_uniform", "episode_return"))
    found = variant.check(step)
    if found is not None and found.repairs:
        variant = variant.apply(found.repairs[0])
        found = variant.check(step)
    if found is None:
        variant = variant.apply(step)
    return variant.apply(Contract())


def peaks(variant: wb.Variant) -> list[int]:
    """The most bytes held at T = 100, 200 and 400, as the run at 100 finds it too."""
    program = lower(variant.program)
    found = []
    for T in (100, 200, 400):
        sizes = resolve(variant.program.equations, {"T": T, "I": 1})
        found.append(max(point.bytes for point in program.timeline(sizes, "float32")))
    ran = wb.run(variant, sizes={"T": 100, "I": 1}, progress=False)
    assert ran.peak_bytes == found[0]
    return found


def test_learning_from_n_step_returns_needs_a_window_and_from_whole_returns_the_episode() -> None:
    window = in_a_window("n_step")
    assert "surrogate +8" in window.schedule and "running[t+1] +8" in window.schedule
    assert_computes_the_same(window, {"T": 12})
    assert_computes_the_same(window, {"T": 5})
    short, middle, long = peaks(window)
    table = 3 * 4  # gamma's powers and where they stand, per step: the only bytes that grow
    assert (middle - short, long - middle) == (100 * table, 200 * table)
    episode = in_a_window("monte_carlo")
    assert_computes_the_same(episode, {"T": 12})
    whole = peaks(episode)
    assert whole[1] > 1.9 * whole[0] and whole[2] > 1.9 * whole[1]
    assert whole[0] > 2 * short and whole[2] > 8 * long
