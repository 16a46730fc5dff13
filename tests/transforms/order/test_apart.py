"""Blocks in any order: what steps do with such a loop, what it refuses, and what it computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.block_orders import ORDERS, all_apart, blocks_in, could_be_apart, with_apart
from tests.native_runs import check_native, run_native
from tests.polyhedral.notation import parse
from tests.truth import truth
from workbench.backends.numpy import NumPyBackend
from workbench.lowering.loops.records import For, walk
from workbench.lowering.lower import lower, stages
from workbench.lowering.memory.lives import private
from workbench.lowering.stage_text import stage_text
from workbench.polyhedral.outline import outline
from workbench.polyhedral.tree import loops, replaced, text
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.session.picture.snapshot import snapshot
from workbench.transforms import (
    Contract,
    Distribute,
    Donate,
    Fuse,
    Interchange,
    Recompute,
    Reschedule,
    Swap,
    Tile,
    Vectorize,
)
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Transform, apply, check

SIZES = [{"B": 5, "T": 4}, {"B": 7, "T": 1}, {"B": 1, "T": 3}, {"B": 4, "T": 2}]


@wb.program
def rollout(B: int = 5, T: int = 4) -> dict[str, Any]:
    """Walks that know nothing of each other, and what is made of them at every step."""
    b, t = wb.dims(b=B, t=T)
    force = wb.uniform(over=(b, t))
    total = wb.recurrent("total", (), over=(b, t))
    total[b, 0] = wb.normal(over=b)
    total[b, t + 1] = 0.9 * total + force
    squared = total * total
    return {"most": wb.exp(squared[b, T - 1]), "last": total[b, T]}


@wb.program
def neighbours(B: int = 5) -> dict[str, Any]:
    """What a neighbour has drawn is read."""
    b = wb.dim(b=B)
    draw = wb.uniform(over=b)
    mean = 0.5 * (draw[b] + draw[wb.minimum(b + 1, B - 1)])
    return {"mean": mean}


def taken(program: Program, *steps: Transform) -> Program:
    for step in steps:
        program = apply(program, step).program
    return program


def in_blocks(program: Program, dim: str = "b", size: int = 2) -> Program:
    """The program with blocks of a dimension, all in any order."""
    return all_apart(taken(program, Tile(dim, size)))


def headings(program: Program) -> list[str]:
    return [line.strip() for line in text(program.schedule).splitlines() if "blocks" in line]


def assert_same_in_every_order(program: Program, root: Program, sizes: dict[str, int]) -> None:
    expected = truth(root, sizes, 3)
    for order in ORDERS:
        with blocks_in(order):
            done = NumPyBackend().compile(program).run(sizes, 3, "float64")
        for name, found in done.outputs.items():
            np.testing.assert_allclose(found, expected.array(name), rtol=1e-9, atol=1e-9)
        known = resolve(program.equations, sizes)
        assert done.peak_bytes == lower(program).peak(known, "float64")
    check_native(program, done.outputs, sizes, 3)


APART = "for b in blocks of 2, in any order:"
WALK = f"{APART}\n    for b:\n        total[0]\n        for t:\n            force\n"


def test_blocks_in_any_order_are_shown() -> None:
    program = in_blocks(rollout())
    assert text(program.schedule).startswith(WALK)
    assert outline(program.schedule).startswith(APART)
    made = stages(program)
    for stage in ("schedule", "loops", "operations", "memory"):
        assert ", in any order:" in stage_text(made, stage)
    found = snapshot(program)
    assert (found.loops[0].text, found.loops[0].mark) == (APART.removesuffix(":"), "▮b/2")
    assert found.schedule.startswith(WALK)
    loops = [record for record in walk(made.memory.body) if isinstance(record, For)]
    assert [loop.apart for loop in loops] == [True, False, False]


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (Contract(),),
        (Vectorize("b"),),
        (Vectorize("b"), Contract()),
        (Vectorize("b"), Vectorize("t"), Contract()),
        (Tile("t", 3), Contract()),
        (Tile("b", 4), Contract()),
        (Distribute("squared"), Contract()),
        (Distribute("squared", "b"), Contract()),
        (Recompute("squared"), Contract()),
    ],
    ids=str,
)
def test_blocks_stay_in_any_order_under_other_steps(steps: tuple[Transform, ...]) -> None:
    program = in_blocks(rollout())
    for step in steps:
        rewritten = apply(program, step)
        program = rewritten.program
    assert APART in headings(program)
    assert not [h for h in headings(program) if "blocks of 2" in h and h != APART]
    for sizes in SIZES:
        assert_same_in_every_order(program, rollout(), sizes)


@pytest.mark.parametrize("steps", [(), (Vectorize("b"), Contract())], ids=str)
def test_blocks_in_any_order_are_one_kernel(steps: tuple[Transform, ...]) -> None:
    program = taken(in_blocks(rollout()), *steps)
    for sizes in SIZES[:2]:
        expected = truth(rollout(), sizes, 3)
        for name, found in run_native(program, sizes, 3).items():
            np.testing.assert_allclose(found, expected.array(name), rtol=1e-9, atol=1e-9)


def test_larger_blocks_around_run_in_order() -> None:
    assert headings(taken(in_blocks(rollout()), Tile("b", 4))) == ["for b in blocks of 4:", APART]


def test_smaller_blocks_inside_run_in_order() -> None:
    program = taken(in_blocks(rollout(), size=4), Tile("b", 2))
    assert headings(program) == ["for b in blocks of 4, in any order:", "for b in blocks of 2:"]


# -- joined loops ----------------------------------------------------------------------------------


def two_loops(apart: tuple[bool, bool], backwards: bool = False) -> Program:
    """The draws and their means, each in blocks of 2."""
    program = neighbours()
    first, second = (", in any order" if one else "" for one in apart)
    way = " reversed" if backwards else ""
    tree = parse(
        f"for b in blocks of 2{first}:\n    for b:\n        draw\n"
        f"for b in blocks of 2{second}{way}:\n    for b:\n        mean\n"
    )
    return replace(program, schedule=tree)


def own_draws(apart: tuple[bool, bool], backwards: bool = False) -> Program:
    @wb.program
    def twice(B: int = 5) -> dict[str, Any]:
        b = wb.dim(b=B)
        draw = wb.uniform(over=b)
        return {"mean": 2.0 * draw}

    return replace(twice(), schedule=two_loops(apart, backwards).schedule)


@pytest.mark.parametrize("apart", [(True, False), (False, True)])
@pytest.mark.parametrize("backwards", [False, True])
def test_joined_blocks_run_in_any_order_if_some_do(
    apart: tuple[bool, bool], backwards: bool
) -> None:
    program = own_draws(apart, backwards and not apart[1])
    rewritten = apply(program, Fuse(("draw", "mean")))
    assert headings(rewritten.program) == [APART]
    around = "mean" if apart[0] else "draw"
    assert rewritten.notes == (f"the loop over b_block2 around {around} now runs in any order",)
    for size in (5, 1, 4):
        assert_same_in_every_order(rewritten.program, program, {"B": size})


def test_joined_blocks_that_all_run_in_any_order_still_do() -> None:
    rewritten = apply(own_draws((True, True)), Fuse(("draw", "mean")))
    assert headings(rewritten.program) == [APART]
    assert rewritten.notes == ()


def test_joined_blocks_are_dealt_to_the_larger_number_of_chunks() -> None:
    program = own_draws((True, True))
    first, second = list(loops(program.schedule))[::2]
    dealt = replaced(program.schedule, first, replace(first, chunks=3))
    dealt = replaced(dealt, second, replace(second, chunks=16))
    rewritten = apply(replace(program, schedule=dealt), Fuse(("draw", "mean")))
    assert headings(rewritten.program) == ["for b in blocks of 2, in any order, at most 16 chunks:"]
    assert rewritten.notes == (
        "the loop over b_block2 around draw now runs in any order, at most 16 chunks",
    )


def test_joined_blocks_run_in_order_if_all_do() -> None:
    rewritten = apply(own_draws((False, False)), Fuse(("draw", "mean")))
    assert headings(rewritten.program) == ["for b in blocks of 2:"]


@pytest.mark.parametrize("apart", [(True, False), (False, True), (True, True)])
def test_joining_refused_when_blocks_then_need_each_other(apart: tuple[bool, bool]) -> None:
    refusal = check(two_loops(apart), Fuse(("draw", "mean")))
    assert refusal is not None and refusal.witness is not None
    assert refusal.sentence == (
        "Fuse(('draw', 'mean')): mean[b=1] reads draw[2], which draw[b=2] writes, but the loop "
        "over blocks of 2 values of b runs in any order (smallest case: B=3)"
    )
    backwards = replace(two_loops((False, False), True))
    joined = apply(backwards, Fuse(("draw", "mean"))).program
    assert headings(joined) == ["for b in blocks of 2 reversed:"]


def test_statement_between_the_loops_is_named() -> None:
    @wb.program
    def between(B: int = 5) -> dict[str, Any]:
        b = wb.dim(b=B)
        draw = wb.uniform(over=b)
        total = draw.sum(b)
        return {"share": draw[b] / total}

    tree = parse(
        "for b in blocks of 2:\n    for b:\n        draw\ntotal\n"
        "for b in blocks of 2, in any order:\n    for b:\n        share\n"
    )
    program = replace(between(), schedule=tree)
    refusal = check(program, Fuse(("draw", "share")))
    assert refusal is not None and "total between the loops can stand neither" in refusal.sentence


# -- other edits -----------------------------------------------------------------------------------


def test_interchange_refused_when_blocks_need_each_other_at_another_time() -> None:
    @wb.program
    def coupled(B: int = 5, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = wb.uniform(over=b)
        x[b, t + 1] = 0.5 * x + x[0, t]
        return {"x": x}

    inside = (
        "for b:\n    x[0]\nfor t:\n    for b in blocks of 2, in any order:\n"
        "        for b:\n            x[t+1]\n"
    )
    program = replace(coupled(), schedule=parse(inside))
    assert check(program, Vectorize("b")) is None
    refusal = check(program, Interchange("t", "b_block2"))
    assert refusal is not None
    assert refusal.sentence == (
        "Interchange('t', 'b_block2'): x[t+1] at b=2, t=1 reads x[0, 1], which x[t+1] at b=0, t=0 "
        "writes, but the loop over blocks of 2 values of b runs in any order (smallest case: "
        "B=3, T=2)"
    )
    assert_same_in_every_order(program, coupled(), {"B": 5, "T": 4})


def test_blocks_inside_a_loop_that_is_made_anew_stay_in_any_order() -> None:
    @wb.program
    def steps(B: int = 5, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=t)
        x[0] = 1.0
        noise = wb.uniform(over=(t, b))
        y = noise * x
        x[t + 1] = 0.9 * x + y.sum(b)
        return {"x": x, "z": 2.0 * y}

    tree = parse(
        "x[0]\nfor t:\n    for b in blocks of 2, in any order:\n        for b:\n"
        "            noise\n            y\n            z\n    x_sum\n    x[t+1]\n"
    )
    program = taken(replace(steps(), schedule=tree), Vectorize("t", ("z",)))
    assert text(program.schedule) == (
        "x[0]\nfor t:\n    for b in blocks of 2, in any order:\n        for b:\n"
        "            noise\n            y\n    x_sum\n    x[t+1]\n"
        "for b in blocks of 2, in any order:\n    axis t:\n        for b:\n            z\n"
    )
    for sizes in SIZES:
        assert_same_in_every_order(program, steps(), sizes)


def test_reschedule_refused_when_it_would_order_blocks() -> None:
    refusal = check(own_draws((True, True)), Reschedule(("draw", "mean")))
    assert refusal is not None
    assert refusal.sentence.endswith("isl is not asked about loops over blocks: b_block2")


# -- storage ---------------------------------------------------------------------------------------


def test_arrays_that_live_inside_are_private() -> None:
    program = taken(in_blocks(rollout()), Vectorize("b"))
    ((loop, arrays),) = private(program)
    assert (loop.name, arrays) == ("b_block2", ())  # each is whole along b
    program = taken(program, Contract())
    ((loop, arrays),) = private(program)
    assert loop.apart and set(arrays) == {"force", "total", "squared"}
    assert private(taken(rollout(), Tile("b", 2), Contract())) == ()


def test_private_arrays_of_nested_blocks_belong_to_the_inner_ones() -> None:
    program = all_apart(taken(rollout(), Tile("b", 4), Tile("b", 2)))
    assert headings(program) == ["for b in blocks of 4, in any order:", APART]
    outer, inner = private(taken(program, Contract()))
    assert outer[1] == () and set(inner[1]) == {"force", "total", "squared"}


def test_arrays_share_memory_within_their_block() -> None:
    @wb.program
    def waves(B: int = 5, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        angle = wb.uniform(over=(b, t))
        height = wb.sin(angle + 1.0)
        return {"total": height.sum(t), "all": wb.exp(height[b, 0])}

    program = taken(in_blocks(waves()), Vectorize("b"), Vectorize("t"))
    assert check(program, Contract()) is None
    contracted = taken(program, Contract())
    ((_, arrays),) = private(contracted)
    assert {"angle", "height"} <= set(arrays)
    donated = taken(contracted, Donate())
    assert donated.storage.donated
    for sizes in SIZES:
        assert_same_in_every_order(donated, waves(), sizes)


def test_donation_refused_when_another_block_may_still_read() -> None:
    @wb.program
    def smoothed(B: int = 5) -> dict[str, Any]:
        b = wb.dim(b=B)
        draw = wb.uniform(over=b)
        mean = draw[b] + draw[wb.minimum(b + 1, B - 1)]
        return {"out": wb.exp(mean[B - 1 - b])}

    tree = parse(
        "for b:\n    draw\nfor b in blocks of 2:\n    for b:\n        mean\nfor b:\n    out\n"
    )
    program = replace(smoothed(), schedule=tree)
    donated = taken(program, Donate("draw", "mean"))
    (loop,) = could_be_apart(donated)
    refused = with_apart(donated, loop)
    assert isinstance(refused, Refusal)
    assert "mean[b=1] has still to read draw[2] when mean[b=2] writes mean[2]" in refused.sentence
    apart = with_apart(program, *could_be_apart(program))
    assert isinstance(apart, Program)
    refusal = check(apart, Donate("draw", "mean"))
    assert refusal is not None and "(smallest case: B=3)" in refusal.sentence
    wrong = replace(donated, schedule=apart.schedule)
    with blocks_in("descending"):
        done = NumPyBackend().compile(wrong).run({"B": 5}, 3, "float64")
    assert not np.allclose(done.outputs["out"], truth(smoothed(), {"B": 5}, 3).array("out"))


def test_slices_come_when_needed_where_blocks_have_no_order() -> None:
    @wb.program
    def large(B: int = 40) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.normal(shape=(50,), over=b)
        return {"sum": x.sum()}

    tree = parse("for b:\n    x\nfor b in blocks of 4:\n    axis b:\n        sum\n")
    ordered = replace(large(), schedule=tree)
    early = Swap("x", prefetch=1)
    assert check(ordered, early) is None
    program = all_apart(ordered)
    refusal = check(program, early)
    assert refusal is not None
    assert refusal.sentence == (
        "Swap('x', prefetch=1): the blocks of b_block4 run in any order; which of them needs a "
        "slice of x next is not known"
    )
    assert refusal.instead == (Swap("x"),)
    for step in refusal.instead:
        assert_same_in_every_order(taken(program, step), large(), {"B": 9})
    program = all_apart(taken(ordered, early))
    assert could_be_apart(program) == []
    assert_same_in_every_order(program, large(), {"B": 9})
