"""Vectorize: what becomes an axis, what stays a loop and why, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.polyhedral.tree import axis_dims
from workbench.transforms import Vectorize


@wb.program
def returns(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    reward = wb.uniform(over=(b, t))
    to_go = wb.discounted_sum(reward[b, t:T], 0.9)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = 0.0
    state[b, t + 1] = wb.tanh(state + to_go)
    return {"state": state, "to_go": to_go}


@wb.program
def loop(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    position = wb.recurrent("position", (), over=(b, t))
    force = wb.sin(position)
    position[b, 0] = 1.0
    position[b, t + 1] = position + force
    energy = force * force
    return {"position": position, "energy": energy}


@wb.program
def triangle(T: int = 4) -> dict[str, Any]:
    (t,) = wb.dims(t=T)
    x = wb.uniform(over=t)
    pairs = x[t:T] * x
    return {"sum": pairs.sum(), "twice": (pairs * pairs).sum()}


def refusal(program: Any, step: Vectorize) -> Any:
    found = wb.variant(program).check(step)
    assert found is not None
    return found


def test_loop_of_independent_statements_becomes_an_axis() -> None:
    found = wb.variant(returns()).apply(Vectorize("b"))
    assert found.notes == ()
    assert "for b" not in found.schedule
    assert "axis b:\n" in found.schedule


def test_recurrence_stays_a_loop_and_the_rest_is_distributed() -> None:
    found = wb.variant(loop()).apply(Vectorize("t"))
    assert found.schedule == (
        "for b:\n    position[0]\n    for t:\n        force\n        position[t+1]\n"
        "    axis t:\n        energy\n"
    )
    assert len(found.notes) == 1
    assert found.notes[0].startswith("left as a loop over t: force, position[t+1]; position[t+1]")


def test_named_statements_are_exactly_those() -> None:
    found = wb.variant(returns()).apply(Vectorize("t", ("to_go",)))
    assert "axis t:\n        to_go" in found.schedule
    assert "axis t:\n        uniform" not in found.schedule


def test_recurrence_refused_with_two_instances() -> None:
    found = refusal(loop(), Vectorize("t", ("position[t+1]",)))
    assert found.kind == "dependence"
    assert found.sentence == (
        "Vectorize('t', statements=('position[t+1]',)): position[t+1] at b=0, t=1 needs "
        "position[0, 1], which position[t+1] at b=0, t=0 writes, so they cannot run as one array "
        "operation over t; the cycle position[t+1] → position[t+1] carries t "
        "(smallest case: B=1, T=2)"
    )
    assert found.witness.instances == ({"b": 0, "t": 0}, {"b": 0, "t": 1})
    assert found.witness.sizes == {"B": 1, "T": 2}
    assert found.line.text == "position[b, t + 1] = position + force"


def test_statement_on_a_cycle_through_others_refused_with_the_cycle() -> None:
    found = refusal(loop(), Vectorize("t", ("force",)))
    assert found.kind == "dependence"
    assert "carries t" in found.sentence
    assert {"force", "position[t+1]"} >= set(found.witness.statements)


def test_no_effect_refused_when_nothing_loops_over_the_dim() -> None:
    program = wb.variant(returns()).apply(Vectorize("b")).program
    assert refusal(program, Vectorize("b")).sentence == "Vectorize('b'): no statement loops over b"


def test_no_effect_refused_when_a_named_statement_is_vectorized_already() -> None:
    program = wb.variant(returns()).apply(Vectorize("b")).program
    found = refusal(program, Vectorize("b", ("to_go",)))
    assert found.kind == "no effect"
    assert found.sentence.endswith("to_go has no loop over b: it runs as an array axis already")


def test_unknown_dim_refused_with_the_nearest() -> None:
    found = refusal(returns(), Vectorize("tt"))
    assert found.sentence == "Vectorize('tt'): unknown dim tt: did you mean t? (dims: b, t)"


def test_unknown_statement_refused_with_the_nearest() -> None:
    found = refusal(returns(), Vectorize("t", ("stat",)))
    assert "unknown statement stat: did you mean state? (statements: " in found.sentence


def test_undo_is_the_parent_and_two_steps_are_a_branch() -> None:
    root = wb.variant(returns())
    left, right = root.apply(Vectorize("b")), root.apply(Vectorize("t"))
    assert left.parent is root and right.parent is root
    assert root.steps == () and left.steps == (Vectorize("b"),)
    assert len({root.key, left.key, right.key}) == 3


def test_refused_step_changes_nothing() -> None:
    root = wb.variant(loop())
    before = root.schedule
    with pytest.raises(wb.Refused) as caught:
        root.apply(Vectorize("t", ("position[t+1]",)))
    assert caught.value.refusal.kind == "dependence"
    assert root.schedule == before


def test_order_of_two_steps_does_not_matter_here() -> None:
    root = wb.variant(returns())
    one = root.apply(Vectorize("b")).apply(Vectorize("t"))
    other = root.apply(Vectorize("t")).apply(Vectorize("b"))
    assert {n: set(d) for n, d in axis_dims(one.program.schedule).items()} == {
        n: set(d) for n, d in axis_dims(other.program.schedule).items()
    }


def test_triangle_refused_as_not_a_box() -> None:
    program = wb.variant(triangle()).apply(Vectorize("t_1", ("pairs",))).program
    found = refusal(program, Vectorize("t", ("pairs",)))
    assert found.kind == "capability"
    assert found.sentence == (
        "Vectorize('t', statements=('pairs',)): the domain of pairs is not a box in t_1, t, "
        "so one array cannot hold it"
    )


def test_name_of_an_array_stands_for_its_statements_with_the_loop() -> None:
    by_array = refusal(loop(), Vectorize("t", "position"))
    by_statement = refusal(loop(), Vectorize("t", ("position[t+1]",)))
    assert by_array.witness == by_statement.witness
    by_both = wb.variant(loop()).apply(Vectorize("b", "position")).schedule
    assert by_both.startswith("axis b:\n    position[0]\n")


def test_no_effect_refused_when_a_named_statement_lacks_the_dim() -> None:
    found = refusal(loop(), Vectorize("t", "position[0]"))
    assert found.sentence == (
        "Vectorize('t', statements=('position[0]',)): position[0] has no loop over t: "
        "it does not vary over t; its dims: b"
    )
