"""Refusals as pictures: the pair that is named breaks in the order that is drawn."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, carried, leaky_sum, returns
from tests.soundness.refusals import refusals
from workbench.errors import SizeError, WorkbenchError
from workbench.session.parts.domain import PointsView
from workbench.session.parts.legality.why import WhyView, why
from workbench.session.parts.step import InstanceView
from workbench.transforms import Contract, Fuse, Recompute, Swap, Vectorize
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.variants.variant import Variant


def explained(variant: Variant, step: Transform, sizes: Any = None) -> WhyView:
    return why(variant, {"step": step.to_json(), "sizes": sizes})


def place(shown: tuple[PointsView, ...], instance: InstanceView) -> int:
    found = next(s for s in shown if s.statement == instance.statement)
    assert found.order is not None
    return found.order[found.points.index(tuple(instance.coordinates[d] for d in found.dims))]


def test_a_recurrence_as_one_operation_reads_before_it_writes() -> None:
    found = explained(wb.variant(leaky_sum()), Vectorize("t", ("s[t+1]",)))
    assert found.sizes == {"B": 1, "T": 4}
    assert found.space is not None and found.pair is not None
    (s,) = found.space.statements
    assert s.order == (0, 0, 0, 0)
    assert (found.pair.source.text, found.pair.sink.text) == (
        "s[t+1] at b=0, t=0",
        "s[t+1] at b=0, t=1",
    )
    assert all(a.violated for a in found.space.arrows)
    assert found.refusal.line is not None
    assert found.refusal.line.text.strip() == "s[b, t + 1] = 0.5 * s + x"


def test_statements_that_wait_for_each_other_stand_in_the_order_that_breaks() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    found = explained(variant, Vectorize("t", ("policy.hidden_1",)))
    assert found.space is not None and found.pair is not None
    assert found.pair.source.statement != found.pair.sink.statement
    assert place(found.space.statements, found.pair.sink) < place(
        found.space.statements, found.pair.source
    )


def test_what_stays_a_loop_has_its_own_place_at_every_instance() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    found = explained(variant, Vectorize("t", ("policy.hidden_1",)))
    assert found.space is not None
    order = {s.statement: s.order for s in found.space.statements}
    assert order == {"policy.hidden_1": (0, 0, 0, 0), "state[t+1]": (1, 2, 3, 4)}
    assert "so policy.hidden_1 cannot run as one array operation over t" in found.refusal.sentence


def test_neighbours_of_what_would_be_one_operation_are_loops_before_and_after_it() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    found = explained(variant, Vectorize("t", ("policy.output",)))
    assert found.space is not None and found.pair is not None
    assert found.pair.sink.statement != "policy.output" != found.pair.source.statement
    order = {s.statement: s.order for s in found.space.statements}
    assert order[found.pair.sink.statement] == (0, 1, 2, 3)
    assert order[found.pair.source.statement] == (4, 5, 6, 7)
    assert "so policy.output cannot run" in found.refusal.sentence


def test_nothing_is_said_of_an_order_that_is_not_drawn() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    found = explained(variant, Vectorize("t", ("policy.hidden_1",)), {"T": 500})
    assert (found.space, found.pair) == (None, None)
    assert found.remark == "; ".join(
        f"{name} has 500 instances at these sizes, more than the 400 that can be drawn"
        for name in ("state[t+1]", "policy.hidden_1")
    )


def test_a_joined_loop_is_drawn_in_the_order_that_was_refused() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    found = explained(variant, Fuse(("policy.hidden_1", "to_go")))
    assert found.space is not None and found.pair is not None
    assert found.pair.sink.statement == "to_go"
    assert place(found.space.statements, found.pair.sink) < place(
        found.space.statements, found.pair.source
    )


def test_a_folded_array_shows_who_overwrites_what_is_still_read() -> None:
    found = explained(wb.variant(returns()), Contract("reward", "t"))
    assert found.space is not None and found.pair is not None
    (arrow,) = (a for a in found.space.arrows if a.violated)
    assert arrow.kind == "overwrites"
    assert found.space.statements[arrow.sink_statement].statement == found.pair.source.statement
    assert place(found.space.statements, found.pair.source) < place(
        found.space.statements, found.pair.sink
    )


def test_a_copy_that_comes_too_early_is_drawn() -> None:
    variant = wb.variant(carried())
    step = Swap("state", prefetch=1)
    refusal = variant.check(step)
    assert refusal is not None and refusal.witness is not None
    found = explained(variant, step)
    assert found.space is not None
    assert [a.kind for a in found.space.arrows if a.violated] == ["copies"]


def test_sizes_are_set_and_too_small_ones_said() -> None:
    variant, step = wb.variant(leaky_sum()), Vectorize("t", ("s[t+1]",))
    found = explained(variant, step, {"T": 6, "B": 2})
    assert found.space is not None
    assert (found.sizes, len(found.space.statements[0].points)) == ({"B": 2, "T": 6}, 12)
    found = explained(variant, step, {"T": 1})
    assert (found.space, found.pair) == (None, None)
    assert found.remark == "it takes at least T=2 for this to happen"
    with pytest.raises(SizeError, match="must be a positive integer"):
        explained(variant, step, {"T": 0})


def test_what_lacks_a_capability_has_no_picture() -> None:
    found = explained(wb.variant(leaky_sum()), Recompute("s"))
    assert found.refusal.kind in ("capability", "no effect", "input")
    assert (found.space, found.pair, found.remark) == (None, None, "")


def test_a_step_that_can_be_taken_is_not_explained() -> None:
    with pytest.raises(WorkbenchError, match=r"Vectorize\('b'\) can be applied"):
        explained(wb.variant(leaky_sum()), Vectorize("b"))


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="unknown transform 'Vectorise'"):
        why(wb.variant(leaky_sum()), {"step": {"transform": "Vectorise"}, "sizes": None})


@pytest.mark.parametrize("count", [10, pytest.param(25, marks=pytest.mark.soundness)])
def test_every_refusal_that_is_met_names_a_pair_that_breaks(count: int) -> None:
    names = ["leaky_sum", "returns", "n_step", "carried", "drawn", "staggered"]
    for met in itertools.islice(refusals(names, sorted(REGISTRY), 1), count):
        found = explained(Variant(met.program), met.step)
        assert found.space is not None, met
        assert found.pair is not None, met
        violated = [a for a in found.space.arrows if a.violated]
        assert violated, met
        if all(a.kind == "reads" for a in violated):
            source, sink = found.pair.source, found.pair.sink
            shown = found.space.statements
            assert place(shown, sink) <= place(shown, source), met
