"""SAC, TD3 and DDPG learn Pendulum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import OFF_POLICY

SMALL: dict[str, Any] = {"N": 16_000, "K": 100, "hidden": (64, 64), "learning_starts": 1_000}


@pytest.mark.parametrize("name", ["sac", "td3", "ddpg"])
def test_pendulum_reaches_minus_300_within_8_000_steps(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measured over three seeds, of the last ten episodes: SAC -126, -145, -197; TD3 -252, -192,
    -205; DDPG -141, -185, -389.
    """
    program = OFF_POLICY[name](I=8_000, learning_rate=1e-3, **SMALL)
    assert np.median(over_seeds(program, range(3), capsys, episodes=10)) >= -300.0


@pytest.mark.parametrize("name", ["sac", "td3", "ddpg"])
def test_pendulum_is_not_learned_without_rates(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards the test above: the return comes from the updates."""
    still = {"learning_rate": 0.0} | ({"critic_rate": 0.0} if name == "sac" else {})
    program = OFF_POLICY[name](I=4_000, **SMALL, **still)
    assert over_seeds(program, [0], capsys, episodes=10)[0] < -600.0
