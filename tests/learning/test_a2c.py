"""A2C learns CartPole."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import a2c


def test_a2c_reaches_350_on_cartpole_within_500_000_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measured over five seeds: 447, 409, 407, 439, 440."""
    found = over_seeds(a2c(), range(5), capsys)
    assert np.median(found) >= 350.0


def test_a2c_does_not_learn_without_a_learning_rate(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards the test above: the return comes from the updates."""
    assert over_seeds(a2c(I=200, learning_rate=0.0), [0], capsys)[0] < 40.0
