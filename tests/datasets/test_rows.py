"""Rows against their declaration, and what a run is given of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.datasets.logs import averages, log
from workbench.datasets.fitting import DataError
from workbench.datasets.rows import CheckRows, DrawnRows, GivenRows
from workbench.errors import SizeError, WorkbenchError

PROGRAM = averages().equations
SIZES = {"W": 2, "K": 5, "I": 2}


def tables(rows: dict[str, Any], **sizes: int) -> dict[str, Any]:
    return GivenRows(PROGRAM, {"log": rows}).tables({**SIZES, **sizes}, "float32")


def changed(column: str, row: int, value: Any, rows: int = 12) -> dict[str, Any]:
    made = log(rows)
    made[column][row] = value
    return made


def test_rows_are_dealt_out_in_row_major_order() -> None:
    rows = log(17)
    made = tables(rows, W=3)
    np.testing.assert_array_equal(made["log.x"][2, 4], rows["x"][14].astype(np.float32))
    assert {name: (x.shape, str(x.dtype)) for name, x in made.items()} == {
        "log.x": ((3, 5, 3), "float32"),
        "log.near": ((3, 5), "int32"),
        "log.end": ((3, 5), "bool"),
        "log.far": ((3, 5), "int64"),
    }


def test_what_has_the_dtype_is_not_copied() -> None:
    rows = {**log(10), "near": np.zeros(10, np.int32)}
    made = GivenRows(PROGRAM, {"log": rows}).tables(SIZES, "float64")
    assert np.shares_memory(made["log.x"], rows["x"])
    assert np.shares_memory(made["log.near"], rows["near"])


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (None, {"K": 8}),
        ({"W": 3}, {"W": 3, "K": 5}),
        ({"K": 4}, {"K": 4, "W": 4}),
        ({"W": 3, "K": 2}, {"W": 3, "K": 2}),
    ],
)
def test_a_size_follows_from_the_number_of_rows(
    given: dict[str, int] | None, sizes: dict[str, int]
) -> None:
    assert GivenRows(PROGRAM, {"log": log(17)}).sizes(given) == sizes


def test_rows_before_a_run_that_goes_on_are_skipped() -> None:
    rows = log(20)
    made = GivenRows(PROGRAM, {"log": rows}).tables({**SIZES, "K": 3}, "float64", ("k", 7))
    np.testing.assert_array_equal(made["log.x"], rows["x"].reshape(2, 10, 3)[:, 7:])


def test_a_pandas_table_has_columns_of_numbers() -> None:
    @wb.program
    def mean(K: int = 2) -> dict[str, Any]:
        k = wb.dim(k=K)
        log = wb.data("log", {"reward": (float, ()), "state": (int, ())}, over=k)
        return {"mean": log["reward"].mean(over=k), "states": log["state"].sum(over=k)}

    table = pd.DataFrame({"state": [3, 1, 4], "reward": [0.5, 0.25, 0.0]})
    found = wb.run(mean(), "numpy", data={"log": table}, dtype="float64", progress=False)
    assert (found["mean"], found["states"]) == (0.25, 8)
    with pytest.raises(WorkbenchError, match="column state is an array of object"):
        wb.run(mean(), "numpy", data={"log": table.astype({"state": object})}, progress=False)


MISFITS = {
    "another set": ({"lag": log(9)}, "averages has no data set 'lag': did you mean log?"),
    "no set": ({}, "averages reads the data set 'log', which is not given; pass data={"),
    "no mapping": ([log(9)], "expected sources by name"),
    "no columns": ({"log": 3}, "the data 'log' are of type int; expected arrays by column"),
    "a plain array": ({"log": np.zeros(3)}, "the data 'log' are an array of float64; expected"),
    "texts": (
        {"log": {**log(2), "end": np.array(["a", "b"])}},
        "column end is an array of <U1; expected an array of numbers",
    ),
    "a missing column": (
        {"log": {"x": log(9)["x"]}},
        "data 'log': there is no column 'near', which the program declares; the only one is x",
    ),
    "an undeclared column": (
        {"log": {**log(9), "reward": np.zeros(9)}},
        "data 'log': the program declares no column 'reward'; did you mean near? ",
    ),
    "floats for whole numbers": (
        {"log": {**log(9), "near": np.zeros(9)}},
        "data 'log': column near is float64, expected int32 (whole numbers, like int32 or int64)",
    ),
    "whole numbers for floats": (
        {"log": {**log(9), "x": np.zeros((9, 3), int)}},
        "data 'log': column x is int64, expected float (floats, like float32 or float64)",
    ),
    "whole numbers for bools": (
        {"log": {**log(9), "end": np.zeros(9, int)}},
        "data 'log': column end is int64, expected bool (bool)",
    ),
    "a number": (
        {"log": {**log(9), "end": np.True_}},
        "data 'log': column end is one number, expected rows",
    ),
    "columns of several lengths": (
        {"log": {**log(9), "end": np.zeros(8, bool)}},
        "data 'log': the columns differ in their number of rows: x=9, near=9, end=8, far=9",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_sources_refused(name: str) -> None:
    given, sentence = MISFITS[name]
    with pytest.raises(WorkbenchError) as error:
        GivenRows(PROGRAM, given)  # type: ignore[arg-type]
    assert sentence in error.value.message


VALUES = {
    "too few": (log(9), "there are 9 rows, expected 10: 2 of w times 5 of k"),
    "another shape": (
        {**log(12), "x": np.zeros((12, 2))},
        "a row of x has the shape (2,), expected (3,)",
    ),
    "NaN": (changed("x", 7, np.nan), "row 7 of x[0] is NaN, expected a number"),
    "above": (changed("near", 3, 5), "row 3 of near is 5, expected less than 5 (K)"),
    "below": (changed("near", 4, -1), "row 4 of near is -1, expected at least 0"),
    "a float above": (changed("x", 9, 1.5), "row 9 of x[0] is 1.5, expected at most 1.0"),
    "wide": (changed("near", 2, 2**40), f"row 2 of near is {2**40}, expected what int32 holds"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_refused(name: str) -> None:
    rows, sentence = VALUES[name]
    with pytest.raises(DataError) as error:
        tables(rows)
    assert error.value.message == f"data 'log': {sentence}"
    assert error.value.line is not None
    assert error.value.line.text == "log = wb.data("


def test_rows_that_no_run_reads_may_be_anything() -> None:
    rows = changed("near", 11, -9)
    given = GivenRows(PROGRAM, {"log": rows})
    given.tables(SIZES, "float32")
    with pytest.raises(DataError, match="row 11 of near is -9"):
        given.tables({**SIZES, "K": 6}, "float32")


def test_a_bound_may_be_a_size() -> None:
    @wb.program
    def looked_up(K: int = 4, S: int = 3) -> dict[str, Any]:
        k = wb.dim(k=K)
        rows = wb.data("rows", {"state": (int, ())}, over=k, bounds={"state": (0, S)})
        return {"state": rows["state"] * 1}

    given = GivenRows(looked_up().equations, {"rows": {"state": np.array([0, 3, 1])}})
    given.tables({"K": 3, "S": 4}, "float32")
    with pytest.raises(DataError, match=r"row 1 of state is 3, expected less than 3 \(S\)"):
        given.tables({"K": 3, "S": 3}, "float32")


def test_drawn_rows_lie_within_their_bounds() -> None:
    made = DrawnRows(PROGRAM).tables({**SIZES, "W": 100}, "float64")
    assert set(np.unique(made["log.near"])) == set(range(5))
    assert -1 <= made["log.x"].min() < -0.9 < 0.9 < made["log.x"].max() <= 1
    assert 150 < made["log.end"].sum() < 350
    again = DrawnRows(PROGRAM).tables({**SIZES, "W": 100}, "float64")
    np.testing.assert_array_equal(made["log.x"], again["log.x"])


def test_checks_take_the_first_rows_over_again_where_there_are_fewer() -> None:
    rows = log(7)
    first = CheckRows(PROGRAM, GivenRows(PROGRAM, {"log": rows}))
    np.testing.assert_array_equal(
        first.tables({**SIZES, "W": 1}, "float64")["log.x"][0], rows["x"][:5]
    )
    assert first.note() == ""
    again = first.tables(SIZES, "float64")["log.x"].reshape(10, 3)
    np.testing.assert_array_equal(again, np.concatenate([rows["x"], rows["x"][:3]]))
    assert first.note() == "the 7 rows of log come over again"


def test_content_is_told_apart_by_rows_and_digest() -> None:
    def identity(rows: dict[str, Any], **sizes: int) -> Any:
        (found,) = GivenRows(PROGRAM, {"log": rows}).identity({**SIZES, **sizes})
        return found

    rows = log(12)
    first = {name: x[:10] for name, x in rows.items()}
    same = identity(first)
    assert same == identity(rows) == identity(dict(reversed(first.items())))
    assert (same.name, same.rows, len(same.sha256)) == ("log", 10, 64)
    assert same != identity({**first, "end": ~first["end"]})
    assert same != identity(rows, K=6)


def test_a_size_that_is_given_must_be_a_size() -> None:
    with pytest.raises(SizeError, match="unknown size 'L'"):
        wb.run(averages(), "numpy", data={"log": log(9)}, sizes={"L": 3}, progress=False)
