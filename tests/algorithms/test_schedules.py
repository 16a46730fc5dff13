"""The root schedules of the algorithms read as one would write them: one loop over updates."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.algorithms import ALGORITHMS
from workbench.backends import get

pytestmark = pytest.mark.usefixtures("server")  # what is found depends on the machine


def top_loops(program: Any) -> list[str]:
    """The loops that stand in no other loop."""
    lines = wb.variant(program).schedule.splitlines()
    return [line for line in lines if line.startswith(("for ", "axis "))]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_there_is_one_loop_over_updates(name: str) -> None:
    written = ALGORITHMS[name](hidden=(8,))
    recipe = wb.optimize(wb.variant(written), backend="numpy").program
    assert top_loops(written).count("for i:") == 1
    assert top_loops(recipe).count("for i:") == 1
    assert top_loops(written)[-1] == "for i:"


def test_interrupted_ppo_keeps_every_output() -> None:
    program = ALGORITHMS["ppo"](B=2, I=4, T=4, E=1, M=2, hidden=(3,))

    def stop(done: int, total: int, outputs: Any) -> None:
        if done == 2:
            raise KeyboardInterrupt

    execution = (
        get("numpy")
        .compile(wb.optimize(wb.variant(program), backend="numpy").program)
        .run(on_progress=stop)
    )
    assert execution.completed == 2
    assert {name: len(values) for name, values in execution.outputs.items()} == {
        "loss": 2,
        "episode_return": 2,
        "episodes": 2,
    }
