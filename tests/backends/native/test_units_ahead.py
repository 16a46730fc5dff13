"""Units of a program are compiled while kernels of the next are generated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.native_runs import QUICKLY
from tests.programs import small_ppo
from workbench.backends.native import compiled_program
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.codegen import kernels
from workbench.codegen.kernels import program_kernels
from workbench.codegen.printing.program import program_text
from workbench.coming import Coming

pytestmark = pytest.mark.nothing_compiled


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Unit]:
    """The units that are begun to be compiled ahead."""
    units: list[Unit] = []
    monkeypatch.setattr(compiled_program, "build_ahead", lambda unit, *_: units.append(unit))
    monkeypatch.setattr(program_text, "UNIT_CHARACTERS", 5000)
    return units


def made() -> CompiledProgram:
    program = wb.optimize(small_ppo(), backend="native").program
    return CompiledProgram(program, program_kernels(program), QUICKLY.found(), stored=False)


def test_unit_is_begun_before_all_kernels_are_made(
    begun: list[Unit], monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = made()
    made_so_far = fresh.kernels.kernels
    known: list[int] = []

    def beginning(unit: Unit, *_: object) -> None:
        assert isinstance(made_so_far, Coming)
        known.append(len(made_so_far._made))
        begun.append(unit)

    monkeypatch.setattr(compiled_program, "build_ahead", beginning)
    fresh.prepare()
    assert [unit.name for unit in begun] == list(fresh.text().units)
    assert known == sorted(known)
    assert 0 == known[0] < known[1] < known[2] < known[-1] == len(made_so_far)


def test_nothing_is_begun_ahead_for_kernels_of_a_file(begun: list[Unit]) -> None:
    replace(made(), stored=True).prepare()
    assert begun == []


def test_units_are_those_of_the_whole_text() -> None:
    program = made()
    assert dict(program.text_units("float32")) == program.text("float32").units


def test_kernels_whose_making_was_interrupted_are_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Equal ones, and checks are numbered from 1 again."""
    whole, again = (program_kernels(small_ppo()) for _ in range(2))
    right, count = kernels._Writing._kernel, iter(range(10))

    def pressed(*given: Any) -> Any:
        if next(count) == 9:
            raise KeyboardInterrupt
        return right(*given)

    monkeypatch.setattr(kernels._Writing, "_kernel", pressed)
    with pytest.raises(KeyboardInterrupt):
        len(again.kernels)
    monkeypatch.setattr(kernels._Writing, "_kernel", right)
    assert [k.records for k in again.kernels] == [k.records for k in whole.kernels]
    assert [c.number for c in again.checks] == list(range(1, len(whole.checks) + 1))
