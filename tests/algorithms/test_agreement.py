"""Every algorithm, with each of its arguments, means the same as written and under the automatic
recipe as in the reference evaluator.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.truth import truth
from workbench import environments
from workbench.algorithms import ALGORITHMS
from workbench.program.values import Program

SMALL = {"B": 2, "I": 2, "T": 4, "hidden": (3,)}
BRIEF = environments.CartPole(time_limit=3)
FEW = {"E": 2, "M": 2}

CASES: dict[str, list[dict[str, Any]]] = {
    "reinforce": [
        {"B": 3, "T": 5, "hidden": (3, 2)},
        {"estimator": "monte_carlo", "environment": BRIEF, "gamma": 0.5},
        {"estimator": "n_step", "environment": BRIEF, "n": 2, "value_weight": 2.0},
        {"estimator": "n_step", "environment": "Pendulum", "n": 1, "learning_rate": 0.1},
        {"estimator": "td_lambda", "environment": BRIEF, "lam": 0.3},
        {"estimator": "td_lambda", "environment": "MountainCarContinuous"},
        {"estimator": "td_lambda", "layers": "dim", "hidden": (3, 3, 3)},
        {"environment": BRIEF, "ends": True},
    ],
    "a2c": [
        {"environment": BRIEF},
        {"environment": "Acrobot", "gamma": 0.5, "lam": 0.7, "entropy_weight": 0.2},
        {"environment": "Pendulum", "learning_rate": 0.1, "anneal": True, "value_weight": 2.0},
        {"environment": BRIEF, "bootstrap_at_time_limit": True, "largest_norm": 0.01},
        {"environment": BRIEF, "layers": "dim", "hidden": (3, 3, 3)},
        {"B": 1, "T": 1, "I": 3},
    ],
    "ppo": [
        FEW | {"environment": BRIEF},
        FEW | {"environment": BRIEF, "bootstrap_at_time_limit": True, "clip_value": False},
        FEW | {"environment": "Pendulum", "learning_rate": 0.1, "anneal": True, "clip": 0.01},
        FEW | {"environment": "MountainCarContinuous", "normalize_observations": True},
        FEW | {"environment": BRIEF, "normalize_rewards": True, "normalize_observations": True},
        FEW | {"environment": BRIEF, "layers": "dim", "hidden": (3, 3, 3)},
        {"B": 3, "E": 1, "M": 3, "gamma": 0.5, "lam": 0.3, "largest_norm": 0.01},
        {"B": 3, "E": 2, "M": 3, "shuffle": False, "environment": BRIEF},
        {"E": 3, "M": 1, "entropy_weight": 0.5, "value_weight": 3.0, "hidden": ()},
    ],
}
RUNS = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]
OFTEN = {"reinforce": (0, 4), "a2c": (0,), "ppo": (1,)}
"""The cases that are searched a recipe for whenever tests are run; the others are recorded."""
SEARCHED = [
    pytest.param(name, number, marks=[] if number in OFTEN[name] else [pytest.mark.soundness])
    for name, number in RUNS
]


@cache
def traced(name: str, number: int) -> Program:
    """An algorithm with the arguments of a case."""
    return ALGORITHMS[name](**SMALL | CASES[name][number])


def agree(variant: wb.Variant) -> None:
    """All outputs, exactly where they are integers, at 1e-9 of their size where they are floats."""
    expected = truth(variant.root.program, seed=4).outputs()
    found = wb.run(variant, seed=4, dtype="float64", progress=False, backend="numpy")
    ends = variant.root.program.equations.ends
    told = {name for end in ends for name in (end.open, end.after)}  # as `lengths`
    assert set(found.outputs) == set(expected) - told
    for name in found.outputs:
        values = expected[name]
        if values.dtype.kind != "f":
            np.testing.assert_array_equal(found[name], values)
            continue
        largest = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize(("name", "number"), RUNS)
def test_algorithm_as_written_agrees_with_reference(name: str, number: int) -> None:
    agree(wb.variant(traced(name, number)))


@pytest.mark.parametrize(("name", "number"), SEARCHED)
def test_algorithm_under_the_automatic_recipe_agrees_with_reference(name: str, number: int) -> None:
    agree(wb.optimize(wb.variant(traced(name, number)), backend="numpy"))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_argument_is_exercised(name: str) -> None:
    arguments = set(inspect.signature(ALGORITHMS[name].function).parameters)
    exercised = {key for case in CASES[name] for key in case} | set(SMALL)
    assert arguments <= exercised, arguments - exercised


def test_cases_have_episodes_that_end() -> None:
    """Else nothing above would be cut at an end."""
    for name in ("a2c", "ppo"):
        as_written = wb.variant(traced(name, 0))
        result = wb.run(as_written, seed=4, progress=False, backend="numpy")
        assert result["episodes"].sum() >= 2
        assert (result["episode_return"] == 3.0).all()
