"""Distribute: which statements come in which loop, what is refused and what helps."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.transforms.order.moments import assert_breaks
from tests.transforms.order.ordering import assert_computes_the_same, refusal
from workbench.polyhedral.tree import Leaf, Loop, Tree
from workbench.program.dependences import dependences
from workbench.transforms import Distribute, Vectorize
from workbench.transforms.trees.distribution import distributed


@wb.program
def walk(B: int = 2, T: int = 5) -> dict[str, Any]:
    """A recurrence with something before, behind and beside it."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = 1.0
    draw = wb.uniform(over=(b, t))
    push = wb.sin(state) + draw
    state[b, t + 1] = 0.5 * state + push
    energy = state * state
    other = wb.uniform(over=(b, t)) + 1.0
    return {"energy": energy, "other": other, "state": state}


def the_loop(tree: Tree, dim: str) -> Loop:
    if isinstance(tree, Loop):
        return tree if tree.dim == dim else the_loop(tree.child, dim)
    assert not isinstance(tree, Leaf)
    return next(the_loop(c, dim) for c in tree.children if not isinstance(c, Leaf))


def test_statements_before_and_behind_get_loops_by_dependences() -> None:
    before = wb.variant(walk())
    found = before.apply(Distribute(("push", "state[t+1]")))
    assert found.schedule == (
        "for b:\n    state[0]\n    for t:\n        draw\n        other_uniform\n        other\n"
        "    for t:\n        push\n        state[t+1]\n    for t:\n        energy\n"
    )
    for T in (1, 4):
        assert_computes_the_same(found, {"T": T})


def test_outer_loop_is_split_when_its_dim_is_given() -> None:
    found = wb.variant(walk()).apply(Distribute("energy", dim="b"))
    assert found.schedule.endswith("for b:\n    for t:\n        energy\n")
    assert_computes_the_same(found, {"T": 3})


def test_axis_is_split() -> None:
    both = wb.variant(walk()).apply(Vectorize("b")).apply(Vectorize("t", ("energy", "other")))
    found = both.apply(Distribute("energy", dim="b"))
    assert found.schedule.endswith("axis b:\n    axis t:\n        energy\n")
    assert_computes_the_same(found, {"T": 3})


def test_cycle_refused_with_both_orders_and_the_rest_of_it() -> None:
    before, step = wb.variant(walk()), Distribute("push")
    found = refusal(before, step)
    assert found.kind == "dependence"
    assert found.sentence == (
        "Distribute(('push',)): push cannot have a loop over t before the rest: push[b=0, t=1] "
        "reads state[0, 1], which state[t+1] at b=0, t=0 writes (smallest case: B=1, T=2); nor "
        "behind it: state[t+1] at b=0, t=0 reads push[0, 0], which push[b=0, t=0] writes "
        "(smallest case: B=1, T=1); they wait for each other: push → state[t+1] → push"
    )
    program = before.program
    loop = the_loop(program.schedule, "t")
    tree = distributed(program.schedule, loop, frozenset({"push"}), dependences(program.equations))
    assert_breaks(program, tree, found.witness)
    assert found.instead == (Distribute(("push", "state[t+1]")),)
    assert before.check(found.instead[0]) is None


def test_no_effect_refused_when_nothing_else_is_in_the_loop() -> None:
    alone = wb.variant(walk()).apply(Distribute("energy"))
    found = refusal(alone, Distribute("energy", dim="t"))
    assert found.kind == "no effect"
    assert found.sentence.endswith("no other statement is in a loop over t around energy")


def test_statements_of_different_loops_refused() -> None:
    apart = wb.variant(walk()).apply(Distribute("energy"))
    found = refusal(apart, Distribute(("energy", "push"), dim="t"))
    assert found.kind == "capability"
    assert found.sentence.endswith(
        "no loop over t holds all of energy, push; the loops around them: b"
    )


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (Distribute("enrgy"), "unknown statement enrgy: did you mean energy?"),
        (Distribute("energy", dim="tt"), "unknown dim tt: did you mean t?"),
        (Distribute(()), "name the statements that get a loop of their own"),
    ],
)
def test_bad_input_refused(step: Distribute, sentence: str) -> None:
    found = refusal(wb.variant(walk()), step)
    assert found.kind == "input"
    assert sentence in found.sentence


def test_moves_offer_recurrences() -> None:
    offered = [m.step for m in wb.variant(walk()).moves() if isinstance(m.step, Distribute)]
    assert offered == [Distribute(("push", "state[t+1]"))]
