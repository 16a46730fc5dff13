"""SAC learns Pendulum."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import sac

SMALL = {"I": 8_000, "N": 16_000, "K": 100, "hidden": (64, 64), "learning_starts": 1_000}


def test_sac_reaches_minus_250_on_pendulum_within_8_000_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measured over three seeds, of the last ten episodes: -126, -145, -197."""
    found = over_seeds(sac(**SMALL, learning_rate=1e-3), range(3), capsys, episodes=10)
    assert np.median(found) >= -250.0


def test_sac_does_not_learn_without_rates(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards the test above: the return comes from the updates."""
    still = SMALL | {"I": 4_000, "learning_rate": 0.0, "critic_rate": 0.0}
    assert over_seeds(sac(**still), [0], capsys, episodes=10)[0] < -600.0
