"""Variants: keys, recipes, steps replayed, moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.transforms import Vectorize
from workbench.variants.recipes import RecipeError
from workbench.variants.variant import Move


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


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda v: "b", "'b' is not a step; expected one of Accumulate, Contract, "),
        (lambda v: Vectorize, "Vectorize is a kind of step; its arguments are dim, statements"),
        (lambda v: v, "a variant is not a step; .replay(variant) takes the steps of one"),
        (
            lambda v: Move(Vectorize("b"), None),
            "a move is not a step, but has one: .step, here ",
        ),
    ],
)
def test_what_is_not_a_step_is_neither_checked_nor_applied(
    given: Callable[[wb.Variant], Any], sentence: str
) -> None:
    start = wb.variant(walk())
    for take in (start.check, start.apply):
        with pytest.raises(WorkbenchError) as refused:
            take(given(start))
        assert refused.value.message.startswith(sentence)
