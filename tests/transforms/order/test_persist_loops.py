"""Persist inside a block: which loops become one, and what comes last."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

import workbench as wb
from tests.transforms.order.test_persist import (
    PPO,
    assert_same_in_every_order,
    regions,
    taken,
)
from workbench.algorithms import ALGORITHMS
from workbench.lowering.lower import lower
from workbench.lowering.memory.takeover import memory_of
from workbench.polyhedral.tree import Loop, loops, statements, text
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist
from workbench.transforms.step.transform import Rewritten
from workbench.transforms.trees import block_loops

SMALL = {"B": 5, "I": 2, "T": 6}
STEPS = (Persist("b", 3), Contract(), Donate())


@cache
def root(name: str, **more: Any) -> Program:
    return ALGORITHMS[name](**SMALL, hidden=(3,), **more)


def over_time(program: Program) -> list[Loop]:
    """The loops over t in blocks."""
    return [
        inner
        for loop in loops(program.schedule)
        if loop.apart
        for inner in loops(loop)
        if inner.dim == "t"
    ]


def elements(program: Program, array: str) -> int:
    """How many elements of an array are stored, at the program's own sizes."""
    stored = memory_of(program).stored(array)
    return stored.buffer.elements.evaluate(resolve(program.equations))


# -- loops that become one -------------------------------------------------------------------------

LEARNING = [
    ("reinforce", {}),
    ("reinforce", {"estimator": "n_step"}),
    ("reinforce", {"estimator": "td_lambda"}),
    ("a2c", {}),
    ("ppo", {"E": 2, "M": 2}),
]


@pytest.mark.parametrize(("name", "more"), LEARNING)
def test_time_runs_once_for_acting_and_once_for_learning(name: str, more: dict[str, Any]) -> None:
    program = taken(root(name, **more), *STEPS)
    acting, learning = over_time(program)
    assert not acting.backwards and "policy.action" in statements(acting)
    assert learning.backwards or name == "reinforce"
    for sizes in ({}, {"B": 8, "T": 1}, {"B": 2, "T": 3}):
        assert_same_in_every_order(program, root(name, **more), SMALL | sizes)


@pytest.mark.parametrize(("name", "more"), LEARNING)
def test_joined_loops_need_no_more_memory(name: str, more: dict[str, Any]) -> None:
    joined = taken(root(name, **more), *STEPS)
    with patch.object(block_loops, "inner_joined", lambda tree, found: tree):
        anew = root.__wrapped__(name, **more)  # what was found for a program is remembered
        result = STEPS[0].attempt(anew)
    assert isinstance(result, Rewritten)
    apart = taken(result.program, *STEPS[1:])
    assert len(over_time(joined)) < len(over_time(apart))
    for sizes in ({}, {"B": 2, "T": 1}, {"B": 64, "T": 100}):
        needed, before = (
            lower(program).peak(resolve(program.equations, sizes), "float32")
            for program in (joined, apart)
        )
        assert needed <= before


@wb.program
def discounted(B: int = 5, T: int = 4) -> dict[str, Any]:
    """Forwards what happens, backwards what it was worth; sums that could run either way."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = wb.uniform(over=b)
    x[b, t + 1] = wb.sin(3.0 * x)
    reward = wb.cos(x[b, t])
    worth = wb.recurrent("worth", (), over=(b, t))
    worth[b, T] = 0.0
    worth[b, t] = reward * x[b, t + 1] + 0.9 * worth[b, t + 1]
    first = worth[b, 0:T].sum()
    beyond = worth[b, t] - first
    return {
        "far": (beyond**2).sum(over=(b, t)),
        "gain": (worth[b, t] * x[b, t]).sum(over=(b, t)),
        "loud": wb.exp(x[b, t + 1]).sum(over=(b, t)),
    }


def test_loop_joins_the_latest_that_it_reads_from_where_nothing_is_between() -> None:
    """`loud` reads what runs forwards, `gain` also what runs backwards; `beyond` needs a sum."""
    program = taken(discounted(), Persist("b", 2))
    assert text(program.schedule) == SCHEDULE_OF_DISCOUNTED
    for sizes in ({}, {"B": 1, "T": 1}, {"B": 4, "T": 9}):
        assert_same_in_every_order(program, discounted(), {"B": 5, "T": 4} | sizes)


SCHEDULE_OF_DISCOUNTED = """\
for b in blocks of 2, in any order, at most 16 chunks:
    axis b:
        x[0]
        for t:
            x[t+1]
            reward
            loud.points
        worth[T]
        for t reversed:
            worth
            gain.points
        first
        for t:
            beyond
            far.points
