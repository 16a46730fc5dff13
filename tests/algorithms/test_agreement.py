"""Every algorithm, with each of its arguments, means the same as written and under the automatic
recipe as in the reference evaluator.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import environments
from workbench.algorithms import ALGORITHMS
from workbench.backends.reference import Reference
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
RUNS = [(name, case) for name, cases in CASES.items() for case in cases]


def agree(program: Program) -> None:
    """All outputs, exactly where they are integers, at 1e-9 of their size where they are floats."""
    expected = Reference(program, seed=4).outputs()
    as_written = wb.variant(program)
    for variant in (as_written, wb.optimize(as_written)):
        found = wb.run(variant, seed=4, dtype="float64", progress=False)
        for name, values in expected.items():
            if values.dtype.kind != "f":
                np.testing.assert_array_equal(found[name], values)
                continue
            largest = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9 * largest)


@pytest.mark.parametrize(("name", "options"), RUNS, ids=str)
def test_algorithm_agrees_with_reference(name: str, options: dict[str, Any]) -> None:
    agree(ALGORITHMS[name](**SMALL | options))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_argument_is_exercised(name: str) -> None:
    arguments = set(inspect.signature(ALGORITHMS[name].function).parameters)
    exercised = {key for case in CASES[name] for key in case} | set(SMALL)
    assert arguments <= exercised, arguments - exercised


def test_cases_have_episodes_that_end() -> None:
    """Else nothing above would be cut at an end."""
    for name in ("a2c", "ppo"):
        as_written = wb.variant(ALGORITHMS[name](**SMALL | CASES[name][0]))
        result = wb.run(as_written, seed=4, progress=False)
        assert result["episodes"].sum() >= 2
        assert (result["episode_return"] == 3.0).all()
