"""Why steps are legal: the sentences, and that they print."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from tests.programs import PROGRAMS, carried, leaky_sum, ranges, returns
from tests.transforms.documented import documented
from tests.transforms.reasons.steps import taken
from workbench.errors import WorkbenchError
from workbench.transforms import (
    Contract,
    Donate,
    Fuse,
    Incrementalize,
    Interchange,
    Layout,
    Swap,
    Tile,
    Vectorize,
)
from workbench.transforms.step.transform import REGISTRY


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_reasons_are_golden(golden: GoldenFiles, name: str) -> None:
    """All of it for the documented step, the sentence for those on other programs."""
    (_, on, step), *others = taken(name)
    lines = [str(on.why(step)), *(f"\n{program}\n{_brief(v, s)}" for program, v, s in others)]
    golden(f"reasons/{name}.txt", "\n".join(lines) + "\n")


def _brief(variant: wb.Variant, step: wb.transforms.Vectorize | object) -> str:
    reason = variant.why(step)  # type: ignore[arg-type]
    return f"{reason.step}\n  {reason.sentence}"


def test_golden_reasons_are_those_of_the_transforms(golden: GoldenFiles) -> None:
    assert {path.stem for path in (golden.folder / "reasons").iterdir()} == set(REGISTRY)


def test_a_range_is_legal_as_one_operation_where_a_recurrence_is_not() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    reason = variant.why(Vectorize("t", ("to_go",)))
    assert reason.sentence.startswith(
        "no to_go reads another along t; all read gain, which is complete before"
    )
    with pytest.raises(wb.Refused, match="cannot run as one array operation over t"):
        variant.why(Vectorize("t", ("state",)))


def test_equal_numbers_are_one_array_operation() -> None:
    reason = wb.variant(returns()).why(Vectorize("t", ("to_go",)))
    (order,) = (p.order for p in reason.instances if p.statement == "to_go")
    assert len(order) >= 2 and len({*order}) == 1
    assert "equal numbers run as one array operation" in str(reason)


def test_what_is_read_of_the_same_iteration_is_told_from_what_is_complete() -> None:
    reason = wb.variant(leaky_sum()).why(Vectorize("b", ("s[t+1]",)))
    assert (
        "no s[t+1] reads another along b; s[t+1] reads s[0], which is complete before, and x"
        in (reason.sentence)
    )


def test_blocks_of_a_loop_keep_every_instance_in_its_place() -> None:
    reason = wb.variant(leaky_sum()).why(Tile("t", 2))
    assert reason.sentence == (
        "every instance keeps its place: blocks of t run one after the other, and the values in a "
        "block too"
    )


def test_blocks_are_said_as_the_picture_marks_them() -> None:
    reason = wb.variant(returns()).why(Tile("t", 64))
    assert "the loop over t/64, the loop over t" in str(reason)
    assert "t_block" not in str(reason)


def test_a_folded_array_names_the_slice_that_takes_another_s_place() -> None:
    before, _, _ = documented("Contract")
    reason = before.why(Contract("position", "t"))
    assert "is used for the last time before what is at t + 2 is written" in reason.sentence
    assert {p.kind for p in reason.dependences} == {"overwrites"}


def test_a_step_on_equations_has_its_conditions_and_what_meets_them() -> None:
    reason = wb.variant(returns()).why(Incrementalize("to_go", "t"))
    assert "to_go is a sum" in reason.sentence
    assert "gains" in reason.sentence
    assert {c.statement for c in reason.conditions} == {"to_go"}
    assert len(reason.before) == 1 and len(reason.after) == 2


def test_a_layout_needs_no_order() -> None:
    variant = wb.variant(carried())
    reason = variant.why(Layout("state", ("t", "b", "i", "...")))
    assert reason.sentence.startswith("no dependence matters: state has the same elements")
    assert (reason.dependences, reason.instances) == ((), ())


def test_a_refused_step_has_no_reason_but_its_refusal() -> None:
    variant = wb.variant(leaky_sum())
    step = Vectorize("t", ("s[t+1]",))
    with pytest.raises(wb.Refused) as refused:
        variant.why(step)
    assert refused.value.refusal == variant.check(step)


def test_what_is_no_step_is_told() -> None:
    with pytest.raises(WorkbenchError, match="a kind of step"):
        wb.variant(leaky_sum()).why(Vectorize)  # type: ignore[arg-type]


def test_a_reason_shows_itself_in_jupyter() -> None:
    reason = wb.variant(leaky_sum()).why(Interchange("b", "t", ("s[t+1]",)))
    shown = reason._repr_html_()
    assert reason.sentence in shown
    assert "<details>" in shown
    assert isinstance(reason, wb.Reason)


def test_many_statements_are_counted() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]())
    reason = variant.why(Vectorize("b"))
    assert "statements reads its own results at another b" in reason.sentence
    assert len(reason.sentence) < 400
    assert len(str(reason).splitlines()) < 40


def test_a_joined_loop_says_what_the_later_part_reads() -> None:
    reason = wb.variant(returns()).why(Fuse(("reward", "g")))
    assert "to_go reads them in a later iteration of t, or behind in the same" in reason.sentence


def test_a_swapped_array_is_copied_behind_its_writer() -> None:
    (_, on, step), *_ = taken("Swap")
    assert isinstance(step, Swap)
    assert "a slice of x goes to the host behind x, and comes back in front of s" in (
        on.why(step).sentence
    )


def test_arrays_that_take_turns_in_a_place_are_told_from_one_that_follows() -> None:
    variant = wb.variant(PROGRAMS["small_reinforce"][0]()).apply(Vectorize("b"))
    reason = variant.why(Donate("policy.passed", "environment.terminated"))
    assert reason.sentence.startswith(
        "policy.passed and environment.terminated take turns in one memory: what is there"
    )
    arrays = {(p.sink, p.array) for p in reason.dependences}
    assert ("environment.terminated", "policy.passed") in arrays
    assert ("policy.passed", "environment.terminated") in arrays


def test_ranges_of_every_kind_have_reasons() -> None:
    variant = wb.variant(ranges())
    for move in variant.moves(Vectorize, Incrementalize):
        if move.legal:
            assert variant.why(move.step).sentence
