"""Kernels that are taken over from other variants are, with their prices, what writing all of them
for this one gives, in text order and with checks and calls numbered through.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from tests.soundness.__main__ import meanings
from tests.soundness.proposals import Dice, accepted
from workbench.algorithms import reinforce
from workbench.codegen import joined_launches, kernels, launches_at_once, run_memory
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.codegen.writing import kernel_statements
from workbench.planning.cost.kernels import kernel_steps
from workbench.planning.cost.kernels.kernel_steps import KernelStep
from workbench.program.sizes import resolve
from workbench.program.values import Program

LENGTH = 4
WALKS = 1

KEEPING = (
    (kernels, "_kept"),
    (kernels, "_values"),
    (joined_launches, "_touched"),
    (kernel_statements, "_used"),
    (launches_at_once, "_is_wide"),
    (run_memory, "_scratch_bytes"),
    (kernel_steps, "_body"),
)


def told(made: ProgramKernels) -> list[object]:
    """All that a kernel tells, in text order, and the checks and calls as they are numbered."""
    each = [
        (
            kernel,
            repr(kernel.records),
            repr(kernel.tables),
            kernel.ranges,
            kernel.body,
            kernel.own,
        )
        for kernel in made.kernels
    ]
    return [*each, repr(made.checks), repr(made.calls), made.loops.body]


def priced(made: ProgramKernels) -> tuple[tuple[KernelStep, ...], int]:
    held = run_memory.peak_bytes(made, resolve(made.program.equations), "float32", 2)
    return kernel_steps.kernel_steps(made, 4), held


def expect_as_from_scratch(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    found = program_kernels(program)
    known, price = told(found), priced(found)
    with monkeypatch.context() as patched:
        for module, name in KEEPING:
            patched.setattr(module, name, getattr(module, name).__wrapped__)
        anew = program_kernels(replace(program))  # another object: it is not known
        assert told(anew) == known
        assert priced(anew) == price


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_after_steps_at_random_are_those_written_from_scratch(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(WALKS):
        dice = Dice(f"{name} kernels {number}")
        root = dice.choose(meanings(name)).root
        for variant in accepted(root, dice, LENGTH):
            expect_as_from_scratch(variant.program, monkeypatch)


def test_a_step_writes_the_kernels_anew_that_it_touches() -> None:
    root = wb.variant(reinforce())
    list(program_kernels(root.program).kernels)
    step = wb.transforms.Contract("alive")
    before = kernels._kept.cache_info().misses
    made = program_kernels(root.apply(step).program)
    touching = [k for k in made.kernels if any(b.startswith("alive") for b in k.buffers)]
    written = kernels._kept.cache_info().misses - before
    assert 0 < len(touching) == written < len(made.kernels) / 4
