"""REINFORCE learns CartPole: the mean return that it reaches, over five seeds."""

import numpy as np
import pytest

from workbench.algorithms import reinforce
from workbench.measure.run import run

SEEDS = range(5)
UPDATES, ENOUGH = 100, 150.0


def test_reinforce_reaches_a_return_of_150_on_cartpole(capsys: pytest.CaptureFixture[str]) -> None:
    """Median over seeds of the mean return of the last ten of 100 updates, 64 environments."""
    program = reinforce(B=64, T=200, I=UPDATES)
    returns = [run(program, seed=seed, progress=False)["episode_return"] for seed in SEEDS]
    last = [float(r[-10:].mean()) for r in returns]
    with capsys.disabled():
        print()
        for seed, values, end in zip(SEEDS, returns, last, strict=True):
            reached = np.flatnonzero(values >= ENOUGH)
            when = f"update {reached[0]}" if reached.size else "never"
            print(
                f"  seed {seed}: from {values[0]:.1f}, {ENOUGH:g} reached at {when}, "
                f"highest {values.max():.1f}, last ten updates {end:.1f}"
            )
        print(f"  median of the last ten updates: {np.median(last):.1f}")
    assert np.median(last) >= ENOUGH
    assert np.median([values.max() for values in returns]) >= ENOUGH


def test_reinforce_does_not_learn_without_a_learning_rate() -> None:
    """Guards the test above: the return comes from the updates."""
    program = reinforce(B=64, T=200, I=10, learning_rate=0.0)
    assert run(program, progress=False)["episode_return"].max() < 40
