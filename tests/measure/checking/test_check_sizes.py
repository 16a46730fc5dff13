"""Check sizes: what a variant needs is met, or said to be unmet."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.programs import PROGRAMS
from workbench.errors import SizeError
from workbench.lowering.lower import lower
from workbench.measure.checking import check_sizes as module
from workbench.measure.checking.check_sizes import BUDGET, needs, points, truths
from workbench.polyhedral.expression import size
from workbench.polyhedral.tree import Block, Loop, Tree, with_child
from workbench.program.fitting import Need, fitting
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Incrementalize, Persist


def windowed(n: int) -> Program:
    @wb.program
    def example(B: int = 3, T: int = 20) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=(b, t))
        return {"y": x[b, t : wb.minimum(t + n, T)].sum()}

    return example()


def tiled(program: Program, dim: str, tile: int) -> Program:
    """The program whose loops over `dim` run in blocks."""

    def within(tree: Tree) -> Tree:
        if isinstance(tree, Block):
            return Block(tuple(within(child) for child in tree.children))
        if isinstance(tree, Loop) and tree.dim == dim:
            return Loop(dim, tree, tile=tile)
        return with_child(tree, within(tree.child)) if isinstance(tree, Loop) else tree

    return replace(program, schedule=within(program.schedule))


def sizes_of(program: Program) -> tuple[dict[str, int], tuple[str, ...]]:
    root = wb.variant(program)
    (*_, found), unmet = truths(root, root.program, lower(root.program))
    return dict(found.sizes), unmet


def test_sizes_pass_the_constants_that_domains_compare_with() -> None:
    assert sizes_of(windowed(7))[0]["T"] >= 8
    assert sizes_of(windowed(12))[0]["T"] >= 13


def test_other_sizes_stay_small() -> None:
    assert sizes_of(windowed(12))[0]["B"] == 3


def test_branches_have_sizes_of_their_own_where_tiles_leave_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = wb.variant(small_ppo())
    truths(root, root.program, lower(root.program))  # covering sizes, with the usual budget
    monkeypatch.setattr(module, "BUDGET", 11_000)
    program = tiled(root.program, "b", 5)
    (first, second), unmet = truths(root, program, lower(program))
    assert second.sizes["B"] == 11 > first.sizes["B"]
    assert second.sizes["T"] < first.sizes["T"]
    assert len(first.untaken) <= len(second.untaken)
    assert points(root.program, second.sizes) <= 11_000
    assert not unmet


def test_two_chunks_of_blocks_that_are_added_up_apart() -> None:
    root = wb.variant(PROGRAMS["statistics"][0]())
    program = root.apply(Persist("b", 3)).program
    found = {(n.least, n.reason) for n in needs(program, lower(program)) if "chunks" in n.reason}
    assert found == {(13, "no two chunks of tiles of 3 along b")}


def test_what_the_reference_cannot_afford_is_said() -> None:
    sizes, unmet = sizes_of(windowed(4000))
    assert points(windowed(4000), sizes) <= BUDGET
    assert "t does not pass the 3999 of y" in unmet


def test_two_tiles_and_a_tail() -> None:
    program = windowed(2)
    need = next(n for n in needs(tiled(program, "t", 16), lower(program)) if "tiles" in n.reason)
    assert need.least == 33
    assert need.reason == "no two tiles of 16 and a tail along t"
    assert fitting(program, [need])["T"] == 33


@pytest.mark.parametrize("block", [4, 16])
def test_two_blocks_and_a_rest_of_what_equations_count_in_blocks(block: int) -> None:
    root = wb.variant(PROGRAMS["returns"][0]())
    variant = root.apply(Incrementalize("to_go", "t", block=block))
    (*_, found), unmet = truths(variant.root, variant.program, lower(variant.program))
    assert found.sizes["T"] > 2 * block
    assert not unmet


def test_more_than_each_window() -> None:
    @wb.program
    def example(T: int = 20) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", over=t)
        for k in range(5):
            x[k] = 1.0
        x[t + 5] = x[t] * 0.5 + x[t + 4]
        return {"last": x[T]}

    program = example()
    loops = lower(program)
    windows = [w for s in loops.stored.values() for w in s.windows if w is not None and w != 1]
    needed = {n.least for n in needs(program, loops) if "window" in n.reason}
    assert {int(w.constant) + 1 for w in windows if not w.terms} <= needed
    assert sizes_of(program)[0]["T"] + 5 > max((int(w.constant) for w in windows), default=0)


def test_sizes_differ_where_that_is_affordable() -> None:
    sizes, _ = sizes_of(PROGRAMS["statistics"][0]())
    assert sizes["B"] != sizes["T"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_fit_the_program_and_the_reference_can_pay(name: str) -> None:
    program = PROGRAMS[name][0]()
    sizes, _ = sizes_of(program)
    free = {p.name for p in program.parameters if p.definition is None}
    assert resolve(program.equations, {n: k for n, k in sizes.items() if n in free}) == sizes
    assert points(program, sizes) <= BUDGET
    for dim in program.dims:
        assert dim.size.evaluate(sizes) >= 2


@cache
def small_ppo() -> Program:
    return PROGRAMS["small_ppo"][0]()


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 30))
def test_derived_sizes_divide_and_needs_are_met(least_b: int, least_t: int, least_k: int) -> None:
    program = small_ppo()
    wanted = [
        Need(size("B"), least_b, ""),
        Need(size("T"), least_t, ""),
        Need(size("K"), least_k, ""),
    ]
    sizes = fitting(program, wanted)
    assert all(need.met(sizes) for need in wanted)
    assert sizes["B"] * sizes["T"] % sizes["M"] == 0


def test_derived_size_that_never_divides_is_an_error() -> None:
    @wb.program
    def example(T: int = 65536) -> dict[str, Any]:
        K = wb.size(T // 65536)
        return {"y": wb.uniform(over=wb.dim(k=K))}

    with pytest.raises(SizeError, match="does not divide by 65536"):
        fitting(example(), [Need(size("T"), 3, "")])
