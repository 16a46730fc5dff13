"""What is taken over from an instance linearised on its own, whatever was lowered before, is what
linearising everything in the program itself gives: names, records, memory and prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from tests.soundness.__main__ import meanings
from tests.soundness.proposals import Dice, accepted
from workbench.lowering.instances import fragments, nest
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import walk
from workbench.lowering.lower import stages
from workbench.lowering.values import stored
from workbench.planning.cost import array_calls, strides
from workbench.planning.cost.seconds import Share, cost
from workbench.planning.cost.work import steps_of
from workbench.planning.machine.calibrated import machine
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Swap

LENGTH = 4
WALKS = 2

REMEMBERED = (
    (stored, "_store"),
    (stored, "_memory_order"),
    (strides, "whole"),
    (strides, "_viewed"),
    (array_calls, "_call"),
)
"""What else is known from one program to the next."""


def priced(loops: LoopProgram, program: Program) -> Mapping[str, Share]:
    return cost(steps_of(loops), resolve(program.equations), "float32", machine("numpy"))


def from_scratch(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> tuple[LoopProgram, Mapping[str, Share]]:
    """The loop program and its price without anything known from another: every instance is
    linearised in the program's own workspace.
    """
    with monkeypatch.context() as patched:
        patched.setattr(nest, "instance", fragments._linearized)
        for module, name in REMEMBERED:
            patched.setattr(module, name, cache(getattr(module, name).__wrapped__))
        loops: LoopProgram = stages(program).memory
        return loops, priced(loops, program)


def expect_as_from_scratch(variant: wb.Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    found, program = variant.loop_program, variant.program
    price = priced(found, program)
    wanted, anew = from_scratch(program, monkeypatch)
    assert str(found) == str(wanted)
    assert [repr(r) for r in walk(found.body)] == [repr(r) for r in walk(wanted.body)]
    assert found.stored == wanted.stored
    assert found.results == wanted.results
    assert price == anew


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowering_after_steps_at_random_is_lowering_from_scratch(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(WALKS):
        dice = Dice(f"{name} fragments {number}")
        root = dice.choose(meanings(name)).root
        for variant in accepted(root, dice, LENGTH):
            expect_as_from_scratch(variant, monkeypatch)


def test_slices_of_what_lives_on_the_host_are_shared_as_from_scratch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @wb.program
    def blocks(B: int = 8, T: int = 6) -> dict[str, object]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(over=(b, t), shape=(16,))
        near = wb.sin(x) + wb.cos(x)
        return {"sum": near.sum(axis=0).sum(over=t) + x.sum(axis=0).sum(over=t)}

    variant = wb.variant(blocks())
    for step in Swap.candidates(variant.program):
        if variant.check(step) is None:
            variant = variant.apply(step)
    assert variant.steps
    expect_as_from_scratch(variant, monkeypatch)
