"""DQN learns CartPole."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import dqn


def test_dqn_reaches_400_on_cartpole_within_200_000_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measured: 481, 316, 500 over three seeds."""
    found = over_seeds(dqn(I=20_000), range(3), capsys)
    assert np.median(found) >= 400.0


def test_dqn_by_priorities_reaches_300_on_cartpole_within_200_000_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measured: 440, 349, 381 over three seeds."""
    found = over_seeds(dqn(I=20_000, priorities=(0.6, 0.4)), range(3), capsys)
    assert np.median(found) >= 300.0


def test_dqn_does_not_learn_without_a_learning_rate(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards the test above: the return comes from the updates."""
    assert over_seeds(dqn(I=5_000, learning_rate=0.0), [0], capsys)[0] < 60.0
