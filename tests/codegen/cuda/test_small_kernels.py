"""Rows of small kernels: how many are left to launch, and who runs them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import fibres, watched
from tests.native_runs import compiled, shared_cache
from workbench.algorithms import ppo
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.cuda.small_kernels import held_in_rows, small_in_a_row
from workbench.codegen.kernel_records import Number, Store
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.lowering.loops.records import Free, walk
from workbench.polyhedral.expression import expression
from workbench.transforms import Contract, Donate, Persist


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


@pytest.mark.parametrize(("written", "together"), [(centred, True), (centred_and_kept, False)])
def test_what_blocks_need_alone_they_compute_themselves(written: Any, together: bool) -> None:
    program = wb.variant(written()).apply(Persist("b", 16)).apply(Contract()).program
    made = list(functions(program_kernels(program), "float32"))
    of_blocks = [f for f in made if f.kernels[-1].dealing is not None]
    assert any(len(f.kernels) > 1 for f in of_blocks) is together
    found, fault = watched(fibres(program), {})
    with shared_cache():
        wanted = compiled(program).run({}, 3, "float32").outputs
    assert fault == ""
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


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
