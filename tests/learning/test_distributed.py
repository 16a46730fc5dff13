"""The V-trace actor-critic and OpenAI-ES learn CartPole."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learning.returns import over_seeds
from workbench.algorithms import openai_es, vtrace


@pytest.mark.parametrize("lag", [1, 4])
def test_vtrace_reaches_400_on_cartpole_within_500_000_steps(
    lag: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measured over three seeds: 459, 453, 454 with actors one update behind, 439, 451, 415 with
    actors four behind.
    """
    assert np.median(over_seeds(vtrace(lag=lag), range(3), capsys)) >= 400.0


def test_evolution_strategies_reach_450_on_cartpole_within_100_updates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measured over three seeds: 493, 500, 500."""
    found = over_seeds(openai_es(T=500, hidden=(16, 16)), range(3), capsys, episodes=64)
    assert np.median(found) >= 450.0


def test_neither_learns_without_a_learning_rate(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards the tests above: the return comes from the updates."""
    assert over_seeds(vtrace(I=200, learning_rate=0.0), [0], capsys)[0] < 40.0
    assert over_seeds(openai_es(I=5, learning_rate=0.0), [0], capsys, episodes=64)[0] < 60.0
