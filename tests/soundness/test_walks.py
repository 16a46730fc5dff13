"""Accepted steps compute what the program as written does; refused orders do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.programs import PROGRAMS, automatic
from tests.soundness.__main__ import LENGTH, meanings
from tests.soundness.order import undefined_read
from tests.soundness.programs import OF_DATA, OF_ENDS, OF_REPLAY, OF_SYSTEMS, OF_TABLES, OF_WINDOWS
from tests.soundness.proposals import Dice
from tests.soundness.walks import Meaning, Tally, walk
from workbench.transforms.step.transform import REGISTRY

T = TypeVar("T")
ENOUGH = 12
"""Accepted steps of each of the programs: some 200 in all; `make soundness` takes the rest."""
ENOUGH_OF_TRAINING = 8
"""Those of `small_reinforce` and `small_ppo` take longest."""
MOST_WALKS = 60
ENOUGH_OF = {
    # data
    "averages": 30,
    "regression": 50,
    "running": 120,
    # windows
    "sliding": 6,
    "tapped": 6,
    "smoothed": 190,
    # ends
    "ended": 6,
    "trained": 5,
    "stopped": 185,
    "sampled": 6,
    # tables
    "counted": 100,
    "moved": 90,
    # replay
    "recalled": 100,
    "kept": 90,
    # systems
    "filtered": 6,
}
"""Those of the programs of a kind, some 200 of each but the last: the quickest take the most."""
NAMES = [
    *(name for name in PROGRAMS if name != "small_ppo"),
    pytest.param("small_ppo", marks=pytest.mark.soundness),  # takes four times the next
]


class Drawn:
    """Choices by Hypothesis, which shrinks them."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self._data.draw(st.sampled_from(list(options)))


def no_wrong(tally: Tally) -> None:
    assert not tally.wrong, "\n\n".join(str(wrong) for wrong in tally.wrong)


@pytest.mark.parametrize("name", NAMES)
def test_steps_at_random_compute_the_same(name: str) -> None:
    compute_the_same(name, ENOUGH_OF_TRAINING if name.startswith("small") else ENOUGH)


@pytest.mark.parametrize("name", ENOUGH_OF)
def test_steps_at_random_on_programs_of_a_kind_compute_the_same(name: str) -> None:
    compute_the_same(name, ENOUGH_OF[name])


def test_all_programs_of_a_kind_are_walked() -> None:
    kinds = (OF_DATA, OF_WINDOWS, OF_ENDS, OF_TABLES, OF_REPLAY, OF_SYSTEMS)
    assert {name for kind in kinds for name in kind} == {*ENOUGH_OF, "tables", "replay"}


def compute_the_same(name: str, enough: int) -> None:
    """So many accepted steps at random."""
    tally = Tally()
    with np.errstate(all="ignore"):
        for number in range(MOST_WALKS):
            dice = Dice(f"{name} test {number}")
            tally.add(walk(dice.choose(meanings(name)), dice, sorted(REGISTRY), LENGTH))
            no_wrong(tally)
            if sum(tally.accepted.values()) >= enough:
                return
    raise AssertionError(f"{MOST_WALKS} walks took {sum(tally.accepted.values())} steps")


@given(st.data())
@settings(max_examples=25)
def test_steps_chosen_by_hypothesis_compute_the_same(data: st.DataObject) -> None:
    chooser = Drawn(data)
    meaning: Meaning = chooser.choose(meanings(chooser.choose(list(PROGRAMS))))
    with np.errstate(all="ignore"):
        no_wrong(walk(meaning, chooser, sorted(REGISTRY), LENGTH))


@pytest.mark.parametrize("name", NAMES)
def test_legal_orders_read_nothing_before_it_is_written(name: str) -> None:
    template, all_sizes = PROGRAMS[name]
    root = wb.variant(template())
    for variant in (root, automatic(name)):
        for sizes in all_sizes:
            assert undefined_read(variant.program, variant.program.schedule, sizes) is None
