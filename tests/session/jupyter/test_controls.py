"""The controls of a watched template in a cell, and what is changed beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest

import workbench as wb
from workbench.session.jupyter import notebook
from workbench.session.jupyter.controls import controls


@wb.program
def sums(
    T: int = 3,
    kind: Literal["sum", "mean"] = "sum",
    hidden: Any = (4, 4),
    rate: float = 1e-3,
    share: float = 0.5,
    scaled: bool = False,
) -> dict[str, Any]:
    """An argument of each kind."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    y = rate * x if scaled else share * x
    return {"all": y.sum(over=t) if kind == "sum" else y.mean(over=t)}


@pytest.fixture
def watched() -> Iterator[Any]:
    notebook.notebook.cache_clear()
    yield wb.watch(sums)._watched
    notebook.notebook().close()
    notebook.notebook.cache_clear()


def shown(box: Any) -> dict[str, Any]:
    return {row.description: row.value for row in box.children[:-1]}


def test_a_control_changes_its_argument(watched: Any) -> None:
    box = controls(watched)
    rows = {row.description: row for row in box.children[:-1]}
    rows["T"].value = 5
    rows["hidden"].value = "(8,"
    assert watched.arguments["T"] == 5
    assert watched.arguments["hidden"] == (4, 4)
    assert "no Python value" in box.children[-1].value


def test_controls_follow_what_is_changed_elsewhere_and_change_nothing_themselves(
    watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = controls(watched)
    values = {
        "T": 5000, "kind": "mean", "hidden": [16, 16], "rate": 2.5, "share": 3.0, "scaled": True
    }  # fmt: skip
    asked: list[Any] = []
    monkeypatch.setattr(watched, "_trace", lambda: asked.append(dict(watched.arguments)))
    watched.change(values)
    expected = {**values, "hidden": "(16, 16)"}
    assert shown(box) == expected  # beyond the range that a slider had, too
    assert asked == [{**values, "hidden": (16, 16)}]  # traced once


def test_controls_are_as_wide_as_their_notebook_up_to_a_limit(watched: Any) -> None:
    for row in controls(watched).children[:-1]:
        assert (row.layout.width, row.layout.max_width) == ("auto", "28em")
