"""Blocks of a program that warps run: the bits of compiled C however many blocks a chunk has, and
no barrier that is not needed.
"""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.codegen.cuda.fibres import expect_bits_of_compiled_c
from tests.codegen.cuda.test_kernels_as_fibres import not_needed
from workbench import nn
from workbench.codegen.cuda import kernel_parts
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.kernels import program_kernels
from workbench.program.values import Program
from workbench.transforms import Contract, Persist
from workbench.variants.variant import variant

SIZES = [1, 15, 16, 17, 500, 512, 16 * 37 + 3]
"""Of blocks of 16: one that is not full, less than a chunk has warps, more, and no multiple."""


@wb.program
def gathered(B: int = 100, I: int = 2, N: int = 50) -> dict[str, Any]:
    """Two sums over lanes of what each looks up, and what each lane has."""
    b, i, n = wb.dims(b=B, i=I, n=N)
    x = wb.uniform(over=(i, n))
    place = wb.cast(wb.uniform(over=(b, i)) * N, int)
    y = wb.gather(x, n=place)
    return {"sum": (y * y).sum(over=b), "most": y.max(over=b), "y": y * 2.0}


@wb.program
def deep(B: int = 100) -> dict[str, Any]:
    """A sum of what a network says of each lane."""
    b = wb.dims(b=B)
    network = nn.mlp("net", 4, (20,), 1)
    y = network(nn.parameters(network), wb.uniform(shape=(4,), over=b))
    return {"sum": y.sum().sum(over=b)}


def in_blocks(program: Program, chunks: int, lanes: int = 16) -> Program:
    return variant(program).apply(Persist("b", lanes, chunks)).program


def folded(program: Program) -> Program:
    """With the partial sums of one iteration at a time, which a block can keep."""
    return variant(program).apply(Contract()).program


def by_warps(program: Program) -> list[str]:
    """The kernels in which each warp runs blocks."""
    made = functions(program_kernels(program), "float32")
    return [one.name for one in made if "THREAD / WARP;" in one.text]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chunks", [2, 64])
def test_sums_have_the_bits_of_compiled_c(size: int, chunks: int) -> None:
    program, sizes = folded(in_blocks(gathered(), chunks)), {"B": size}
    assert by_warps(program)
    expect_bits_of_compiled_c(program, sizes)


def test_no_barrier_between_what_warps_run_can_be_left_out_or_weakened() -> None:
    """Of three rounds of all warps, in which 16 threads add up 32 lanes."""
    program = folded(in_blocks(gathered(), 2, 32))
    assert not not_needed(program, {"B": 2 * 3 * 16 * 32}, functions=False)


def test_threads_of_a_block_share_wide_inner_shapes() -> None:
    assert not by_warps(in_blocks(deep(), 2))


def test_blocks_whose_warps_have_no_room_each_are_run_by_all_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = folded(in_blocks(gathered(), 2))
    monkeypatch.setattr(kernel_parts, "SIDE_BY_SIDE", 1024)
    assert not by_warps(program)
    expect_bits_of_compiled_c(program)


def test_an_array_may_be_called_as_a_warp_is() -> None:
    @wb.program
    def named(B: int = 100) -> dict[str, Any]:
        b = wb.dims(b=B)
        return {"warp": wb.uniform(over=b), "sum": wb.uniform(over=b).sum(over=b)}

    program = in_blocks(named(), 2)
    assert by_warps(program)
    expect_bits_of_compiled_c(program)


def test_a_block_adds_to_sums_that_it_does_not_keep() -> None:
    """Their places differ from iteration to iteration."""
    assert not by_warps(in_blocks(gathered(), 2))