loud
gain
far
"""


@wb.program
def either_way(B: int = 5, T: int = 4) -> dict[str, Any]:
    """A difference that both a walk forwards and a sum backwards stand beside."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = wb.uniform(over=b)
    x[b, t + 1] = wb.sin(3.0 * x)
    last = x[b, T]
    change = x[b, t] - last
    worth = wb.recurrent("worth", (), over=(b, t))
    worth[b, T] = 0.0
    worth[b, t] = change + 0.9 * worth[b, t + 1]
    return {"total": worth[b, 0].sum(over=b)}


def test_loop_that_carries_nothing_is_reversed_for_its_reader() -> None:
    program = taken(either_way(), Persist("b", 2))
    acting, learning = over_time(program)
    assert list(statements(acting)) == ["x[t+1]"]
    assert list(statements(learning)) == ["change", "worth"] and learning.backwards
    for sizes in ({}, {"B": 1, "T": 1}, {"B": 4, "T": 9}):
        assert_same_in_every_order(program, either_way(), {"B": 5, "T": 4} | sizes)


# -- what comes last -------------------------------------------------------------------------------


@wb.program
def going_on(B: int = 5, I: int = 3, T: int = 4, private: bool = False) -> dict[str, Any]:
    """Walks that go on where they were, and a weight learned from samples of them behind."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    x = wb.recurrent("x", (), over=(b, i, t))
    weight = wb.recurrent("weight", (), over=i)
    weight[0] = 0.5
    x[b, 0, 0] = wb.uniform(over=b)
    noise = wb.uniform(over=(b, i))
    push = weight * noise
    x[b, i, t + 1] = wb.sin(3.0 * x[b, i, t] + push)
    x[b, i + 1, 0] = x[b, i, T] * noise if private else x[b, i, T]
    chosen = wb.cast(wb.uniform(over=i) * B, int)
    weight[i + 1] = 0.9 * weight + wb.gather(x, b=chosen).sum(over=t)
    return {"learned": weight[I]}


def test_state_of_the_next_rollout_is_written_at_the_end() -> None:
    """Then learning behind the blocks reads the one slice along i that `x` keeps."""
    program = taken(going_on(), Persist("b", 2))
    assert sorted(map(tuple, regions(program))) == [
        ("noise", "push", "x[t+1]"),
        ("x[0,0]",),
        ("x[i+1,0]",),
    ]
    (outer,) = (loop for loop in loops(program.schedule) if loop.dim == "i")
    assert list(statements(outer))[-1] == "x[i+1,0]"
    for steps in ((), (Contract(),), (Contract(), Donate())):
        after = taken(program, *steps)
        assert_same_in_every_order(after, going_on(), {"B": 5, "I": 3, "T": 4})
        assert_same_in_every_order(after, going_on(), {"B": 2, "I": 2, "T": 1})
    assert elements(after, "x") == 5 * 5


def test_state_stays_in_its_block_if_it_reads_what_only_the_block_needs() -> None:
    root = going_on(private=True)
    program = taken(root, Persist("b", 2), Contract())
    assert ["noise", "push", "x[t+1]", "x[i+1,0]"] in regions(program)
    assert_same_in_every_order(program, root, {"B": 5, "I": 3, "T": 4})
    assert elements(program, "x") == 2 * 5 * 5
    assert elements(program, "noise") == 2


def test_named_statements_share_one_loop_with_the_state_of_the_next_rollout() -> None:
    names = ("noise", "push", "x[t+1]", "x[i+1,0]")
    program = taken(going_on(), Persist("b", 2, statements=names))
    assert regions(program) == [["noise", "push", "x[t+1]", "x[i+1,0]"]]
    assert_same_in_every_order(program, going_on(), {"B": 5, "I": 3, "T": 4})


def test_environments_of_ppo_keep_one_slice_of_updates() -> None:
    root = ALGORITHMS["ppo"](**PPO)
    program = taken(root, Persist("b", 2), Persist("k", 4), Contract(), Donate())
    (outer,) = (loop for loop in loops(program.schedule) if loop.dim == "i")
    assert list(statements(outer))[-1] == "state[i+1,0]"
    assert [len(r) for r in regions(program)][2:-1] == [4, 2, 45]
    acting, returns = over_time(program)
    assert "state[t+1]" in statements(acting) and not acting.backwards
    assert "advantage" in statements(returns) and returns.backwards
    assert elements(program, "state") == 4 * 6 * root.array["state"].shape[0]
    for sizes in ({}, {"B": 2, "T": 1}, {"B": 8, "T": 3}):
        assert_same_in_every_order(program, root, {"I": 2} | sizes)


def test_ppo_with_2048_environments_keeps_its_rollout_once() -> None:
    """16 MB, 3.1 of which are for permutations; 21.3 with two slices of states."""
    root = ALGORITHMS["ppo"](B=2048, T=128)
    program = taken(root, Persist("b", 16), Persist("k", 32), Contract(), Donate())
    assert lower(program).peak(resolve(program.equations), "float32") < 16e6
