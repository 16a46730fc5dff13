"""Declarations of data sets: what a program says of rows from outside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.datasets.logs import averages, log, running
from workbench.errors import ProgramError
from workbench.language.outside.data import Data


def test_the_text_has_the_declaration() -> None:
    text = str(averages())
    declared = (
        "  data log over w, k: x: float(3,) in [-1.0, 1.0], near: int32 in [0, K), end: bool, "
        "far: int64"
    )
    assert declared in text.splitlines()
    assert '    log.x[w, k]: float(3,) = given("log.x")' in text.splitlines()


def test_the_content_is_in_no_text_and_no_key() -> None:
    plain = wb.variant(averages())
    one, other = (wb.variant(averages(), {"log": log(20, seed)}) for seed in (0, 1))
    assert plain.key == one.key == other.key
    assert one.program.canonical == other.program.canonical == plain.program.canonical


@wb.program
def bounded(low: int = 0, high: int = 5, K: int = 5) -> dict[str, Any]:
    """A column with bounds."""
    k = wb.dim(k=K)
    rows = wb.data("rows", {"state": ("int32", ())}, over=k, bounds={"state": (low, high)})
    return {"state": rows["state"] + 1}


def test_the_key_has_the_declaration() -> None:
    assert wb.variant(bounded()).key != wb.variant(bounded(high=6)).key


def test_a_million_rows_cost_tracing_and_optimizing_what_ten_cost() -> None:
    """As many calls of Python's, where nothing is known from before: a warmed first one is left
    out.
    """
    counts = []
    for rows in (7, 10, 1_000_000):
        data = {"log": {"x": np.zeros((rows, 4), np.float32), "n": np.zeros(rows, np.int32)}}
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            best = wb.optimize(running(), data=data, backend="native")
        finally:
            sys.setprofile(None)
        assert best.rows.sizes(None) == {"K": rows}
        counts.append(calls)
    assert counts[2] == pytest.approx(counts[1], rel=0.05)


@wb.program
def refused(how: Callable[[Any, Any], object], T: int = 3, K: int = 4) -> dict[str, Any]:
    """A program that declares or uses data wrongly."""
    t, k = wb.dims(t=T, k=K)
    how(t, k)
    return {"t": wb.index(t)}


def declared(over: Any, **columns: Any) -> Data:
    return wb.data("log", columns or {"x": ("float", ())}, over=over)


def twice(t: Any, k: Any) -> None:
    declared(k)
    declared(k)


def assigned(t: Any, k: Any) -> None:
    declared(k)["x"][k] = 1.0


def replaced(t: Any, k: Any) -> None:
    declared(k)["x"] = 1.0  # type: ignore[index]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (lambda t, k: wb.data("a log", {"x": ("float", ())}, over=k), "the name of a data set is"),
        (twice, "there is already a data set 'log'"),
        (lambda t, k: wb.data("log", {}, over=k), "log: the columns are {}; expected dtype and"),
        (lambda t, k: declared(k, x="float"), "log: column x is 'float'; expected a dtype and an"),
        (
            lambda t, k: declared(k, x=("str", ())),
            "log: column x: dtype 'str'; expected float, int",
        ),
        (lambda t, k: declared((k, k)), "expected one dim, or several different"),
        (lambda t, k: declared(k)["y"], "log has no column 'y': the only one is x"),
        (assigned, "x is a value, which cannot be assigned to"),
        (replaced, "log['x'] is data, which is only read"),
        (
            lambda t, k: wb.data("log", {"x": ("float", ())}, over=k, bounds={"z": (0, 1)}),
            "log: bounds of an unknown column 'z': the only one is x",
        ),
        (
            lambda t, k: wb.data("log", {"x": (int, ())}, over=k, bounds={"x": (0.5, 1)}),
            "log: a bound of x is 0.5; expected a whole number, or an expression over sizes",
        ),
        (
            lambda t, k: wb.data("log", {"x": (float, ())}, over=k, bounds={"x": (2, 1)}),
            "log: the bounds (2, 1) of x hold no number",
        ),
        (
            lambda t, k: wb.data("log", {"x": (bool, ())}, over=k, bounds={"x": (0, 1)}),
            "log: the bounds of x are (0, 1); expected none, of bools",
        ),
        (
            lambda t, k: wb.data("log", {"x": (int, ())}, over=k, bounds={"x": (0, t)}),
            "log: a bound of x is t; expected a whole number",
        ),
    ],
)
def test_declaration_refused(how: Callable[[Any, Any], object], sentence: str) -> None:
    with pytest.raises(ProgramError) as error:
        refused(how)
    assert sentence in error.value.message
    assert error.value.line is not None
    assert error.value.line.file == __file__


def test_recomputing_a_column_elsewhere_reads_the_same_rows() -> None:
    """A column is told apart by its instance: a clone is of the whole column, or of none."""
    plain = wb.variant(averages())
    refusal = plain.check(wb.transforms.Recompute("log.x"))
    assert refusal is not None
    assert "given is told apart at its own instance" in refusal.sentence
    again = plain.apply(wb.transforms.Recompute("log.near"))
    data = {"log": log(10)}
    found, wanted = (wb.run(v, "numpy", data=data, progress=False) for v in (again, plain))
    np.testing.assert_array_equal(found["mean"], wanted["mean"])
