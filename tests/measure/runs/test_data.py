"""Runs, measurements, comparisons, profiles and values of programs that read data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.datasets.logs import averages, log, regression, running, truth
from workbench.backends.reference.evaluator import Reference
from workbench.datasets.fitting import DataError
from workbench.measure.compare import comparison
from workbench.measure.rounds.measurement import from_json
from workbench.transforms import (
    Accumulate,
    Contract,
    Donate,
    Persist,
    Recompute,
    Reschedule,
    Swap,
    Tile,
    Vectorize,
)

QUIET: Any = {"progress": False}

VARIANTS = {
    "as written": [],
    "vectorized": [Vectorize("w"), Vectorize("k")],
    "contracted": [Vectorize("w"), Contract(), Donate()],
    "persisted": [Persist("w", 4), Contract(), Donate()],
    "tiled": [Tile("k", 4)],
    "on the host": [Swap("log.x"), Contract()],
}


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_computes_what_numpy_does(name: str, backend: str) -> None:
    rows = log(37)
    variant = wb.variant(averages())
    for step in VARIANTS[name]:
        variant = variant.apply(step)
    found = wb.run(variant, backend, data={"log": rows}, sizes={"W": 7}, dtype="float64", **QUIET)
    assert found.sizes == {"W": 7, "K": 5, "I": 2}
    wanted = truth({column: x[:35] for column, x in rows.items()}, 7)
    np.testing.assert_allclose(found["mean"], wanted["mean"], rtol=1e-12)
    np.testing.assert_array_equal(found["far"], wanted["far"])


def test_the_reference_reads_the_rows() -> None:
    rows = log(10)
    data = wb.variant(averages(), {"log": rows}).rows.tables({"W": 2, "K": 5}, "float64")
    found = Reference(averages().equations, {"W": 2, "K": 5}, data=data).outputs()
    np.testing.assert_allclose(found["mean"], truth(rows, 2)["mean"], rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_gradients_go_through_what_is_computed_of_rows(backend: str) -> None:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((50, 3)), random.standard_normal(50)
    found = wb.run(regression(), backend, data={"rows": {"x": x, "y": y}}, dtype="float64", **QUIET)
    v, losses = np.full(3, 0.5), []
    for _ in range(3):
        off = x @ v - y
        losses.append(np.mean(off**2))
        v = v - 0.1 * 2 * (x.T @ off) / 50
    np.testing.assert_allclose(found["loss"], losses, rtol=1e-12)
    np.testing.assert_allclose(found.carried["parameters.v.value"], v, rtol=1e-12)


def test_a_kernel_that_reads_a_column_twice_finds_it_once() -> None:
    """A column and its clone, which is computed again, in one kernel."""
    variant = wb.variant(regression())
    for step in (
        Accumulate("k"),
        Contract("loss_sum.points"),
        Recompute("rows.x"),
        Reschedule(("loss_difference", "gradient.v.value.points")),
        Persist("k", 3),
    ):
        variant = variant.apply(step)
    rows = {"x": np.ones((9, 3)), "y": np.arange(9.0)}
    found, wanted = (
        wb.run(variant, backend, data={"rows": rows}, dtype="float64", **QUIET)["loss"]
        for backend in ("native", "numpy")
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_structured_array_is_columns() -> None:
    rows = log(10)
    kind = [(name, x.dtype, x.shape[1:]) for name, x in rows.items()]
    structured = np.empty(10, kind)
    for name, x in rows.items():
        structured[name] = x
    found = wb.run(averages(), "numpy", data={"log": structured}, dtype="float64", **QUIET)
    np.testing.assert_allclose(found["mean"], truth(rows, 2)["mean"], rtol=1e-12)


def test_rows_are_read_where_they_lie() -> None:
    """A variant that keeps one row of each column holds as much for 20 rows as for 2,000."""
    variant = wb.variant(running()).apply(Contract()).apply(Donate())
    for backend in ("numpy", "native"):
        peaks = []
        for count in (20, 2000):
            rows = {"x": np.ones((count, 4), np.float32), "n": np.ones(count, np.int32)}
            found = wb.run(variant, backend, data={"log": rows}, **QUIET)
            peaks.append(found.peak)
            np.testing.assert_allclose(found["last"], 2.0, rtol=1e-5)
        assert peaks[0] == peaks[1]


def test_what_is_kept_of_the_rows_is_counted_where_it_is_held() -> None:
    rows = {"x": np.ones((2000, 4), np.float32), "n": np.ones(2000, np.int32)}
    written, swapped = (
        wb.run(variant, "numpy", data={"log": rows}, **QUIET).peak
        for variant in (wb.variant(running()), wb.variant(running()).apply(Swap("log.x")))
    )
    assert written["device"] - swapped["device"] == rows["x"].nbytes == swapped["host"]


def few(rows: int, seed: int = 0) -> dict[str, Any]:
    """Rows that checks at small sizes take too."""
    return {**log(rows, seed), "near": np.zeros(rows, int)}


def test_a_run_without_data_is_refused() -> None:
    with pytest.raises(DataError, match="averages reads the data set 'log', which is not given"):
        wb.run(averages(), "numpy", **QUIET)


def test_a_measurement_has_rows_and_digest() -> None:
    given: Any = {"backend": "numpy", "repeats": 2, "sizes": {"W": 2, "K": 9}, **QUIET}
    found = wb.measure(averages(), data={"log": few(60)}, **given)
    assert found.checked is True
    (identity,) = found.data
    assert (identity.name, identity.rows, len(identity.sha256)) == ("log", 18, 64)
    assert f"data log: 18 rows, {identity.sha256[:12]}…" in str(found)
    again = from_json(json.loads(json.dumps(found.to_json())))
    assert again.data == found.data
    drawn = wb.measure(averages(), **given)
    assert "the rows of log are drawn within their bounds: no data was given" in str(drawn.check)
    assert [one.sha256 for one in drawn.data] == ["drawn"]


def test_only_measurements_of_equal_data_have_a_ratio() -> None:
    given: Any = {"backend": "numpy", "repeats": 2, **QUIET}
    one, same, other = (
        wb.measure(wb.variant(averages()), data={"log": rows}, **given)
        for rows in (few(10), few(10), few(10, seed=1))
    )
    rows = comparison({"one": one, "same": same, "other": other})
    assert [np.isnan(row.ratio) for row in rows] == [False, False, True]


def test_a_comparison_takes_data() -> None:
    variant = wb.variant(averages())
    found = wb.compare(
        [variant, variant.apply(Vectorize("w"))],
        "numpy",
        data={"log": few(20)},
        repeats=2,
        **QUIET,
    )
    assert all(row.measurement.checked is True for row in found)
    assert found[1].measurement.check.measured.startswith("agrees with as written")
    assert found[0].measurement.sizes["K"] == 10


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_a_profile_takes_data(backend: str) -> None:
    found = wb.profile(wb.variant(averages()), backend, data={"log": log(200)}, **QUIET)
    assert found.sizes["K"] == 100
    assert "log.x" in {part.statement for part in found.parts}


def test_a_value_is_of_the_rows_or_says_that_they_are_drawn() -> None:
    rows = log(10)
    found = wb.value(averages(), "log.x", w=1, k=2, data={"log": rows})
    np.testing.assert_array_equal(found.value, rows["x"][7])
    assert (found.note, found.equation) == ("", 'log.x[w, k] = given("log.x")')
    drawn = wb.value(averages(), "log.near", w=1, k=2)
    assert 0 <= drawn.value < 5
    assert str(drawn).endswith("the rows of log are drawn within their bounds: no data was given")
    carried = wb.value(wb.variant(averages(), {"log": rows}), "log.x", w=0, k=4)
    np.testing.assert_array_equal(carried.value, rows["x"][4])


def test_optimizing_takes_sizes_from_the_data() -> None:
    few, many = (
        wb.optimize(averages(), data={"log": log(rows)}, backend="numpy", sizes={"W": 2})
        for rows in (6, 4000)
    )
    assert few.data is not None
    assert many.rows.sizes(None) == {"K": 2000}
    assert wb.run(many, "numpy", **QUIET).sizes["K"] == 2000


# -- with tables and with ends ---------------------------------------------------------------------


@wb.program
def q_learning(W: int = 4, I: int = 3, K: int = 5, states: int = 6, actions: int = 3) -> Any:
    """Workers learn tables of their own from their slices of a log, which are averaged."""
    w, i, k = wb.dims(w=W, i=I, k=K)
    columns = dict.fromkeys(("state", "action", "following"), (int, ()))
    columns |= {"reward": (float, ()), "terminated": (bool, ())}
    bounds = {"state": (0, states), "following": (0, states), "action": (0, actions)}
    log = wb.data("log", columns, over=(w, k), bounds=bounds)
    q = wb.recurrent("q", (states, actions), over=(w, i, k))
    q[w, 0, 0] = 0.0
    q[w, i + 1, 0] = q[w, i, K]
    entry = (log["state"], log["action"])
    best = q[..., log["following"], :].max(axis=-1)
    target = log["reward"] + 0.9 * wb.where(log["terminated"], 0.0, best)
    old = q[..., entry[0], entry[1]]
    q[w, i, k + 1] = wb.put(q, entry, old + 0.5 * (target - old))
    return {"q": q[w, I, 0].mean(over=w)}


def transitions(rows: int) -> dict[str, Any]:
    """Steps anywhere to anywhere."""
    random = np.random.default_rng(1)
    names = {"state": 6, "action": 3, "following": 6}
    log = {name: random.integers(0, most, rows) for name, most in names.items()}
    return {**log, "reward": random.random(rows), "terminated": random.random(rows) < 0.2}


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_tables_are_learned_from_a_log(backend: str) -> None:
    rows = transitions(21)
    q = np.zeros((4, 6, 3))
    for w in range(4):
        for _ in range(3):
            for r in range(5 * w, 5 * w + 5):
                at = w, rows["state"][r], rows["action"][r]
                best = 0.0 if rows["terminated"][r] else q[w, rows["following"][r]].max()
                q[at] += 0.5 * (rows["reward"][r] + 0.9 * best - q[at])
    program = q_learning()
    blocks = wb.variant(program).apply(Persist("w", 2)).apply(Contract()).apply(Donate())
    for variant in (wb.variant(program), blocks):
        given: Any = {"data": {"log": rows}, "dtype": "float64", **QUIET}
        found = wb.run(variant, backend, **given)
        assert found.sizes["K"] == 5
        np.testing.assert_allclose(found["q"], q.mean(axis=0), rtol=1e-13)


@wb.program
def until_done(B: int = 3, T: int = 4) -> dict[str, Any]:
    """Returns of recorded episodes: rewards up to the step that is done."""
    b, t = wb.dims(b=B, t=T)
    log = wb.data("log", {"reward": (float, ()), "done": (bool, ())}, over=(b, t))
    end = wb.until(log["done"], over=t)
    gain = log["reward"] * 1.0
    return {"return": gain.sum(over=t), "last": log["reward"][b, end]}


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_episodes_of_a_log_end(backend: str) -> None:
    done = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0]], bool)
    reward = np.arange(1.0, 13.0).reshape(3, 4)
    rows = {"reward": reward.ravel(), "done": done.ravel()}
    program = until_done()
    found = wb.run(wb.variant(program), backend, sizes={"T": 4}, data={"log": rows}, **QUIET)
    np.testing.assert_allclose(found["return"], [1 + 2, 5 + 6 + 7 + 8, 9])
    np.testing.assert_allclose(found["last"], [2, 8, 9])
    np.testing.assert_array_equal(found.lengths["t"], [2, 4, 1])
