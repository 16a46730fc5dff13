"""Reasons of legal steps as pictures: equal numbers are one array operation, arrows go forwards."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.programs import carried, leaky_sum, returns
from tests.transforms.documented import documented
from workbench.errors import SizeError
from workbench.session.parts.legality.reason import ReasonView, reason
from workbench.transforms import Contract, Incrementalize, Layout, Vectorize
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant


def explained(variant: Variant, step: Transform, sizes: Any = None) -> ReasonView:
    return reason(variant, {"step": step.to_json(), "sizes": sizes})


def orders(view: ReasonView) -> dict[str, tuple[int, ...] | None]:
    assert view.space is not None
    return {s.statement: s.order for s in view.space.statements}


def test_a_range_as_one_operation_reads_what_is_complete() -> None:
    view = explained(wb.variant(returns()), Vectorize("t", ("to_go",)))
    assert view.sentence.startswith("no to_go reads another along t; all read reward")
    order = orders(view)
    assert order["to_go"] is not None and len({*order["to_go"]}) == 1 < len(order["to_go"])
    assert order["reward"] is not None and max(order["reward"]) < order["to_go"][0]


@pytest.mark.parametrize(
    "step", [Vectorize("b"), Vectorize("t", ("to_go",)), Contract("reward", "b")]
)
def test_no_arrow_of_a_legal_step_goes_backwards(step: Transform) -> None:
    view = explained(wb.variant(returns()), step)
    assert view.space is not None and view.space.arrows
    for arrow in view.space.arrows:
        source = view.space.statements[arrow.source_statement]
        sink = view.space.statements[arrow.sink_statement]
        assert source.order is not None and sink.order is not None
        assert not arrow.violated
        assert source.order[arrow.source] < sink.order[arrow.sink]


def test_who_overwrites_what_is_used_is_an_arrow_of_its_own() -> None:
    before, _, _ = documented("Contract")
    view = explained(before, Contract("position", "t"))
    assert view.space is not None
    kinds = {arrow.kind for arrow in view.space.arrows}
    assert "overwrites" in kinds
    assert {one.kind for one in view.dependences} == {"overwrites"}


def test_sizes_are_set_and_bad_ones_refused() -> None:
    view = explained(wb.variant(leaky_sum()), Vectorize("b"), {"B": 3, "T": 4})
    assert view.sizes == {"B": 3, "T": 4}
    with pytest.raises(SizeError, match="must be a positive integer"):
        explained(wb.variant(leaky_sum()), Vectorize("b"), {"T": 0})


def test_a_step_on_equations_says_what_meets_its_conditions() -> None:
    view = explained(wb.variant(returns()), Incrementalize("to_go", "t"))
    assert [c.statement for c in view.conditions] == ["to_go"] * len(view.conditions)
    assert len(view.before) == 1 and len(view.after) == 2


def test_what_no_dependence_matters_to_has_no_picture() -> None:
    view = explained(wb.variant(carried()), Layout("state", ("t", "b", "i", "...")))
    assert (view.space, view.dependences) == (None, ())


def test_a_refused_step_is_not_explained_as_legal() -> None:
    with pytest.raises(wb.Refused):
        explained(wb.variant(leaky_sum()), Vectorize("t", ("s[t+1]",)))
