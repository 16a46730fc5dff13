"""SwiftRL's variants against loops over a log, one worker after the other, and what they reach."""

from __future__ import annotations

import inspect
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import compiled
from workbench import environments
from workbench.algorithms import swiftrl
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference.evaluator import Reference
from workbench.datasets.rows import rows_of
from workbench.errors import ProgramError, WorkbenchError

pytest.importorskip("gymnasium")

Array = np.ndarray[Any, Any]

VARIANTS = list(product(("Q", "SARSA"), ("SEQ", "RAN", "STR"), ("FP32", "INT32")))
RUNS = [
    *((*variant, "visits") for variant in VARIANTS),
    ("Q", "SEQ", "FP32", "plain"),
    ("SARSA", "RAN", "INT32", "plain"),
]
SIZES = {"W": 3, "I": 2, "P": 2, "K": 27}
SETTINGS = {"alpha": 0.5, "gamma": 0.9, "epsilon": 0.3, "stride": 4}
SEED = 7


@cache
def log() -> dict[str, Array]:
    """Rows at random of six of the places, so that workers learn the same entries differently."""
    random, rows = np.random.default_rng(3), SIZES["W"] * SIZES["K"]
    return {
        "state": random.integers(6, size=rows),
        "action": random.integers(4, size=rows),
        "following": random.integers(6, size=rows),
        "reward": random.choice([-1.0, 0.25, 0.5, 2.0], rows),
        "terminated": random.random(rows) < 0.2,
    }


@cache
def program(rule: str, order: str, numbers: str, average: str) -> wb.Program:
    """A variant at the sizes and with the settings of these tests."""
    variant = {"rule": rule, "order": order, "numbers": numbers, "average": average}
    return swiftrl(**SIZES, **SETTINGS, **variant)


@cache
def reference(traced: wb.Program) -> Reference:
    """The evaluator of a program's equations."""
    rows = rows_of(traced.equations, {"log": log()}).tables(SIZES, "float64")
    return Reference(traced.equations, SIZES, SEED, data=rows)


def order_of(order: str, evaluated: Reference) -> Array:
    """The rows of each pass of each worker, over (w, i, p, k)."""
    W, I, P, K = SIZES.values()
    rows = {"SEQ": list(range(K)), "STR": [n for first in range(4) for n in range(first, K, 4)]}
    if order in rows:
        return np.broadcast_to(rows[order], (W, I, P, K))
    drawn = evaluated.array("row")
    assert drawn.shape == (W, I, P, K) and drawn.min() == 0 and drawn.max() == K - 1
    return drawn


def learned(rule: str, order: str, numbers: str, average: str, evaluated: Reference) -> Array:
    """The mean tables after each round of passes, by loops: Python's integers for INT32."""
    (W, I, P, K), whole = SIZES.values(), numbers == "INT32"
    alpha, gamma = (5000, 9000) if whole else (0.5, 0.9)
    unit = 10_000 if whole else 1
    rows, columns = order_of(order, evaluated), {n: c.reshape(W, K) for n, c in log().items()}
    if rule == "SARSA":
        explores, anything = evaluated.array("explores"), evaluated.array("anything")
        assert 0.2 < explores.mean() < 0.4 and set(anything.flat) == {0, 1, 2, 3}
    mean, means = np.zeros((16, 4), object if whole else float), []
    for i in range(I):
        tables = np.array([mean] * W)
        for w, p, n in np.ndindex(W, P, K):
            q, k = tables[w], rows[w, i, p, n]
            s, a, after = (int(columns[c][w, k]) for c in ("state", "action", "following"))
            then = int(np.argmax(q[after]))
            if rule == "SARSA" and explores[w, i, p, n]:
                then = int(anything[w, i, p, n])
            worth = 0 if columns["terminated"][w, k] else q[after, then]
            reward = (
                int(columns["reward"][w, k] * unit) if whole else float(columns["reward"][w, k])
            )
            if whole:
                error = reward + worth * gamma // unit - q[s, a]
                q[s, a] += error * alpha // unit
            else:
                q[s, a] += alpha * (reward + gamma * worth - q[s, a])
        count = np.ones((W, 16, 4), int)
        if average == "visits":
            count = np.zeros((W, 16, 4), int)
            np.add.at(count, (np.arange(W)[:, None], columns["state"], columns["action"]), 1)
            assert (count[1:] != count[0]).any()
        total = np.maximum(count.sum(axis=0), 1)
        mean = (count * tables).sum(axis=0)
        mean = mean // total if whole else mean / total
        means.append(mean)
    return np.array(means, float) / unit


