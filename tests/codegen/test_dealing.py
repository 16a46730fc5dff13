"""Runs of blocks begin the partial sums to which they add, where nothing adds to these before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import run_native
from workbench.algorithms import ppo
from workbench.backends.numpy import NumPyBackend
from workbench.codegen.kernel_records import Loop
from workbench.codegen.kernels import KernelRecords, program_kernels
from workbench.program.accumulating import Adding, Start, derived
from workbench.program.values import Program
from workbench.transforms import Accumulate, Fuse, Persist

Outputs = dict[str, Any]


@wb.program
def once(B: int = 40) -> Outputs:
    """A sum of numbers, one of rows and a greatest number, over all of `b`."""
    b = wb.dim(b=B)
    x = wb.exp(wb.normal(over=b, shape=(3,)))
    return {"sum": x.sum().sum(over=b), "rows": x.mean(over=b), "most": x.max().max(over=b)}


@wb.program
def again(B: int = 40, T: int = 5) -> Outputs:
    """In each step blocks add to a sum of that step, and to one of all steps."""
    b, t = wb.dims(b=B, t=T)
    c = wb.recurrent("c", (), over=t)
    c[0] = 1.0
    e = wb.exp(wb.uniform(over=(b, t)) * c)
    c[t + 1] = 0.5 * c + e.mean(over=b)
    return {"c": c, "all": e.mean(over=(b, t))}


def in_blocks(program: Program) -> wb.Variant:
    variant = wb.variant(program)
    if "all_sum" in program.statement:  # its points into the loop over steps
        variant = variant.apply(Accumulate("b")).apply(Fuse(("e", "all_sum.points")))
    for dim in ("b", "k"):
        if dim in program.dim:
            variant = variant.apply(Persist(dim, 4, 3))
    return variant


def begun_apart(program: Program) -> list[str]:
    """The starts of partial sums that are kernels of their own."""
    dealt = {s.name for s in derived(program).statements if isinstance(s, Adding) and s.chunks}
    starts = {s.name for s in derived(program).statements if isinstance(s, Start) and s.of in dealt}
    return [
        name
        for kernel in program_kernels(program).kernels
        if kernel.dealing is None
        for name in kernel.statements
        if name in starts
    ]


def begins(kernel: KernelRecords) -> tuple[Loop, ...]:
    loops = (r for r in kernel.records if isinstance(r, Loop))
    return tuple(loop for loop in loops if loop.variable == kernel.chunk)


@pytest.mark.parametrize("program", [once(), ppo(hidden=(5,))], ids=["once", "ppo"])
def test_runs_begin_the_partial_sums_to_which_they_add(program: Program) -> None:
    found = in_blocks(program).program
    assert begun_apart(found) == []
    kernels = program_kernels(found).kernels
    assert any(begins(kernel) for kernel in kernels)
    for kernel in kernels:
        for loop in begins(kernel):
            assert kernel.dealing is not None and loop.upper == kernel.dealing.chunks


def test_sums_to_which_earlier_blocks_have_added_are_begun_before_these() -> None:
    found = in_blocks(again()).program
    assert begun_apart(found) == ["all_sum.points.start"]


@pytest.mark.parametrize("program", [once(), again()], ids=["once", "again"])
@pytest.mark.parametrize("B", [1, 3, 4, 5, 11, 40])
@pytest.mark.parametrize("threads", [1, 3])
def test_runs_that_begin_their_sums_add_up_the_same(program: Program, B: int, threads: int) -> None:
    found = in_blocks(program).program
    wanted = NumPyBackend().compile(found).run({"B": B}, 2, "float64").outputs
    outputs = run_native(found, {"B": B}, 2, threads=threads)
    for name, values in wanted.items():
        np.testing.assert_allclose(outputs[name], values, rtol=1e-12, err_msg=name)


def test_text_of_a_run_begins_its_own_part() -> None:
    (text,) = (k.text for k in in_blocks(once()).kernels("native") if "chunk" in k.text)
    begun, adding = text.split("for (int64_t b_block4")
    assert "most_points[chunk] = (-INFINITE_F);" in begun
    assert "most_points[chunk] = maximum_f(most_points[chunk], " in adding
