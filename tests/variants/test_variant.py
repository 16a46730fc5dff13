"""Variants: keys, recipes, steps replayed, moves."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.programs import small_reinforce
from workbench.errors import WorkbenchError
from workbench.program.text.canonical import canonical
from workbench.program.values import Statement
from workbench.transforms import Tile, Vectorize
from workbench.transforms.step.transform import Rewritten, Transform, apply
from workbench.variants.move import Move
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


def test_key_is_the_hash_of_the_root_s_text_and_the_steps() -> None:
    found = wb.variant(walk()).apply(Vectorize("b"))
    text = canonical(walk())
    steps = json.dumps([Vectorize("b").to_json()], sort_keys=True)
    assert found.key == hashlib.sha256(f"{text}\n{steps}".encode()).hexdigest()


def test_the_root_s_text_is_written_once_for_all_variants_in_all_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = wb.variant(walk())
    keys = root.key, root.apply(Vectorize("b")).key

    def fail(statement: object) -> str:
        raise AssertionError("the text is written again")

    monkeypatch.setattr(Statement, "__repr__", fail)
    there = pickle.loads(pickle.dumps(root))
    assert (there.key, there.apply(Vectorize("b")).key) == keys
    assert root.apply(Vectorize("t")).key not in keys


def test_moves_say_what_is_possible() -> None:
    moves = {str(m.step): m for m in wb.variant(walk()).moves()}
    assert moves["Vectorize('b')"].legal and moves["Vectorize('t')"].legal


def test_moves_come_one_by_one_and_are_judged_when_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged: list[Transform] = []

    def counted(program: wb.Program, step: Transform) -> Rewritten:
        judged.append(step)
        return apply(program, step)

    root = wb.variant(walk())
    expected = [str(move) for move in root.moves()]
    monkeypatch.setattr("workbench.variants.variant.apply_step", counted)
    coming = root.each_move()
    first = next(coming)
    assert judged == [first.step]
    assert sorted(str(move) for move in [first, *coming]) == sorted(expected)
    assert [move.step for move in root.each_move(Tile)] == list(Tile.candidates(root.program))


def test_moves_of_some_transforms() -> None:
    found = wb.variant(walk()).moves(Tile, Vectorize)
    assert [type(move.step) for move in found] == [Tile, Tile, Vectorize, Vectorize]


def test_variant_shows_its_steps_and_an_outline() -> None:
    found = wb.variant(walk()).apply(Vectorize("b"))
    assert repr(found) == f"walk: Vectorize('b')\n\n{found.schedule}"


def test_variant_of_many_statements_is_cut_and_says_where_all_are() -> None:
    found = wb.variant(small_reinforce())
    assert "normal … optimizer.v.policy.bias_2[0]    (" in str(found)
    assert str(found).endswith("\n.schedule names every statement")
    assert len(str(found).splitlines()) < len(found.schedule.splitlines()) / 2


def test_variant_of_many_steps_numbers_them() -> None:
    found = wb.variant(walk())
    for size in (1_000_000, 100_000, 10_000, 1_000, 100, 10, 2):
        found = found.apply(Tile("t", size))
    assert str(found).startswith("walk:\n  1. Tile('t', 1000000)\n  2. Tile('t', 100000)\n")


def test_program_is_optimized_as_written() -> None:
    program = walk()
    assert (
        wb.optimize(program, backend="numpy").key
        == wb.optimize(wb.variant(program), backend="numpy").key
    )
    with pytest.raises(WorkbenchError, match="expected a program"):
        wb.optimize("walk", backend="numpy")  # type: ignore[arg-type]


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
