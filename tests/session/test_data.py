"""A workbench of a program that reads data: its processes read the rows that it was given."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.datasets.logs import averages, log, truth
from tests.session.listening import Listener
from workbench.errors import WorkbenchError
from workbench.session.jupyter import notebook


def rows(seed: int = 0) -> dict[str, Any]:
    """Rows that checks at small sizes take too."""
    return {**log(20, seed), "near": np.zeros(20, int)}


@pytest.fixture
def store(lasting: None, tmp_path: Path) -> Iterator[Path]:
    notebook.notebook.cache_clear()
    yield tmp_path / "measured.jsonl"
    notebook.notebook().sessions.forget("averages")
    notebook.notebook().close()
    notebook.notebook.cache_clear()


def test_runs_measurements_and_values_are_of_the_rows(store: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", **rows())
    bench = wb.Workbench(averages(), store, data={"log": tmp_path / "log.npz"})
    assert {s.name: s.default for s in bench._session.state().sizes}["K"] == 10
    found = bench.run(backend="numpy", dtype="float64")
    np.testing.assert_allclose(found["mean"], truth(rows(), 2)["mean"], rtol=1e-12)
    made = bench.apply(wb.transforms.Vectorize("w"))
    compared = bench.measure(backend="numpy", repeats=1)
    assert [row.measurement.data[0].rows for row in compared] == [20, 20]
    assert compared[1].measurement.check.measured.startswith("agrees with as written")
    view = Listener(notebook.notebook().sessions, "averages")
    asked = {"array": "log.x", "coordinates": {"w": 0, "k": 1}, "sizes": {}, "seed": 0}
    value = view.want("value", made.key, **asked)
    assert value["note"] == ""
    assert value["of"]["text"] == ", ".join(f"{x:.4g}" for x in rows()["x"][1]).join("[]")


def test_the_same_program_is_shown_with_other_rows(store: Path) -> None:
    bench = wb.Workbench(averages(), store, data={"log": rows()})
    made = bench.apply(wb.transforms.Vectorize("w"))
    again = wb.Workbench(averages(), store, data={"log": rows()})
    assert again.variants[-1] is made
    other = wb.Workbench(averages(), store, data={"log": rows(1)})
    end = time.monotonic() + 120
    while len(other.variants) < 2:  # the step is taken anew
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    found = other.run(other.variants[-1], backend="numpy", dtype="float64")
    np.testing.assert_allclose(found["mean"], truth(rows(1), 2)["mean"], rtol=1e-12)


def test_a_workbench_without_data_says_what_a_run_lacks(store: Path) -> None:
    bench = wb.Workbench(averages(), store)
    view = Listener(notebook.notebook().sessions, "averages")
    asked = {"array": "log.x", "coordinates": {"w": 0, "k": 1}, "sizes": {}, "seed": 0}
    value = view.want("value", bench.variant.key, **asked)
    assert value["note"] == "the rows of log are drawn within their bounds: no data was given"
    with pytest.raises(WorkbenchError, match="averages reads the data set 'log', which is not"):
        bench.run(backend="numpy")


def test_a_watched_template_keeps_its_data(store: Path) -> None:
    watched = wb.watch(averages, store=wb.store(store), data={"log": rows()}, I=1)
    watched.set(I=2)
    end = time.monotonic() + 120
    while watched.variant.program.parameters[2].default != 2:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    found = watched.run(backend="numpy", dtype="float64")
    np.testing.assert_allclose(found["mean"], truth(rows(), 2)["mean"], rtol=1e-12)
