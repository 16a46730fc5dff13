"""The automatic recipe: what it vectorizes and what it leaves alone."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.algorithms import reinforce
from workbench.transforms import Contract, Donate, Simplify, Vectorize
from workbench.variants.variant import optimize

pytestmark = pytest.mark.usefixtures("server")  # what is found depends on the machine


def test_reinforce_is_vectorized_but_not_over_updates_and_keeps_what_is_live_only() -> None:
    found = optimize(wb.variant(reinforce(B=4, I=2, T=5, hidden=(3,))), backend="numpy")
    assert found.steps == (Vectorize("b"), Vectorize("t"), Simplify(), Contract(), Donate())


def test_recipe_is_the_same_every_time() -> None:
    program = reinforce(B=4, I=2, T=5, hidden=(3,))
    assert (
        optimize(wb.variant(program), backend="numpy").key
        == optimize(wb.variant(program), backend="numpy").key
    )
