"""Kernels that become several functions, and calls of external objects between."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.environments.playing import choice, restarting
from workbench.codegen.cuda import permutations
from workbench.codegen.cuda.function_writer import FunctionWriter
from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.kernel_functions import launched
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.cuda.small_kernels import is_of_host
from workbench.codegen.kernel_records import Loop
from workbench.codegen.kernels import program_kernels
from workbench.environments import Gymnasium
from workbench.errors import ProgramError
from workbench.polyhedral.expression import expression


@wb.program
def shuffled(I: int = 2, N: int = 100) -> dict[str, Any]:
    """A permutation for each i."""
    i, n = wb.dims(i=I, n=N)
    return {"order": wb.permutation(N, over=i)[wb.index(n)]}


@pytest.mark.parametrize("n", [1, 4096, 4097, 100_000, 2**25])
def test_a_permutation_is_dealt_to_ranges_that_blocks_sort(n: int) -> None:
    made = gpu_kernels(program_kernels(shuffled()))
    (stages,) = (one for one in launched(made, "float32") if isinstance(one, Stages))
    assert not stages.calls
    begun, counted, dealt, ordered, *_ = stages.functions
    names = [f.name.rsplit("_", 1)[-1] for f in (begun, counted, dealt, ordered)]
    assert names == [name.split()[-1] for name in permutations.STAGES]
    begun_by, counted_by, dealt_by, ranges = (
        f.blocks.evaluate({"N": n, "I": 2}) for f in (begun, counted, dealt, ordered)
    )
    assert (begun_by, dealt_by) == (1, counted_by)
    drawn = counted.threads * permutations.WORDS
    assert (counted_by - 1) * drawn < n <= counted_by * drawn
    assert ranges == min(-(-n // permutations.RANGE), permutations.MOST_RANGES)
    elements = {
        name: count.evaluate({"N": n, "I": 2}) for name, (_, count) in stages.memory.items()
    }
    assert [*elements.values()] == [3 * ranges + 1]


def test_an_external_object_inside_of_blocks_is_refused() -> None:
    made = gpu_kernels(program_kernels(restarting(Gymnasium("CartPole-v1"), choice(2), I=2, T=5)))
    kernel = next(kernel for kernel in made.kernels if is_of_host(kernel))
    loop = Loop("turn", expression(0), expression(2), kernel.records)
    with pytest.raises(ProgramError) as error:
        FunctionWriter(made, "float32").stages(replace(kernel, records=(loop,)))
    assert "inside of blocks that a GPU runs; only the host can call it" in str(error.value)
    assert "Distribute" in str(error.value) and error.value.line is not None


def test_functions_around_a_call_hand_on_what_it_reads_and_writes() -> None:
    made = gpu_kernels(program_kernels(restarting(Gymnasium("CartPole-v1"), choice(2), I=2, T=5)))
    staged = [one for one in launched(made, "float32") if isinstance(one, Stages)]
    assert [len(one.calls) for one in staged if one.calls] == [1] * len(made.calls)
    for one in staged:
        names = {name for call in one.calls for name, _ in (call.out, *call.operands)}
        assert names - set(made.buffers) <= set(one.memory)
        assert all(isinstance(stage, Function) for stage in one.stages if stage not in one.calls)
