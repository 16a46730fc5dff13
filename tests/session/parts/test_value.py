"""Values by the reference, their inputs, and what made them not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import leaky_sum, returns, small_ppo
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, SizeError, WorkbenchError
from workbench.session.parts import value as part
from workbench.session.parts.value import ValueView
from workbench.variants.variant import Variant


@wb.program
def unstable(B: int = 2, T: int = 6) -> dict[str, Any]:
    """A recurrence whose logarithm is NaN from the third slice on."""
    b, t = wb.dims(b=B, t=T)
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 3.0
    s[b, t + 1] = wb.log(s)
    wide = wb.normal(shape=4, over=(b, t)) / (s - s)
    return {"last": s[b, T], "wide": wide}


def value(variant: Variant, array: str, sizes: Any = None, **coordinates: int) -> ValueView:
    given = {"array": array, "coordinates": coordinates, "sizes": sizes or {}, "seed": 0}
    return part.value(variant, given)


def test_a_value_is_the_references_at_the_least_sizes_that_hold_it() -> None:
    found = value(wb.variant(leaky_sum()), "s", b=1, t=2)
    assert found.sizes == {"B": 2, "T": 2}
    truth = Reference(leaky_sum().equations, {"B": 2, "T": 2}).element("s", (1, 2))
    assert found.of.text == f"{float(truth):.4g}"
    assert (found.of.statement, found.of.instance) == ("s[t+1]", {"b": 1, "t": 1})
    assert [(i.array, dict(i.coordinates)) for i in found.inputs] == [
        ("s", {"b": 1, "t": 1}),
        ("x", {"b": 1, "t": 1}),
    ]
    assert [i.statement for i in found.inputs] == ["s[t+1]", "x"]
    assert found.equation == "s[b, t + 1] = 0.5 * s[b, t] + x[b, t]"
    assert found.line is not None and found.line.text.strip() == "s[b, t + 1] = 0.5 * s + x"


def test_sizes_that_are_given_stay() -> None:
    assert value(wb.variant(leaky_sum()), "s", {"B": 7, "T": 9}, b=0, t=0).sizes == {"B": 7, "T": 9}
    found = value(wb.variant(small_ppo()), "advantage", b=1, i=0, t=3)
    assert (found.sizes["B"], found.sizes["T"]) == (2, 3)


def test_outputs_go_by_their_names() -> None:
    assert value(wb.variant(returns()), "mean").of.array in returns().array


def test_what_is_not_finite_leads_back_to_where_it_began() -> None:
    found = value(wb.variant(unstable()), "s", b=0, t=5)
    assert (found.of.text, found.of.not_finite) == ("nan", "NaN")
    trail = [(e.array, e.coordinates["t"]) for e in found.cause]
    slices = Reference(unstable().equations, {"B": 1, "T": 5}).array("s")[0]
    first = int(np.argmax(~np.isfinite(slices)))
    assert trail == [("s", t) for t in range(5, first - 1, -1)]
    assert all(e.not_finite for e in found.cause)


def test_an_output_is_looked_at_where_the_program_is_run() -> None:
    found = value(wb.variant(unstable()), "last", b=0)
    assert (found.sizes["T"], found.of.not_finite, len(found.cause) > 1) == (6, "NaN", True)


def test_a_finite_value_has_no_cause() -> None:
    assert value(wb.variant(unstable()), "s", b=0, t=1).cause == ()


def test_of_a_tensor_it_says_how_much_is_not_finite() -> None:
    found = value(wb.variant(unstable()), "wide", b=0, t=0)
    assert found.of.shape == (4,)
    assert found.of.not_finite == "of 4 entries 4 infinite"


def test_a_long_list_of_inputs_is_cut_and_keeps_what_is_not_finite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(part, "MOST_INPUTS", 2)

    @wb.program
    def summed(T: int = 6) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        x[t] = wb.uniform(over=t) / wb.cast(wb.index(t - 4), float)
        return {"x": x, "total": x.sum(over=t)}

    found = value(wb.variant(summed()), "total", {"T": 6})
    assert (len(found.inputs), found.more_inputs) == (2, 4)
    assert [i.coordinates["t"] for i in found.inputs if i.not_finite] == [4]


def test_what_takes_too_long_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "LONGEST", 0.0)
    with pytest.raises(
        WorkbenchError, match=r"s at B=1, T=3 takes the reference longer than 0 s; choose smaller"
    ):
        value(wb.variant(leaky_sum()), "s", b=0, t=3)


def test_bad_questions_are_refused() -> None:
    variant = wb.variant(leaky_sum())
    with pytest.raises(ProgramError, match="unknown array 'ss'"):
        value(variant, "ss", b=0, t=0)
    with pytest.raises(ProgramError, match="say where along t"):
        value(variant, "s", b=0)
    with pytest.raises(ProgramError, match="s"):
        value(variant, "s", {"B": 1, "T": 2}, b=0, t=9)
    with pytest.raises(SizeError, match="unknown size"):
        value(variant, "s", {"X": 2}, b=0, t=0)
