"""PPO learns CartPole with CleanRL's arguments, and three other environments with stated ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import ppo
from workbench.algorithms.settings import PPO


def test_ppo_reaches_475_on_cartpole_within_500_000_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of ten seeds the median reaches 475, and at most one is caught below 350.

    With a constant learning rate a policy that holds the pole for 500 steps is lost and found again
    now and then; a run may end while it is lost. Measured: 1 of 30 seeds in float32 (the fourth)
    ended below 350, as did 2 of 60 of a hand-written PPO in C++; medians 485 and 484.
    """
    found = over_seeds(ppo(), range(10), capsys)
    assert np.median(found) >= 475.0
    assert sorted(found)[1] >= 350.0


def test_ppo_reaches_minus_250_on_pendulum(capsys: pytest.CaptureFixture[str]) -> None:
    """Half a million steps, at least four of five seeds."""
    found = over_seeds(ppo(**PPO["Pendulum"]), range(5), capsys)
    assert sum(x >= -250.0 for x in found) >= 4


def test_ppo_reaches_minus_100_on_acrobot(capsys: pytest.CaptureFixture[str]) -> None:
    found = over_seeds(ppo(**PPO["Acrobot"]), range(5), capsys)
    assert sum(x >= -100.0 for x in found) >= 4


def test_ppo_reaches_90_on_the_continuous_mountain_car(capsys: pytest.CaptureFixture[str]) -> None:
    found = over_seeds(ppo(**PPO["MountainCarContinuous"]), range(5), capsys)
    assert sum(x >= 90.0 for x in found) >= 4
