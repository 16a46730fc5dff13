"""Fixed-point numbers against Python's own integers, and Q-learning in them against loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.tables import ACTIONS, ALPHA, GAMMA, PLACES, learning, walked
from tests.native_runs import run_native
from workbench.errors import ProgramError
from workbench.language import fixed

LARGE = 2**31 - 1
PAIRS = [
    *[(x, y) for x in (-9500, -1, 0, 1, 3, 9999) for y in (-7, 10_000, 9500, -123_456)],
    (LARGE, 10_000),
    (-LARGE - 1, 10_000),
    (LARGE, 9_999),
    (1_000_000, 20_000_000),
]


@wb.program
def products() -> dict[str, Any]:
    """All pairs."""
    x, y = (wb.cast(np.array(column), "int32") for column in zip(*PAIRS, strict=True))
    once = wb.cast(wb.uniform() * 0.0, "int32")  # else they are constants
    made = fixed.product(x + once, y)
    numbers = fixed.fixed(np.array([0.95, -0.00004, -0.00006, 0.1, 2.5, -214_748.0]) + 0.0 * once)
    return {"made": made, "numbers": numbers, "back": fixed.floating(numbers)}


def test_products_are_those_of_whole_numbers() -> None:
    expected = [x * y // 10_000 for x, y in PAIRS]
    numbers = [9500, 0, -1, 1000, 25_000, -2_147_480_000]
    result = wb.run(products(), "numpy", dtype="float64", progress=False)
    native = run_native(wb.variant(products()).program, None, 0)
    for outputs in (result, native):
        assert np.asarray(outputs["made"]).tolist() == expected
        assert np.asarray(outputs["numbers"]).tolist() == numbers
        np.testing.assert_allclose(outputs["back"], np.array(numbers) / 10_000)


@pytest.mark.parametrize("workers", [1, 3])
def test_q_learning_in_whole_numbers_is_that_of_plain_loops(workers: int) -> None:
    log = walked(1200)
    log["reward"] = np.round(log["reward"] * fixed.SCALE).astype(np.int32)
    sizes = {"W": workers, "P": 3, "K": 1200 // workers}
    root = wb.variant(learning(whole=True))
    wanted = np.zeros((workers, PLACES, ACTIONS), np.int64)
    columns = [column.reshape(workers, -1).tolist() for column in log.values()]
    for w in range(workers):
        for s, a, after, reward in list(zip(*(c[w] for c in columns), strict=True)) * 3:
            error = reward + int(wanted[w, after].max()) * 9500 // 10_000 - int(wanted[w, s, a])
            wanted[w, s, a] += error * 1000 // 10_000
    assert wanted.any()
    for backend in ("numpy", "native"):
        chosen = wb.optimize(root, backend=backend, sizes=sizes)
        result = wb.run(chosen, backend, data={"log": log}, sizes=sizes, progress=False)
        np.testing.assert_array_equal(np.asarray(result["q"]), wanted)


def test_q_learning_in_whole_numbers_is_near_that_in_floats() -> None:
    log, sizes = walked(2000), {"W": 1, "P": 5, "K": 2000}
    floats = wb.run(learning(), "numpy", data={"log": log}, sizes=sizes, progress=False)
    q = np.zeros((PLACES, ACTIONS))
    for s, a, after, reward in list(zip(*(c.tolist() for c in log.values()), strict=True)) * 5:
        q[s, a] += ALPHA * (reward + GAMMA * q[after].max() - q[s, a])
    np.testing.assert_allclose(np.asarray(floats["q"])[0], q, atol=1e-6)
    log["reward"] = np.round(log["reward"] * fixed.SCALE).astype(np.int32)
    whole = wb.run(learning(whole=True), "numpy", data={"log": log}, sizes=sizes, progress=False)
    assert q.max() > 0.05
    # a product is rounded down by at most 1 / 10,000: that of the error counts 1 / alpha times
    np.testing.assert_allclose(np.asarray(whole["q"])[0] / fixed.SCALE, q, atol=0.02)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "float": (
        lambda: fixed.product(wb.uniform(), 3),
        "uniform[]: float() is no fixed-point number: expected int32, as `fixed` makes it",
    ),
    "scale": (lambda: fixed.fixed(0.5, 0), "the scale 0; expected a positive int32"),
    "scale_of_a_float": (
        lambda: fixed.floating(3, 1e4),  # type: ignore[arg-type]
        "the scale 10000.0; expected a positive int32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, expected = REFUSED[name]

    @wb.program
    def example() -> dict[str, Any]:
        return {"y": body()}

    with pytest.raises(ProgramError) as error:
        example()
    assert error.value.message == expected
