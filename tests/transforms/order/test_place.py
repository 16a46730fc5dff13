"""Place: a statement at one value of a dimension it lacks."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.transforms.order.ordering import assert_computes_the_same, refusal
from workbench.transforms import Fuse, Place, Vectorize


@wb.program
def ending(B: int = 2, T: int = 5) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = wb.uniform(over=b)
    state[b, t + 1] = 0.9 * state
    value = wb.recurrent("value", (), over=(b, t))
    value[b, t] = wb.sin(state)
    value[b, T] = wb.exp(state[b, T])
    average = state[b, T].mean(over=b)
    return {"value": value, "average": average, "sum": value.sum(over=t), "state": state}


def test_placed_statement_stands_in_a_loop_and_writes_along_it() -> None:
    found = wb.variant(ending()).apply(Place("value[T]", "t"))
    placed = found.program.statement["value[T]"]
    assert placed.dims == ("b", "t")
    assert [str(e) for e in placed.write] == ["b", "t + 1"]
    assert "    for t:\n        value[T]\n" in found.schedule
    for T in (1, 4):
        assert_computes_the_same(found, {"T": T})


def test_placed_reduction_sums_what_it_did() -> None:
    found = wb.variant(ending()).apply(Place("average", "t", at="first"))
    assert "for t:\n    average" in found.schedule
    assert_computes_the_same(found, {"T": 3})


def test_placed_statement_joins_the_loop_of_another() -> None:
    found = wb.variant(ending()).apply(Place("value[T]", "t"))
    found = found.apply(Fuse(("state[t+1]", "value[T]")))
    assert "        state[t+1]\n        value\n        value[T]\n" in found.schedule
    for T in (1, 4):
        assert_computes_the_same(found, {"T": T})


def test_placed_statement_can_be_an_axis() -> None:
    found = wb.variant(ending()).apply(Place("value[T]", "t")).apply(Vectorize("t", "value[T]"))
    assert "axis t:\n        value[T]" in found.schedule
    for T in (1, 4):
        assert_computes_the_same(found, {"T": T})


def test_axis_refused_of_a_placed_statement_that_does_not_write_along_it() -> None:
    found = wb.variant(ending()).apply(Place("average", "t"))
    assert found.check(Vectorize("t", "average")).sentence == (
        "Vectorize('t', statements=('average',)): average has one value of t and writes average, "
        "where an array axis needs a dimension that varies over t"
    )
    assert_computes_the_same(found.apply(Vectorize("t")), {"T": 3})


@pytest.mark.parametrize(
    ("step", "kind", "sentence"),
    [
        (Place("value", "t"), "no effect", "value varies over t already"),
        (Place("sum", "t"), "capability", "sum sums over t, so it has no one value of it"),
        (
            Place("state[0]", "t"),
            "capability",
            "state[0] draws at random, and what it draws depends on its dimensions",
        ),
        (Place((), "t"), "input", "Place((), 't'): name at least one statement"),
        (Place("averge", "t"), "input", "unknown statement averge: did you mean average?"),
        (Place("average", "tt"), "input", "unknown dim tt: did you mean t? (dims: b, t)"),
        (Place("average", "t", at="end"), "input", "at 'end'; expected 'first' or 'last'"),  # type: ignore[arg-type]
    ],
)
def test_refused(step: Place, kind: str, sentence: str) -> None:
    found = refusal(wb.variant(ending()), step)
    assert found.kind == kind
    assert sentence in found.sentence
