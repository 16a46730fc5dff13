"""REINFORCE learns CartPole with each of its estimators."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import reinforce
from workbench.algorithms.reinforce import ESTIMATORS

UPDATES = 10
"""What is counted at the end of a run, times 64 environments."""


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_reinforce_reaches_a_return_of_150_on_cartpole(
    estimator: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """100 updates of 64 episodes, cut at 200 steps; the median over five seeds.

    Measured: Monte Carlo 191 to 200, lambda-returns 198 to 200, n-step returns 155 to 200.
    """
    found = over_seeds(reinforce(estimator=estimator), range(5), capsys, 64 * UPDATES)
    assert np.median(found) >= 150.0


def test_reinforce_does_not_learn_without_a_learning_rate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Guards the test above: the return comes from the updates."""
    program = reinforce(I=UPDATES, learning_rate=0.0)
    assert over_seeds(program, [0], capsys, 64 * UPDATES)[0] < 40.0
