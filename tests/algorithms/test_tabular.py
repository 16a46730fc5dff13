"""Q-learning and SARSA against their updates in plain loops, on Gymnasium's own tables."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import run_native
from tests.truth import truth
from workbench.algorithms import TABULAR
from workbench.program.values import Program

gymnasium = pytest.importorskip("gymnasium")

SMALL = {"B": 2, "I": 2, "T": 30}
CASES: dict[str, list[dict[str, Any]]] = {
    name: [
        {"environment": "FrozenLake-v1", "epsilon": 0.3},
        {"environment": "CliffWalking-v1", "initial": 0.0, "alpha": 0.5, "gamma": 0.9},
    ]
    for name in TABULAR
}
RUNS = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]
SEED = 4


@cache
def traced(name: str, number: int) -> Program:
    """An algorithm with the arguments of a case."""
    return TABULAR[name](**SMALL | CASES[name][number])


def behind(actions: Any, b: int, i: int, t: int) -> Any:
    """The action after a step, 0 where the arrays have none."""
    return actions[b, i, t + 1] if t + 1 < actions.shape[2] else 0


def replayed(name: str, number: int) -> np.ndarray[Any, Any]:
    """The tables of plain loops that go where the program goes; they check that it can."""
    case, reference = CASES[name][number], truth(traced(name, number), seed=SEED)
    arguments = {
        key: p.default for key, p in inspect.signature(TABULAR[name].function).parameters.items()
    } | case
    P = gymnasium.make(case["environment"]).unwrapped.P
    states, actions = reference.array("state"), reference.array("action")
    alpha, gamma = arguments["alpha"], arguments["gamma"]
    tables = np.full((2, len(P), len(P[0])), arguments["initial"])
    greedy = 0
    for b, q in enumerate(tables):
        for i, t in np.ndindex(2, 30):
            (s, elapsed), a = states[b, i, t], actions[b, i, t]
            (after, later), following = states[b, i, t + 1], behind(actions, b, i, t)
            greedy += int(a == np.argmax(q[s]))
            over = later == 0
            assert over or later == elapsed + 1
            ends = {(n, r) for p, n, r, ends in P[s][a] if p and ends == over}
            (reward,) = {r for n, r in ends if over or n == after}
            if name == "sarsa" and not over:
                worth = q[after, following]
            else:
                worth = 0.0 if over else max(q[after])
            q[s, a] = q[s, a] + alpha * (reward + gamma * worth - q[s, a])
    if name == "q_learning":
        assert 0.6 < greedy / 120 < 1.0
    return tables


@pytest.mark.parametrize(("name", "number"), RUNS)
def test_tables_are_those_of_plain_loops(name: str, number: int) -> None:
    wanted, program = replayed(name, number), traced(name, number)
    np.testing.assert_array_equal(truth(program, seed=SEED).array("table"), wanted)


@pytest.mark.parametrize(("name", "number"), RUNS[::3])
def test_variants_agree_with_reference(name: str, number: int) -> None:
    program = traced(name, number)
    expected = truth(program, seed=SEED).outputs()
    recipe = wb.optimize(wb.variant(program), backend="native")
    found = [run_native(recipe.program, None, SEED)]
    for variant in (wb.variant(program), wb.optimize(wb.variant(program), backend="numpy")):
        found.append(wb.run(variant, "numpy", seed=SEED, dtype="float64", progress=False))
    for outputs in found:
        for output, values in expected.items():
            np.testing.assert_allclose(outputs[output], values, rtol=1e-9, atol=1e-9)


def test_every_argument_is_exercised() -> None:
    for name, template in TABULAR.items():
        arguments = set(inspect.signature(template.function).parameters)
        exercised = {key for case in CASES[name] for key in case} | set(SMALL)
        assert arguments <= exercised, arguments - exercised