@pytest.mark.parametrize(("rule", "order", "numbers", "average"), RUNS)
def test_tables_are_those_of_loops(rule: str, order: str, numbers: str, average: str) -> None:
    evaluated = reference(program(rule, order, numbers, average))
    wanted = learned(rule, order, numbers, average, evaluated)
    assert np.count_nonzero(wanted[-1]) > 20
    change = np.abs(np.diff([np.zeros((16, 4)), *wanted], axis=0)).max(axis=(1, 2))
    exactly = 0.0 if numbers == "INT32" else 1e-12
    np.testing.assert_allclose(evaluated.array("table"), wanted[-1], rtol=0, atol=exactly)
    np.testing.assert_allclose(evaluated.array("change"), change, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "variant",
    [
        ("Q", "STR", "INT32", "visits"),
        ("SARSA", "RAN", "FP32", "visits"),
    ],
)
def test_variants_agree_with_reference(variant: tuple[str, str, str, str]) -> None:
    root = wb.variant(program(*variant))
    expected = reference(root.program).outputs()
    rows = rows_of(root.program.equations, {"log": log()}).tables(SIZES, "float64")
    native = compiled(wb.optimize(root, backend="native").program)
    found = [native.run(SIZES, SEED, "float64", given=rows).outputs]
    for chosen in (root, wb.optimize(root, backend="numpy")):
        made = NumPyBackend().compile(chosen.program)
        found.append(made.run(SIZES, SEED, "float64", given=rows).outputs)
    for outputs in found:
        for name, values in expected.items():
            # the quotients of equal whole numbers may differ in their last bit
            nearly = 1e-15 if variant[2] == "INT32" else 1e-9
            np.testing.assert_allclose(outputs[name], values, rtol=nearly, atol=nearly)


def test_every_row_is_taken_once_by_strides_whatever_is_left_over() -> None:
    for rows, stride in ((12, 4), (13, 4), (15, 4), (3, 4), (7, 1)):
        traced = swiftrl(**SIZES | {"K": rows}, order="STR", stride=stride)
        at = Reference(traced.equations, {"K": rows}).array("row")
        assert at.tolist() == [n for first in range(stride) for n in range(first, rows, stride)]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "rule": ({"rule": "SARS"}, "rule='SARS': did you mean SARSA? (rules: Q, SARSA)"),
    "order": ({"order": "seq"}, "order='seq': did you mean SEQ? (orders: SEQ, RAN, STR)"),
    "numbers": ({"numbers": "FP16"}, "numbers='FP16': did you mean FP32? (numbers: FP32, INT32)"),
    "average": ({"average": None}, "average=None: the averages are plain, visits"),
    "stride": ({"order": "STR", "stride": 0}, "division of K by 0: the divisor must be positive"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    arguments, expected = REFUSED[name]
    with pytest.raises(ProgramError) as error:
        swiftrl(**arguments)
    assert error.value.message == expected


def test_a_log_of_another_environment_is_refused() -> None:
    taxi = environments.Tabular("Taxi-v4").log(100)
    with pytest.raises(WorkbenchError, match=r"of state is [0-9]+, expected less than 16"):
        wb.run(swiftrl(), "numpy", data={"log": taxi}, sizes={"W": 2}, progress=False)


def test_every_argument_is_exercised() -> None:
    arguments = set(inspect.signature(swiftrl.function).parameters)
    exercised = {*SIZES, *SETTINGS, "rule", "order", "numbers", "average", "environment"}
    assert arguments == exercised
