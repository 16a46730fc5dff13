"""Traffic of PPO's blocks with other memory: nothing that they hand on, no parameter twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.codegen.cuda.fibres import Traffic
from tests.golden_files import GoldenFiles
from tests.kernels import sectors
from tests.kernels.sectors import (
    TILES,
    figures,
    of_array,
    parameters,
    steps,
    traffic,
)

B, T, STATE, FLOATS = 16, 4, 5, 8
SIZES = {"B": B, "I": 1, "T": T, "E": 1, "M": 1}


@pytest.fixture(scope="module")
def found() -> Sequence[Traffic]:
    return traffic(SIZES)[1]


def of_parameters(asked: Mapping[str, int]) -> int:
    return sum(n for array, n in asked.items() if array.startswith("parameters"))


def test_a_rollout_reads_each_parameter_once(found: Sequence[Traffic]) -> None:
    one = of_array(found, "policy_action")
    assert one.blocks == 1
    assert of_parameters(one.loaded) == parameters(4, 64, 2) + parameters(4, 64, 1)


def test_a_minibatch_reads_each_parameter_once(found: Sequence[Traffic]) -> None:
    """A block has all of them in shared memory, since its threads keep the sums."""
    one = of_array(found, "gradient_actor_weight_2_points")
    each = parameters(4, 64, 2) + parameters(4, 64, 1)
    assert of_parameters(one.loaded) == one.blocks * each


def test_a_rollout_stores_neighbours_side_by_side(found: Sequence[Traffic]) -> None:
    """Each step's slice of the lanes once, and what stands behind the last step."""
    one, lanes = of_array(found, "policy_action"), TILES["b"] // FLOATS
    assert one.stored["state"] == STATE * lanes * T
    assert one.stored["policy_action"] == lanes * T
    assert "target" not in one.stored  # a minibatch computes it again
    assert one.stored["advantage"] == one.stored["value_2"] == lanes * (T + 1)


def test_what_a_step_hands_on_does_not_come_back(found: Sequence[Traffic]) -> None:
    """It looks at the first state, and at the value behind the last one; nothing between."""
    one, lanes = of_array(found, "policy_action"), TILES["b"] // FLOATS
    assert one.loaded["state"] == STATE * lanes
    assert one.loaded["value_2"] == lanes
    assert "done" not in one.loaded
    assert one.loaded["episodes_return_so_far"] <= 2 * lanes
    assert "advantage" not in one.loaded or one.loaded["advantage"] == lanes


def test_figures_tell_what_is_more_than_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sectors, "traffic", lambda _: (None, TRAFFIC))
    monkeypatch.setattr(sectors, "recipe", lambda: steps(2048))
    assert figures({})["wrong"] == []
    monkeypatch.setattr(sectors, "REACHED", {"rollout": 1.0, "minibatch": 1.0})
    told = figures({})["wrong"]
    assert [text.split(":")[0] for text in told] == ["rollout", "minibatch"]
    assert "1.4 x" in told[0]
    monkeypatch.setattr(sectors, "recipe", lambda: steps(4096))
    other = "other steps: Recompute('target'), Persist('b', 16, chunks=256)"
    assert other in figures({})["wrong"][-1]


def test_the_table_is_as_stored(found: Sequence[Traffic], golden: GoldenFiles) -> None:
    """Of the rollout and of a minibatch: the sectors that all blocks load and store of an array."""
    lines = [f"PPO, {', '.join(f'{name}={size}' for name, size in SIZES.items())}"]
    for array in ("policy_action", "gradient_actor_weight_2_points"):
        one = of_array(found, array)
        lines += ["", f"{one.function}, {one.blocks} blocks"]
        for name in sorted(one.loaded.keys() | one.stored.keys()):
            counts = (asked.get(name, 0) for asked in (one.loaded, one.stored))
            lines.append(f"{name:36}" + "".join(f"{n:8}" for n in counts))
    golden("kernels/ppo_sectors.txt", "\n".join([*lines, ""]))


PARAMETERS = parameters(4, 64, 2) + parameters(4, 64, 1)
TRAFFIC = [
    Traffic("rollout", 1, {"parameters_actor_weight_2": 40}, {"policy_action": 100}),
    Traffic(
        "minibatch",
        1,
        {"state": 10, "parameters_actor_weight_2": PARAMETERS + 30},
        {"gradient_actor_weight_2_points": 20},
    ),
]
