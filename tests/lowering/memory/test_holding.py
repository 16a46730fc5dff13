"""Donations of a program that was derived from a variant: judging those of arrays that it uses
otherwise finds the same as judging all.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.programs import small_ppo, small_reinforce
from workbench.lowering.memory.takeover import holding
from workbench.program.carrying.carried import keeping, resumed, starts
from workbench.program.values import Output, Program


@pytest.fixture(params=[small_ppo, small_reinforce])
def written(request: pytest.FixtureRequest) -> Program:
    made: Program = request.param()
    return made


def held(program: Program, before: Program) -> tuple[tuple[str, str], ...]:
    """The donations that hold, which are those found where nothing is known of any statement."""
    found = holding(program, before).storage.donated
    assert found == holding(program, small_ppo(T=3)).storage.donated
    return found


def donated(written: Program) -> Program:
    """A variant in which arrays take over memory of others."""
    chosen = wb.optimize(written, backend="native").program
    assert any(array != to for array, to in chosen.storage.donated)
    return chosen


def test_returning_carried_values_or_going_on_from_them_loses_no_donation(written: Program) -> None:
    chosen, equations = donated(written), written.equations
    assert held(keeping(chosen, equations), chosen) == chosen.storage.donated
    names = [start.name for start in starts(equations)]
    going_on = resumed(chosen, names, 2, equations)
    there = set(going_on.array)
    expected = [pair for pair in chosen.storage.donated if set(pair) <= there]
    assert [*held(going_on, chosen)] == expected


def test_an_array_that_is_returned_too_hands_on_no_memory(written: Program) -> None:
    chosen = donated(written)
    pairs = [pair for pair in chosen.storage.donated if pair[0] != pair[1]]
    for array in {name for pair in pairs[:: len(pairs) // 2] for name in pair}:
        outputs = (*chosen.outputs, Output("more", array))
        more = replace(chosen, equations=replace(chosen.equations, outputs=outputs))
        lost = {*chosen.storage.donated} - {*held(more, chosen)}
        assert {pair for pair in pairs if array in pair} <= lost
