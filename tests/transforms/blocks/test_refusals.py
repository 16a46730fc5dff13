"""Why statements do not run in blocks: what each refusal shows, and that what it offers works."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.soundness.order import block_orders, undefined_read
from tests.soundness.programs import program_called
from tests.soundness.refusals import sizes_of
from workbench.program.values import Program
from workbench.transforms import Distribute, Persist
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import apply, check


@wb.program
def neighbours(B: int = 7) -> dict[str, Any]:
    """Each is compared with the one behind it."""
    b = wb.dim(b=B)
    x = wb.uniform(over=b)
    y = wb.exp(x)
    after = y[wb.minimum(b + 1, B - 1)]
    return {"rise": (after - x).sum(over=b)}


@wb.program
def walks(B: int = 5, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = wb.uniform(over=b)
    step = wb.normal(over=(b, t)) * 0.1
    x[b, t + 1] = x + step
    return {"x": x, "mean": step.mean(over=(b, t))}


@wb.program
def centred(B: int = 5) -> dict[str, Any]:
    b = wb.dim(b=B)
    x = wb.uniform(over=b)
    far = wb.exp(x - x.mean(over=b))
    return {"total": far.sum(over=b)}


def refused(program: Program, step: Persist) -> Refusal:
    refusal = check(program, step)
    assert refusal is not None
    return refusal


def assert_wrong_indeed(program: Program, refusal: Refusal) -> None:
    """What was refused reads something undefined, at the witness's sizes."""
    after = refusal.attempted
    assert after is not None and refusal.witness is not None
    sizes = sizes_of(program, refusal.witness)
    assert sizes is not None
    assert any(undefined_read(after, tree, sizes) for tree in block_orders(after.schedule))


def assert_offers_work(program: Program, step: Persist, refusal: Refusal) -> None:
    """After a repair the step can be taken, or what its refusal has instead; what is offered
    instead can be taken.
    """
    for repair in refusal.repairs:
        after = apply(program, repair).program
        again = check(after, step)
        assert again is None or again.instead
        for instead in () if again is None else again.instead:
            apply(after, instead)
    for instead in refusal.instead:
        apply(program, instead)


def test_dependence_between_blocks_leaves_what_comes_before_it() -> None:
    step = Persist("b", 2)
    refusal = refused(neighbours(), step)
    assert refusal.sentence == (
        "Persist('b', 2): rise.points[b=1] reads y[2], which y[b=2] writes, but the loop over "
        "blocks of 2 values of b runs in any order (smallest case: B=3)"
    )
    assert_wrong_indeed(neighbours(), refusal)
    assert refusal.instead == tuple(
        Persist("b", 2, statements=names) for names in (("x", "y"), ("x",), ("rise",))
    )
    assert_offers_work(neighbours(), step, refusal)


def test_statement_that_others_wait_for_in_its_loop_is_refused_with_the_way() -> None:
    program = program_called("reinforce")
    step = Persist("b", 2, statements=("policy.cumulative",))
    refusal = refused(program, step)
    assert refusal.sentence == (
        f"{step}: policy.cumulative shares the loop over t with policy.hidden_1, policy.output, "
        "policy.uniform, 22 others, and cannot leave it: policy.cumulative[b=0, i=0, t=0] reads "
        "policy.probabilities[0, 0, 0], which policy.probabilities[b=0, i=0, t=0] writes (smallest "
        "case: B=1, I=1, T=1); they wait for each other: policy.cumulative → policy.passed → "
        "policy.action → … → policy.probabilities → policy.cumulative"
    )
    assert_wrong_indeed(program, refusal)
    (together,) = refusal.instead
    assert isinstance(together, Persist) and "state[t+1]" in (together.statements or ())
    assert_offers_work(program, step, refusal)


def test_statement_that_can_leave_its_loop_may_do_so_or_take_it_in() -> None:
    step = Persist("b", 2, statements=("step",))
    refusal = refused(walks(), step)
    assert refusal.sentence == f"{step}: step shares the loop over t with step_normal, x[t+1]"
    assert refusal.repairs == (Distribute(("step",)),)
    together = Persist("b", 2, statements=("step_normal", "step", "x[t+1]"))
    assert refusal.instead == (together,)
    assert_offers_work(walks(), step, refusal)


def test_statements_of_outer_and_inner_loops_are_told_apart() -> None:
    program = program_called("a2c")
    names = ("gradient.actor.weight_1", "episodes.return_so_far[0,0]")
    step = Persist("b", 2, statements=names)
    refusal = refused(program, step)
    assert refusal.sentence == (
        f"{step}: gradient.actor.weight_1.points runs in the loops over i and {names[1]} in no "
        "loop: they cannot share one loop over blocks"
    )
    assert {s.statements for s in refusal.instead if isinstance(s, Persist)} == {
        (name,) for name in names
    }
    assert_offers_work(program, step, refusal)


def test_loop_between_two_blocks_is_named() -> None:
    step = Persist("b", 2, statements=("x[0]", "mean_sum"))
    refusal = refused(walks(), step)
    assert refusal.sentence == (
        f"{step}: step_normal, step, x[t+1] stand between x[0] and mean_sum.points, outside of "
        "blocks: they cannot share one loop over blocks"
    )
    assert_offers_work(walks(), step, refusal)


def test_finished_sum_between_two_blocks_is_named_and_shown() -> None:
    step = Persist("b", 2, statements=("far_sum", "far"))
    refusal = refused(centred(), step)
    assert refusal.kind == "dependence"
    assert refusal.sentence == (
        f"{step}: far needs far_sum, complete over all blocks, which needs what far_sum.points "
        "gives: they cannot share one loop over blocks; far[b=0] reads far_mean, which far_mean "
        "writes (smallest case: B=1)"
    )
    assert_wrong_indeed(centred(), refusal)
    assert_offers_work(centred(), step, refusal)


def test_statement_without_the_dimension_may_be_left_out() -> None:
    step = Persist("b", 2, statements=("x", "far_mean"))
    refusal = refused(centred(), step)
    assert refusal.sentence == f"{step}: far_mean does not vary over b"
    assert refusal.instead == (Persist("b", 2, statements=("x",)),)


@pytest.mark.parametrize("name", ["reinforce", "a2c", "ppo", "ranges", "alignment", "staggered"])
def test_what_is_offered_for_any_dimension_works(name: str) -> None:
    program = program_called(name)
    for dim in program.dims:
        step = Persist(dim.name, 2)
        refusal = check(program, step)
        if refusal is not None and refusal.witness is not None:
            if sizes_of(program, refusal.witness) is not None:  # those of one minibatch
                assert_wrong_indeed(program, refusal)
            assert_offers_work(program, step, refusal)


def test_what_does_not_wait_is_offered_beside_a_recurrence_of_several_statements() -> None:
    program = program_called("reinforce")
    refusal = refused(program, Persist("t", 2))
    assert len(refusal.instead) == 3  # the loss, with and without what reads a sum; the gradients
    assert_offers_work(program, Persist("t", 2), refusal)
