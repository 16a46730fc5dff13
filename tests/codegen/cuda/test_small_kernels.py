"""Rows of small kernels: how many are left to launch, and who runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.codegen.cuda.fibres import expect_bits_of_compiled_c, text_of
from workbench.algorithms import ppo
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.cuda.small_kernels import held_in_rows, small_in_a_row
from workbench.codegen.kernel_records import Number, Store
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.lowering.loops.records import Free, walk
from workbench.polyhedral.expression import expression
from workbench.transforms import Contract, Donate, Persist, Vectorize


def in_blocks(program: wb.Program, size: int, chunks: int = 16) -> ProgramKernels:
    chosen = wb.variant(program)
    for step in (Persist("b", size, chunks), Persist("k", size, chunks), Contract(), Donate()):
        chosen = chosen.apply(step)
    return program_kernels(chosen.program)


@pytest.mark.parametrize("chunks", [16, 128])
def test_an_update_of_ppo_has_few_kernels(chunks: int) -> None:
    """A rollout with its advantages three, a permutation four, a minibatch four, or five where the
    partial sums of gradients are too many for one block.
    """
    made = list(functions(gpu_kernels(in_blocks(ppo(), 32, chunks)), "float32"))
    assert Counter(f.kernels[-1].variables for f in made) == {
        (): 2,
        ("i",): 3,
        ("i", "e"): 4,
        ("i", "e", "m"): 4 if chunks == 16 else 5,
    }


def test_rows_have_all_kernels_in_order() -> None:
    made = in_blocks(ppo(hidden=(4,)), 16)
    assert [n for row in small_in_a_row(made) for n in row] == list(range(len(made.kernels)))


def test_memory_is_freed_behind_rows() -> None:
    made = in_blocks(ppo(hidden=(4,)), 16)
    held = held_in_rows(made)
    freed = [[r.name for r in walk(m.loops.body) if isinstance(r, Free)] for m in (made, held)]
    assert sorted(freed[0]) == sorted(freed[1]) and freed[0] != freed[1]
    assert list(small_in_a_row(held)) == list(small_in_a_row(made))


@wb.program
def centred(B: int = 100, I: int = 2) -> dict[str, Any]:
    """Draws without their mean, which only the blocks behind it need."""
    b, i = wb.dims(b=B, i=I)
    x = wb.uniform(over=(b, i))
    return {"y": ((x - x.mean(over=b)) ** 2.0).sum(over=b)}


@wb.program
def centred_and_kept(B: int = 100, I: int = 2) -> dict[str, Any]:
    """The same, with the mean as a result."""
    b, i = wb.dims(b=B, i=I)
    x = wb.uniform(over=(b, i))
    mean = x.mean(over=b)
    return {"y": ((x - mean) ** 2.0).sum(over=b), "mean": mean}


@wb.program
def two_sums(I: int = 2) -> dict[str, Any]:
    """Each sum waits for the warp that wrote what it adds up."""
    i = wb.dims(i=I)
    a, b = wb.normal(shape=(20,), over=i), wb.normal(shape=(20,), over=i)
    twice, thrice = a * 2.0, b * 3.0
    return {"of_a": twice.sum(), "of_b": thrice.sum(), "a": twice, "b": thrice}


@wb.program
def centred_rows(N: int = 50) -> dict[str, Any]:
    """Rows, each less its mean, which is stored and read again in the same turn."""
    r, n = wb.dims(r=40, n=N)
    x = wb.uniform(over=(r, n))
    mean = x.sum(over=n) / N
    return {"mean": mean, "squares": ((x - mean) * (x - mean)).sum(over=n)}


@pytest.mark.parametrize(
    ("written", "steps"), [(two_sums, ()), (centred_rows, ("n",)), (centred_rows, ("n", "r"))]
)
def test_warps_side_by_side_have_the_bits_of_compiled_c(written: Any, steps: Sequence[str]) -> None:
    chosen = wb.variant(written())
    for dim in steps:
        chosen = chosen.apply(Vectorize(dim))
    expect_bits_of_compiled_c(chosen.program)


@wb.program
def rows_in_blocks(N: int = 50) -> dict[str, Any]:
    """Sums along rows of a matrix, one of which is of the other."""
    b, r, n = wb.dims(b=5, r=40, n=N)
    x = wb.uniform(over=(r, n))
    m = (x * wb.uniform(over=b)).sum(over=n)
    return {"m": m, "z": (x * m).sum(over=n)}


def test_a_warp_waits_inside_of_its_row() -> None:
    """What its first thread stores, others of it read."""
    program = wb.variant(rows_in_blocks()).apply(Persist("b", 1, 2)).apply(Vectorize("n")).program
    assert "thread < THREADS / WARP * WARP" in text_of(program_kernels(program))
    expect_bits_of_compiled_c(program)


@pytest.mark.parametrize(("written", "together"), [(centred, True), (centred_and_kept, False)])
def test_what_blocks_need_alone_they_compute_themselves(written: Any, together: bool) -> None:
    program = wb.variant(written()).apply(Persist("b", 16)).apply(Contract()).program
    made = list(functions(program_kernels(program), "float32"))
    of_blocks = [f for f in made if f.kernels[-1].dealing is not None]
    assert any(len(f.kernels) > 1 for f in of_blocks) is together
    expect_bits_of_compiled_c(program)


def test_blocks_do_not_run_for_themselves_what_reads_what_they_write() -> None:
    """One block would read what another has written over."""
    program = wb.variant(centred()).apply(Persist("b", 16)).apply(Contract()).program
    made = program_kernels(program)
    (row,) = (row for row in small_in_a_row(made) if len(row) > 1)
    *before, last = row
    points = next(n for n in made.kernels[before[0]].buffers if "points" in n)
    blocks = made.kernels[last]
    writing = replace(
        blocks,
        buffers=(*blocks.buffers, points),
        records=(Store(points, expression(0), Number(0.0, "float")), *blocks.records),
    )
    kernels = [writing if k is blocks else k for k in made.kernels]
    rows = list(small_in_a_row(replace(made, kernels=kernels)))
    assert tuple(before) in rows and (last,) in rows
