"""Learning from replay, as written and optimized, against the reference evaluator."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.truth import truth
from workbench import environments
from workbench.algorithms import OFF_POLICY
from workbench.errors import WorkbenchError
from workbench.program.values import Program

BRIEF = environments.CartPole(time_limit=3)
SMALL: dict[str, dict[str, Any]] = {
    "dqn": {"B": 2, "I": 5, "T": 3, "N": 18, "K": 2, "hidden": (3,), "learning_starts": 10},
    "sac": {"B": 2, "I": 4, "T": 3, "N": 12, "K": 2, "hidden": (3,), "learning_starts": 7},
    "td3": {"B": 2, "I": 4, "T": 3, "N": 12, "K": 2, "hidden": (3,), "learning_starts": 7},
    "ddpg": {"B": 2, "I": 4, "T": 3, "N": 12, "K": 2, "hidden": (3,), "learning_starts": 7},
}
CASES: dict[str, list[dict[str, Any]]] = {
    "dqn": [
        {"environment": BRIEF, "n": 3, "every": 2, "gamma": 0.5},
        {"environment": "Acrobot", "double": True, "duelling": True, "learning_rate": 0.1},
        {"environment": BRIEF, "clip_error": True, "epsilon": (0.5, 0.0), "exploring": 0.1}
        | {"priorities": (0.5, 0.4)},
    ],
    "sac": [
        {"environment": environments.Pendulum(time_limit=3), "tau": 0.5, "learning_rate": 0.1},
        {"environment": "MountainCarContinuous", "temperature": 0.2, "gamma": 0.5}
        | {"critic_rate": 0.1},
    ],
    "td3": [
        {"environment": environments.Pendulum(time_limit=3), "tau": 0.5, "learning_rate": 0.1},
        {"environment": "MountainCarContinuous", "delay": 1, "gamma": 0.5, "policy_noise": 0.5}
        | {"noise_clip": 0.1, "exploration_noise": 0.5},
    ],
    "ddpg": [
        {"environment": environments.Pendulum(time_limit=3), "tau": 0.5, "learning_rate": 0.1},
        {"environment": "MountainCarContinuous", "gamma": 0.5, "exploration_noise": 0.5},
    ],
}
RUNS = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]


@cache
def traced(name: str, number: int) -> Program:
    """An algorithm with the arguments of a case."""
    return OFF_POLICY[name](**SMALL[name] | CASES[name][number])


def agree(found: Any, program: Program) -> None:
    """All outputs, exactly where they are integers, at 1e-9 of their size where they are floats."""
    for name, values in truth(program, seed=4).outputs().items():
        if values.dtype.kind != "f":
            np.testing.assert_array_equal(found[name], values)
            continue
        largest = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize(("name", "number"), RUNS)
def test_algorithm_as_written_agrees_with_reference(name: str, number: int) -> None:
    program = traced(name, number)
    agree(wb.run(wb.variant(program), "numpy", seed=4, dtype="float64", progress=False), program)


@pytest.mark.parametrize("name", OFF_POLICY)
@pytest.mark.parametrize("backend", ["numpy", pytest.param("native", marks=pytest.mark.soundness)])
def test_algorithm_optimized_agrees_with_reference(name: str, backend: str) -> None:
    program = traced(name, 0)
    best = wb.optimize(wb.variant(program), backend=backend)
    agree(wb.run(best, backend, seed=4, dtype="float64", progress=False), program)


@pytest.mark.parametrize("name", OFF_POLICY)
def test_every_argument_is_exercised(name: str) -> None:
    arguments = set(inspect.signature(OFF_POLICY[name].function).parameters)
    exercised = {key for case in CASES[name] for key in case} | set(SMALL[name])
    assert arguments <= exercised, arguments - exercised


@pytest.mark.parametrize("name", OFF_POLICY)
def test_replay_is_a_ring_buffer_under_the_automatic_recipe(name: str) -> None:
    storage = wb.optimize(OFF_POLICY[name](hidden=(8,)), backend="native").storage
    fields = [line for line in storage.splitlines() if line.startswith("replay.observation ")]
    assert fields and all("i (min(I, Held) of I)" in line for line in fields)


@pytest.mark.parametrize("name", OFF_POLICY)
def test_nothing_is_learned_before_learning_starts(name: str) -> None:
    """Outputs of acting are those of a rate of 0 until then, and no longer."""
    settings = SMALL[name] | {"I": 9, "learning_rate": 0.5, "learning_starts": 20}
    slow, fast = (
        wb.run(
            OFF_POLICY[name](**settings | {"learning_rate": rate}),
            progress=False,
            seed=1,
            backend="numpy",
        )
        for rate in (0.0, 0.5)
    )
    np.testing.assert_array_equal(slow["loss"][:4], fast["loss"][:4])
    assert (slow["loss"][4:] != fast["loss"][4:]).all()


def test_dqn_refused_on_continuous_actions() -> None:
    with pytest.raises(WorkbenchError) as error:
        OFF_POLICY["dqn"](environment="Pendulum")
    assert error.value.message == (
        "Pendulum(time_limit=200) has no action_count (discrete actions): there is no best one of "
        "its actions"
    )


@pytest.mark.parametrize("name", [name for name in OFF_POLICY if name != "dqn"])
def test_others_refused_on_discrete_actions(name: str) -> None:
    with pytest.raises(WorkbenchError) as error:
        OFF_POLICY[name](environment="CartPole")
    assert error.value.message == (
        "CartPole(time_limit=500) has no action_size and action_bounds (continuous actions from a "
        "least to a greatest one): there is no policy that keeps to them"
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("Pendulum", "Pendulum-v1"), ("MountainCarContinuous", "MountainCarContinuous-v0")],
)
def test_bounds_of_actions_are_those_of_gymnasium(ours: str, theirs: str) -> None:
    pytest.importorskip("gymnasium")
    low, high = environments.named(ours).action_bounds
    outside = environments.named(f"Gymnasium:{theirs}").action_bounds
    assert [x.tolist() for x in outside] == [[low], [high]]


def test_capacity_refused_that_updates_do_not_divide() -> None:
    program = OFF_POLICY["dqn"](**SMALL["dqn"])
    with pytest.raises(WorkbenchError, match=r"Held = N // \(B \* T\): 18 does not divide by 8"):
        wb.run(program, sizes={"T": 4}, progress=False, backend="numpy")
