"""Points of a sum in blocks that run in any order: two blocks never add to one element at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.block_orders import with_apart
from tests.polyhedral.notation import parse
from workbench.polyhedral.tree import loops
from workbench.program.values import Program
from workbench.transforms import Accumulate, Fuse, Tile
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import apply, check


@wb.program
def sums(B: int = 5, T: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.uniform(over=(b, t))
    return {"all": x.sum(over=(b, t)), "row": x.sum(over=t), "x": x}


def in_blocks(statement: str, heading: str) -> Program:
    """The points of a sum in blocks, in any order or not."""
    program = apply(sums(), Accumulate("t", (statement,))).program
    others = [s.name for s in program.statements if s.name in ("all", "row")]
    tree = parse(
        "for b:\n    for t:\n        x\n"
        f"{heading}\n    for b:\n        for t:\n            {statement}.points\n"
        + "".join(f"{name}\n" if name == "all" else f"for b:\n    {name}\n" for name in others)
    )
    return replace(program, schedule=tree)


def refused(program: Program, chunks: int = 1) -> Refusal | None:
    (loop,) = (loop for loop in loops(program.schedule) if loop.tile is not None)
    found = with_apart(program, loop, chunks)
    return found if isinstance(found, Refusal) else None


def test_blocks_refused_in_any_order_when_they_add_to_one_element() -> None:
    refusal = refused(in_blocks("all", "for b in blocks of 2:"))
    assert refusal is not None and refusal.kind == "dependence"
    assert refusal.sentence == (
        "Apart: all.points[b=0, t=0] and all.points[b=2, t=0] add to all.points, but the loop over "
        "blocks of 2 values of b runs in any order, and no chunks keep their sums apart "
        "(smallest case: B=3, T=1)"
    )
    assert refusal.witness is not None and refusal.attempted is not None


def test_chunks_keep_the_sums_of_blocks_apart() -> None:
    assert refused(in_blocks("all", "for b in blocks of 2:"), chunks=2) is None


def test_blocks_that_add_to_elements_of_their_own_need_no_chunks() -> None:
    assert refused(in_blocks("row", "for b in blocks of 2:")) is None


@pytest.mark.parametrize("chunks", ["", ", at most 4 chunks"])
def test_blocks_inside_of_blocks_share_a_chunk_of_the_outer_ones(chunks: str) -> None:
    program = apply(sums(), Accumulate("t", ("all",))).program
    tree = parse(
        "for b:\n    for t:\n        x\n"
        "for b in blocks of 2, in any order, at most 4 chunks:\n    for b:\n"
        f"        for t in blocks of 2, in any order{chunks}:\n            for t:\n"
        "                all.points\nfor b:\n    row\nall\n"
    )
    nested = replace(program, schedule=tree)
    refusal = check(nested, Tile("b", 3, ("x",)))
    assert refusal is not None
    assert "all.points[b=0, t=0] and all.points[b=0, t=2] add to all.points" in refusal.sentence


def test_join_refused_when_blocks_would_add_to_one_element() -> None:
    program = apply(sums(), Accumulate("t", ("all",))).program
    tree = parse(
        "for b in blocks of 2, in any order:\n    for b:\n        for t:\n            x\n"
        "for b in blocks of 2:\n    for b:\n        for t:\n            all.points\n"
        "for b:\n    row\nall\n"
    )
    refusal = check(replace(program, schedule=tree), Fuse(("x", "all.points")))
    assert refusal is not None and "no chunks keep their sums apart" in refusal.sentence
