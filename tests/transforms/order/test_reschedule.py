"""Reschedule: isl's order of a part of the schedule, what it cannot say, and what helps."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from tests.transforms.order.ordering import assert_computes_the_same, horizon, refusal, separate
from workbench.algorithms.reinforce import reinforce
from workbench.polyhedral.ordering import isl_solver
from workbench.polyhedral.tree import statements
from workbench.transforms import Place, Reschedule, Vectorize


@wb.program
def ahead(B: int = 2, T: int = 9, n: int = 4) -> dict[str, Any]:
    """A state, and what is n - 1 steps ahead of it, in a loop of its own."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = wb.uniform(over=b)
    state[b, t + 1] = 0.9 * state
    worth = state[b, t : wb.minimum(t + n, T + 1)].sum()
    total = worth.sum(over=t)
    return {"total": total}


def first_and_last(variant: wb.Variant, fuse: Any = "most") -> Reschedule:
    found = list(statements(variant.program.schedule))  # type: ignore[arg-type]
    return Reschedule((found[0], found[-1]), fuse)


def test_proposal_shifts_by_what_dependences_ask_and_is_shown_as_a_diff() -> None:
    found = wb.variant(ahead()).apply(Reschedule(("state[t+1]", "worth")))
    assert found.schedule == (
        "for b:\n    state[0]\n    for t:    # shifted: worth +2\n        state[t+1]\n"
        "        worth\n    total\n"
    )
    assert found.notes == (
        "--- before\n+++ after\n@@ -1,7 +1,6 @@\n for b:\n     state[0]\n-    for t:\n"
        "+    for t:    # shifted: worth +2\n         state[t+1]\n-    for t:\n         worth\n"
        "     total",
    )
    for T in (1, 2, 3, 8):
        assert_computes_the_same(found, {"T": T})


def test_move_shows_the_diff_before_it_is_taken() -> None:
    (move,) = [m for m in wb.variant(ahead()).moves() if isinstance(m.step, Reschedule)]
    assert move.step == Reschedule(("state[t+1]", "worth"))
    assert move.notes[0].startswith("--- before\n+++ after\n")


def test_axes_stay_axes() -> None:
    found = wb.variant(ahead()).apply(Vectorize("b")).apply(Reschedule(("state[t+1]", "worth")))
    assert found.schedule.startswith("axis b:\n    state[0]\n    for t:    # shifted: worth +2\n")
    for T in (1, 3, 8):
        assert_computes_the_same(found, {"T": T})


def test_least_leaves_each_recurrence_its_own_loop() -> None:
    shifted = wb.variant(ahead()).apply(Reschedule(("state[t+1]", "worth")))
    found = shifted.apply(Reschedule(("state[0]", "worth"), fuse="least"))
    assert found.schedule == wb.variant(ahead()).schedule


def test_loops_that_stand_apart_are_brought_together() -> None:
    apart = separate(ahead(n=1))
    found = apart.apply(first_and_last(apart))
    assert found.schedule.count("for t") == 1
    for T in (1, 4):
        assert_computes_the_same(found, {"T": T})


def test_proposal_is_the_same_each_time() -> None:
    step = Reschedule(("state[t+1]", "worth"))
    first = wb.variant(ahead()).apply(step)
    isl_solver._proposed.cache_clear()
    assert wb.variant(ahead()).apply(step).program == first.program


def test_statement_in_the_middle_of_a_loop_refused_with_place() -> None:
    before, step = wb.variant(horizon()), Reschedule(("state[t+1]", "target"))
    found = refusal(before, step)
    assert found.kind == "capability"
    assert found.sentence == (
        "Reschedule(('state[t+1]', 'target')): isl proposes to run value[T], without the "
        "dimension t, in the middle of a loop over it"
    )
    assert found.repairs == (Place(("value[T]",), "t"),)
    after = before.apply(found.repairs[0]).apply(step)
    assert after.schedule == (
        "state[0]\nfor t:    # shifted: value[T] +1, target +2\n    state[t+1]\n    value\n"
        "    value[T]\n    target\n"
    )
    for T in (1, 2, 3, 8):
        assert_computes_the_same(after, {"T": T})


def test_no_effect_refused_when_isl_proposes_the_present_order() -> None:
    once = wb.variant(ahead()).apply(Reschedule(("state[t+1]", "worth")))
    found = refusal(once, Reschedule(("state[t+1]", "worth")))
    assert found.kind == "no effect"
    assert found.sentence.endswith(": isl looks for an order and finds the present one")


def test_too_much_work_refused_as_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_solver, "OPERATIONS", 10)
    isl_solver._proposed.cache_clear()
    found = refusal(wb.variant(ahead()), Reschedule(("state[t+1]", "worth")))
    assert found.kind == "cost"
    assert found.sentence == (
        "Reschedule(('state[t+1]', 'worth')): ordering 2 statements: too complex, given up after "
        "10 operations; name statements that are closer together"
    )


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (Reschedule(("worth", "ttal")), "unknown statement ttal: did you mean total?"),
        (Reschedule(("worth",)), "name the first and the last statement to be ordered"),
        (
            Reschedule(("worth", "total"), fuse="all"),  # type: ignore[arg-type]
            "fuse 'all'; expected 'most' or 'least'",
        ),
    ],
)
def test_bad_input_refused(step: Reschedule, sentence: str) -> None:
    found = refusal(wb.variant(ahead()), step)
    assert found.kind == "input"
    assert sentence in found.sentence


@pytest.mark.parametrize("fuse", ["most", "least"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_whole_programs_under_isl_order_compute_the_same(name: str, fuse: str) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    step = first_and_last(root, fuse)
    found = root.check(step)
    if found is not None and found.repairs:
        root = root.apply(found.repairs[0])
        found = root.check(step)
    if found is not None:
        assert found.kind in ("capability", "no effect"), found
        return
    for sizes in many:
        assert_computes_the_same(root.apply(step), sizes)


def test_learning_runs_n_steps_behind_acting_under_n_step_returns_only() -> None:
    def rescheduled(estimator: str) -> wb.Variant:
        program = reinforce(estimator=estimator, B=2, I=2, T=12, n=8, hidden=(4,))
        variant = wb.variant(program)
        step = Reschedule(("policy.hidden_1", "worth"))
        found = variant.check(step)
        while found is not None and found.repairs:
            variant = variant.apply(found.repairs[0])
            found = variant.check(step)
        return variant if found is not None else variant.apply(step)

    found = rescheduled("n_step")
    (loop,) = [line for line in found.schedule.split("\n") if "for t:    # shifted" in line]
    assert "worth +8" in loop and "surrogate +8" in loop and "hidden_1 +" not in loop
    assert_computes_the_same(found, {"T": 3})
    assert_computes_the_same(found, {"T": 12})
    assert rescheduled("monte_carlo").steps == ()
