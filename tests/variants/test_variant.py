"""Variants: keys, recipes, steps replayed, moves."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.transforms import Vectorize
from workbench.variants.recipes import RecipeError


@wb.program
def walk(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    position = wb.recurrent("position", (), over=(b, t))
    position[b, 0] = 0.0
    position[b, t + 1] = position + wb.normal(over=(b, t))
    return {"position": position}


def test_recipe_rebuilds_the_same_variant() -> None:
    program = walk()
    found = wb.variant(program).apply(Vectorize("b")).apply(Vectorize("t"))
    space: dict[str, Any] = {"program": program}
    exec(compile(found.recipe(), "<string>", "exec"), space)
    assert space["variant"].key == found.key
    assert space["variant"].schedule == found.schedule


def test_steps_as_json_rebuild_the_same_variant() -> None:
    program = walk()
    found = wb.variant(program).apply(Vectorize("b"))
    assert wb.variant(program).replay(found.to_json()).key == found.key


def test_replay_names_the_step_that_no_longer_fits() -> None:
    steps = [Vectorize("b").to_json(), Vectorize("b").to_json()]
    with pytest.raises(RecipeError, match=r"step 2 of 2 .*no statement loops over b"):
        wb.variant(walk()).replay(steps)


def test_key_is_the_same_for_equal_programs_and_differs_with_the_steps() -> None:
    assert wb.variant(walk()).key == wb.variant(walk()).key
    assert wb.variant(walk()).key != wb.variant(walk()).apply(Vectorize("b")).key


def test_moves_say_what_is_possible() -> None:
    moves = {str(m.step): m for m in wb.variant(walk()).moves()}
    assert moves["Vectorize('b')"].legal and moves["Vectorize('t')"].legal


def test_variant_of_something_else_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="expected a program"):
        wb.variant(walk)  # type: ignore[arg-type]


def test_apply_of_something_else_is_refused() -> None:
    with pytest.raises(WorkbenchError, match=r"'b' is not a step; expected one of .*Contract, "):
        wb.variant(walk()).apply("b")  # type: ignore[arg-type]
