"""The plan for a GPU: blocks for its multiprocessors, memory that two of them have side by side."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.algorithms import ppo, reinforce
from workbench.codegen.cuda.kernel_functions import functions
from workbench.codegen.cuda.kernel_parts import SIDE_BY_SIDE
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.kernels import program_kernels
from workbench.lowering.launches import launches
from workbench.lowering.loops.bytes import bytes_of
from workbench.planning.recipe.blocks.on_gpu import PARTS, SAME, runs_for
from workbench.program.accumulating import Adding, derived
from workbench.program.sizes import resolve
from workbench.transforms import Persist, Recompute
from workbench.variants.variant import Variant


def persisted(chosen: Variant) -> dict[str, tuple[int, int]]:
    """The size of a block and the runs, by dimension."""
    steps = (step for step in chosen.steps if isinstance(step, Persist))
    return {step.dim: (step.size, step.chunks) for step in steps}


@pytest.mark.parametrize(
    ("blocks", "runs"), [(1, 2), (2, 2), (5, 4), (128, 128), (131, 128), (263, 256), (1024, 256)]
)
def test_two_runs_of_blocks_for_each_multiprocessor(blocks: int, runs: int) -> None:
    assert runs_for(blocks, 132) == runs


@pytest.mark.parametrize(("B", "size"), [(2048, 16), (16384, 64)])
def test_blocks_are_as_large_as_leaves_each_multiprocessor_one(B: int, size: int) -> None:
    sizes = {"B": B, "T": 32}
    chosen = wb.optimize(reinforce(), sizes=sizes, backend="cuda")
    assert persisted(chosen)["b"][0] == size
    assert B / size >= 124


def test_two_blocks_fit_a_multiprocessor_and_partial_sums_half_of_the_rest() -> None:
    for B in (64, 2048):
        chosen = wb.optimize(ppo(), sizes={"B": B}, backend="cuda")
        program = chosen.program
        made = gpu_kernels(program_kernels(program))
        many = [f for f in functions(made, "float32") if f.kernels[-1].dealing is not None]
        assert max(f.shared_bytes for f in many) <= SIDE_BY_SIDE
        sizes, loops = resolve(program.equations, {"B": B}), launches(program)
        names = {s.array for s in derived(program).statements if isinstance(s, Adding)}
        parts = sum(bytes_of(loops.stored[n].buffer, sizes, "float32") for n in names)
        assert parts <= PARTS * (loops.peak(sizes, "float32") - parts)
        assert persisted(chosen).keys() == {"b", "k"}


def test_what_follows_from_what_is_kept_is_computed_again() -> None:
    """Returns are advantages and values, of which both are kept: they take no memory of their own,
    and no more time.
    """
    sizes = {"B": 2048}
    chosen = wb.optimize(ppo(), sizes=sizes, backend="cuda")
    assert Recompute("target") in chosen.steps
    kept = wb.variant(ppo())
    for step in chosen.steps:
        if not isinstance(step, Recompute):
            kept = kept.apply(step)
    without, with_it = (v.predict(sizes, backend="cuda") for v in (chosen, kept))
    assert without.peak_bytes["device"] < with_it.peak_bytes["device"]
    assert without.seconds <= SAME * with_it.seconds
