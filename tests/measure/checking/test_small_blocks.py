"""Small blocks: the same tree in blocks of 3, or why that is not possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.measure.checking.check import check
from workbench.measure.checking.small_blocks import (
    NotInSmallBlocks,
    in_small_blocks,
    sizes_of_blocks,
)
from workbench.polyhedral.tree import Block, Leaf, Loop, text
from workbench.program.values import Program
from workbench.transforms import Contract, Fuse, Incrementalize, Persist, Tile
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant


def variant(name: str, *steps: Transform) -> Variant:
    found = wb.variant(PROGRAMS[name][0]())
    for step in steps:
        found = found.apply(step)
    return found


def headings(program: Program) -> list[str]:
    return [line.strip() for line in text(program.schedule).splitlines() if "blocks" in line]


@wb.program
def ends(N: int = 3) -> dict[str, Any]:
    """Each value reads the last of its 16."""
    L = wb.size(16 * N)
    t = wb.dim(t=L)
    x = wb.uniform(over=t)
    return {"y": 2.0 * x[t // 16 * 16 + 15]}


def ends_in_blocks() -> Program:
    """Legal in blocks of 16 values: the whole block of x comes before that of y."""
    program = ends()
    both = Block(tuple(Loop("t", Leaf(s.name)) for s in program.statements))
    return replace(program, schedule=Loop("t", both, tile=16))


@pytest.mark.parametrize("size", [16, 32, 128, 512])
def test_blocks_hold_three_values_in_the_same_tree(size: int) -> None:
    own = variant("leaky_sum", Persist("b", size), Contract()).program
    small = in_small_blocks(own)
    assert text(small.schedule) == text(own.schedule).replace(f"of {size}", "of 3")
    assert headings(small) == ["for b in blocks of 3, in any order, at most 16 chunks:"]
    assert (small.equations, small.storage) == (own.equations, own.storage)


@pytest.mark.parametrize("size", [2, 3])
def test_blocks_that_are_small_already_stay(size: int) -> None:
    own = variant("leaky_sum", Tile("t", size)).program
    assert in_small_blocks(own) is own


def test_program_without_blocks_stays_the_same_object() -> None:
    own = variant("leaky_sum").program
    assert in_small_blocks(own) is own


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [(64, 16, (3, 9)), (64, 24, (3, 7)), (4, 3, (3, 4)), (4, 2, (2, 4)), (512, 128, (3, 9))],
)
def test_blocks_inside_others_are_as_whole_in_them_as_they_were(
    outer: int, inner: int, expected: tuple[int, int]
) -> None:
    own = variant("leaky_sum", Tile("t", outer), Tile("t", inner)).program
    assert sizes_of_blocks(in_small_blocks(own)) == expected


def test_blocks_of_several_dims_are_all_small() -> None:
    own = variant("leaky_sum", Persist("b", 16), Tile("t", 8)).program
    assert headings(in_small_blocks(own)) == [
        "for b in blocks of 3, in any order, at most 16 chunks:",
        "for t in blocks of 3:",
    ]


def test_blocks_that_equations_count_stay() -> None:
    steps = (
        Incrementalize("to_go", "t", block=8),
        Tile("t", 8, ("reward", "done", "done_uniform")),
        Fuse(("reward", "to_go.partial")),
        Tile("t", 16, ("g",)),
    )
    own = variant("returns", *steps).program
    assert headings(own) == ["for t in blocks of 8:", "for t in blocks of 16 reversed:"]
    small = in_small_blocks(own)
    assert headings(small) == ["for t in blocks of 8:", "for t in blocks of 3 reversed:"]


def test_small_blocks_are_refused_where_a_dependence_needs_larger_ones() -> None:
    with pytest.raises(NotInSmallBlocks, match=r"^blocks of 3: y\[t=0\] reads x\[15\]"):
        in_small_blocks(ends_in_blocks())


def test_variant_that_cannot_be_in_small_blocks_is_checked_in_its_own_and_told() -> None:
    program = ends_in_blocks()
    found = check(Variant(program, wb.variant(ends()), Tile("t", 16)), backend="numpy")
    assert found.passed, found
    assert found.blocks.startswith("in its own blocks of 16: blocks of 3: y[t=0] reads x[15], ")
    assert found.sizes["N"] == 3
    assert f"  {found.blocks}" in str(found).splitlines()
