"""Random accepted steps: what their events and slots compute is what the program means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.block_orders import could_be_apart, with_apart
from tests.lowering.execution.executed import computes, run, unlike
from tests.programs import PROGRAMS
from tests.soundness.proposals import Dice, accepted
from tests.soundness.test_walks import Drawn
from workbench.program.values import Program

ENOUGH = 5
"""Accepted steps of each program: some 80 in all."""
TRIED = 40
NAMES = [
    *(name for name in PROGRAMS if name != "small_ppo"),
    pytest.param("small_ppo", marks=pytest.mark.soundness),  # takes longer than all others
]


@pytest.mark.parametrize("name", NAMES)
def test_steps_at_random_compute_the_same_from_their_slots(name: str) -> None:
    template, every = PROGRAMS[name]
    dice = Dice(f"{name} events")
    for number, variant in enumerate(accepted(wb.variant(template()), dice, TRIED)):
        assert computes(template(), variant, dice.choose(every)), variant.recipe()
        if number + 1 == ENOUGH:
            return


@given(st.data())
@settings(max_examples=20)
def test_steps_chosen_by_hypothesis_compute_the_same_from_their_slots(data: st.DataObject) -> None:
    chooser = Drawn(data)
    names = [name for name in PROGRAMS if not name.startswith("small")]
    template, every = PROGRAMS[chooser.choose(names)]
    for variant in accepted(wb.variant(template()), chooser, 4):
        assert computes(template(), variant, chooser.choose(every)), variant.recipe()


@pytest.mark.parametrize("name", ["statistics", "n_step", "recurrent_network"])
@pytest.mark.parametrize("chunks", [1, 3])
def test_blocks_in_any_order_compute_the_same_from_their_slots(name: str, chunks: int) -> None:
    template, every = PROGRAMS[name]
    variant = wb.variant(template())
    for step in (wb.transforms.Vectorize("b"), wb.transforms.Tile("b", 2)):
        variant = variant.apply(step)
    found = 0
    for loop in could_be_apart(variant.program):
        marked = with_apart(variant.program, loop, chunks)
        if isinstance(marked, Program):
            found += 1
            for sizes in every:
                assert unlike(template(), marked, run(marked, sizes), sizes) is None
    assert found
