"""Sizes with tails: two tiles and a tail of one value, and of one less than a tile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.measure.checking.test_check_sizes import small_ppo, tiled
from tests.programs import PROGRAMS
from workbench.algorithms import ppo
from workbench.measure.checking import tail_sizes as module
from workbench.measure.checking.check_sizes import points
from workbench.measure.checking.tail_sizes import AFFORDABLE, tail_sizes
from workbench.polyhedral.tree import loops
from workbench.program.sizes import resolve, settable
from workbench.program.values import Program
from workbench.transforms import Persist, Tile


def lengths(root: Program, program: Program, dim: str) -> tuple[list[int], tuple[str, ...]]:
    found, missed = tail_sizes(root, program)
    return [root.dim[dim].size.evaluate(one.sizes) for one in found], missed


@pytest.mark.parametrize("tile", [3, 16, 128, 512])
def test_two_tiles_and_each_tail(tile: int) -> None:
    root = PROGRAMS["leaky_sum"][0]()
    program = tiled(root, "t", tile)
    assert lengths(root, program, "t") == ([2 * tile + 1, 3 * tile - 1], ())


def test_both_tails_of_two_values_are_one() -> None:
    root = PROGRAMS["leaky_sum"][0]()
    assert lengths(root, tiled(root, "t", 2), "t") == ([5], ())


def test_other_sizes_are_the_least() -> None:
    root = PROGRAMS["leaky_sum"][0]()
    found, _ = tail_sizes(root, tiled(root, "t", 16))
    assert [one.sizes["B"] for one in found] == [3, 3]


@pytest.mark.parametrize(
    ("outer", "inner", "expected"), [(64, 16, [129, 191]), (64, 24, [193, 191])]
)
def test_blocks_inside_others_have_their_tails_too(
    outer: int, inner: int, expected: list[int]
) -> None:
    root = wb.variant(PROGRAMS["leaky_sum"][0]())
    program = root.apply(Tile("t", outer)).apply(Tile("t", inner)).program
    assert lengths(root.program, program, "t") == (expected, ())


def test_derived_size_has_its_tails_beside_those_of_its_factors() -> None:
    """K = B * T // M, where M and T are small."""
    root = wb.variant(ppo())
    program = root.apply(Persist("b", 16)).apply(Persist("k", 32)).program
    found, missed = tail_sizes(root.program, program)
    assert not missed
    assert [(one.sizes["B"] % 16, one.sizes["K"] % 32) for one in found] == [(1, 1), (15, 31)]
    for one in found:
        assert one.sizes["B"] * one.sizes["T"] == one.sizes["M"] * one.sizes["K"]
        assert points(root.program, one.sizes) < AFFORDABLE / 4


def evens(N: int) -> Program:
    @wb.program
    def example(N: int = N) -> dict[str, Any]:
        L = wb.size(2 * N)
        t = wb.dim(t=L)
        return {"y": wb.uniform(over=t)}

    return example()


def test_tail_at_no_sizes_is_told() -> None:
    found, missed = tail_sizes(evens(4), tiled(evens(4), "t", 16))
    assert not found
    never = "L = 2 * N is never so long at the sizes tried"
    assert missed == tuple(
        f"no two tiles of 16 and a tail of {rest} along t: {never}" for rest in (1, 15)
    )


def test_tails_of_what_is_even_are_found_in_tiles_that_are_not() -> None:
    found, missed = tail_sizes(evens(4), tiled(evens(4), "t", 3))
    assert ([one.sizes["N"] for one in found], missed) == ([5, 4], ())


def test_tail_that_costs_too_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AFFORDABLE", 30_000)
    root = PROGRAMS["leaky_sum"][0]()
    found, missed = tail_sizes(root, tiled(tiled(root, "t", 128), "b", 16))
    assert [[tail.dim for tail in one.tails] for one in found] == [["b"], ["b"]]
    assert missed[0] == (
        "no two tiles of 128 and a tail of 1 along t: NumPy would run the program as written for "
        "too long"
    )


def test_tails_that_cost_too_much_together_have_sizes_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AFFORDABLE", 100_000)
    root = PROGRAMS["leaky_sum"][0]()
    found, missed = tail_sizes(root, tiled(tiled(root, "t", 128), "b", 16))
    assert not missed
    assert [[(t.dim, t.rest) for t in one.tails] for one in found] == [
        [("b", 1)],
        [("t", 1)],
        [("b", 15)],
        [("t", 127)],
    ]


TILES = st.dictionaries(st.sampled_from(["b", "k", "t"]), st.integers(2, 40), min_size=1)


@given(TILES)
@settings(max_examples=25)
def test_sizes_fit_the_program_and_have_the_tails_they_name(tiles: Mapping[str, int]) -> None:
    root = small_ppo()
    program = root
    for dim, tile in tiles.items():
        program = tiled(program, dim, tile)
    assert {loop.tile for loop in loops(program.schedule)} >= set(tiles.values())
    found, missed = tail_sizes(root, program)
    for one in found:
        assert resolve(root.equations, settable(root.equations, one.sizes)) == one.sizes
        assert points(root, one.sizes) <= AFFORDABLE
        for tail in one.tails:
            whole, rest = divmod(root.dim[tail.dim].size.evaluate(one.sizes), tail.tile)
            assert (whole >= 2, rest) == (True, tail.rest)
            assert tail.rest in (1, tail.tile - 1)
    assert not missed
