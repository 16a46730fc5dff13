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
    """Of ten seeds the median reaches 475, and none ends below 350.

    Measured over twenty: median 488, from 458 to 500. With a constant learning rate a policy that
    holds the pole for 500 steps is lost and found again now and then, and a run may end while it is
    lost: under other draws 1 of 30 seeds did (245), as did 2 of 60 of a hand-written PPO in C++. So
    where draws or rounding change, one of these ten may end below 350 without anything being wrong:
    more than one of thirty does not.
    """
    found = over_seeds(ppo(), range(10), capsys)
    assert np.median(found) >= 475.0
    assert min(found) >= 350.0


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
