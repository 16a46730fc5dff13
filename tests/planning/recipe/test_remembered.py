"""A plan is found once: what is run again, or measured after it was run, is not searched again."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.planning.recipe import automatic


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The objectives of the searches that are made."""
    made: list[str] = []
    judge = automatic.Judge

    def judging(*arguments: object) -> object:
        made.append(str(arguments[1]))
        return judge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(automatic, "Judge", judging)
    return made


def test_a_program_that_is_run_again_is_not_searched_again(searches: list[str]) -> None:
    program = leaky_sum()
    for _ in range(2):
        wb.run(program, progress=False, backend="numpy")
        wb.optimize(wb.variant(program), backend="numpy")
    assert len(searches) == 1


def test_another_aim_is_another_search(searches: list[str]) -> None:
    program = leaky_sum()
    wb.optimize(program, backend="numpy")
    wb.optimize(program, sizes={"T": 9}, backend="numpy")
    wb.optimize(program, "memory", backend="numpy")
    wb.optimize(program, capacity=10**9, backend="numpy")
    wb.optimize(program, dtype="float64", backend="numpy")
    assert len(searches) == 5


def test_a_machine_measured_meanwhile_is_another_aim(
    searches: list[str], request: pytest.FixtureRequest
) -> None:
    program = leaky_sum()
    wb.optimize(program, backend="numpy")
    request.getfixturevalue("server")
    wb.optimize(program, backend="numpy")
    assert len(searches) == 2


def test_an_equal_program_is_searched_for_itself(searches: list[str]) -> None:
    wb.optimize(leaky_sum(), backend="numpy")
    wb.optimize(leaky_sum(), backend="numpy")
    assert len(searches) == 2
