"""Returns beside CleanRL's, as `cleanrl.jsonl` has them (`python -m tests.learning.cleanrl`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.learning.cleanrl import SEEDS, complete, difference


@pytest.mark.parametrize("algorithm", complete())
def test_what_is_learned_is_not_worse(algorithm: str) -> None:
    """A difference of zero or more is not excluded at 99 %."""
    _, (_, high) = difference(algorithm)
    assert high >= 0.0


@pytest.mark.parametrize("worse", [0.0, 50.0])
def test_what_is_worse_is_told(worse: float, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    lines = [
        {"algorithm": "sac", "by": by, "seed": seed, "score": seed - worse * (by == "workbench")}
        for by, seeds in SEEDS.items()
        for seed in range(1, seeds + 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found, (low, high) = difference("sac", path)
    assert found == pytest.approx(2.5 - worse) and low < found < high
    assert (high >= 0.0) == (worse == 0.0)
