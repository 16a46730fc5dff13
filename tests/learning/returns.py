"""Runs over seeds, and the mean return of the last 100 episodes of each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

import workbench as wb
from workbench.program.values import Program

EPISODES = 100


def last_episodes(result: wb.Result, episodes: int = EPISODES) -> float:
    """Mean return of the last episodes; of the earliest update in part, by its mean."""
    total, wanted = 0.0, episodes
    ends = zip(result["episode_return"][::-1], result["episodes"][::-1], strict=True)
    for mean, count in ends:
        used = min(int(count), wanted)
        total += float(mean) * used if used else 0.0
        wanted -= used
        if not wanted:
            return total / episodes
    raise AssertionError(f"{episodes - wanted} episodes ended, fewer than {episodes}")


def over_seeds(
    program: Program,
    seeds: Iterable[int],
    capsys: pytest.CaptureFixture[str],
    episodes: int = EPISODES,
) -> list[float]:
    """Each seed's `last_episodes`, printed as they come."""
    variant = wb.optimize(wb.variant(program), backend="numpy")
    found = []
    for seed in seeds:
        result = wb.run(variant, seed=seed, progress=False, backend="numpy")
        found.append(last_episodes(result, episodes))
        with capsys.disabled():
            print(f"\n  seed {seed}: {found[-1]:.1f} ({result.seconds:.0f} s)", end="", flush=True)
    with capsys.disabled():
        print(f"\n  median {np.median(found):.1f}, from {min(found):.1f} to {max(found):.1f}")
    return found
