"""Recipes: kept in a file, taken on another branch, and what is said where a step does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, automatic, leaky_sum, returns, small_reinforce
from tests.variants.test_variant import walk
from workbench.errors import WorkbenchError
from workbench.transforms import Contract, Tile, Vectorize
from workbench.variants.recipes import RecipeError, load_recipe, replay, save


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recipe.json"


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_saved_is_loaded(name: str, path: Path) -> None:
    program = PROGRAMS[name][0]()
    found = automatic(name)
    found.save(path)
    again = load_recipe(path, program)
    assert (again.steps, again.key) == (found.steps, found.key)
    assert again.schedule == found.schedule


def test_recipe_fits_other_sizes_and_arguments_of_its_program(path: Path) -> None:
    save(wb.variant(returns()).apply(Vectorize("b")), path)
    assert load_recipe(path, returns(T=50, gamma=0.5)).steps == (Vectorize("b"),)


def test_recipe_of_no_steps_is_the_program_as_written(path: Path) -> None:
    save(wb.variant(walk()), path)
    assert load_recipe(path, walk()).steps == ()


def test_recipe_of_another_program_says_so(path: Path) -> None:
    save(wb.variant(leaky_sum()).apply(Vectorize("b")), path)
    with pytest.raises(WorkbenchError) as refused:
        load_recipe(path, returns())
    assert refused.value.message == f"{path} is a recipe of leaky_sum, not of returns"


def test_step_that_no_longer_fits_is_named_with_what_was_applied(path: Path) -> None:
    save(wb.variant(walk()).apply(Vectorize("b")).apply(Contract()), path)
    changed(path, lambda record: record["steps"][1].update(arguments={"array": "positoin"}))
    with pytest.raises(RecipeError) as refused:
        load_recipe(path, walk())
    message = refused.value.message
    assert message.startswith(f"{path}: step 2 of 2 does not fit: ")
    assert "did you mean position?" in message
    assert message.endswith("(applied until then: Vectorize('b'))")
    assert refused.value.applied.steps == (Vectorize("b"),)


def test_program_that_has_changed_since_is_said_to_have(path: Path) -> None:
    save(wb.variant(walk()).apply(Vectorize("b")), path)
    changed(path, lambda record: record["steps"][0].update(arguments={"dim": "batch"}))
    changed(path, lambda record: record.update(root="of another time"))
    with pytest.raises(RecipeError) as refused:
        load_recipe(path, walk())
    assert refused.value.message.endswith(
        "(applied until then: nothing); walk has other equations or arguments than it was written "
        "for"
    )


def test_unknown_transform_offers_the_nearest(path: Path) -> None:
    save(wb.variant(walk()).apply(Vectorize("b")), path)
    changed(path, lambda record: record["steps"][0].update(transform="Vectorise"))
    with pytest.raises(RecipeError, match=r"step 1 of 1 .* 'Vectorise': did you mean Vectorize\?"):
        load_recipe(path, walk())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "there is no file {path}"),
        ("{", "{path} is no recipe: it is not JSON (Expecting property name"),
        ("[]", "{path} is no recipe: it lacks program, root, steps"),
        ('{"program": "walk"}', "{path} is no recipe: it lacks program, root, steps"),
        (
            '{"program": "walk", "root": "", "steps": ["Vectorize"]}',
            "{path} is no recipe: its steps are no list of objects",
        ),
    ],
)
def test_file_that_is_no_recipe_is_refused(path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(WorkbenchError) as refused:
        load_recipe(path, walk())
    assert refused.value.message.startswith(sentence.format(path=path))


def test_folder_is_no_file_to_write_or_to_read(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="cannot be written: Is a directory"):
        save(wb.variant(walk()), tmp_path)
    with pytest.raises(WorkbenchError, match="cannot be read: Is a directory"):
        load_recipe(tmp_path, walk())


# -- branches --------------------------------------------------------------------------------------


def test_steps_of_one_branch_are_taken_on_another() -> None:
    root = wb.variant(walk())
    one, other = root.apply(Vectorize("b")), root.apply(Vectorize("t"))
    found = replay(other, one)
    assert found.steps == (Vectorize("t"), Vectorize("b"))
    assert found.parent is not None and found.parent.key == other.key


def test_steps_that_both_branches_have_taken_are_not_taken_again() -> None:
    trunk = wb.variant(walk()).apply(Vectorize("b"))
    one, other = trunk.apply(Tile("t", 2)), trunk.apply(Vectorize("t"))
    assert replay(other, one).steps == (Vectorize("b"), Vectorize("t"), Tile("t", 2))
    assert replay(trunk, one).key == one.key
    assert replay(one, trunk) is one


def test_steps_are_given_as_steps_or_as_json() -> None:
    root = wb.variant(walk())
    wanted = root.apply(Vectorize("b"))
    for steps in (wanted, wanted.steps, list(wanted.steps), wanted.to_json()):
        assert replay(root, steps).key == wanted.key


def test_step_that_does_not_fit_the_other_branch_is_named() -> None:
    root = wb.variant(walk())
    both = root.apply(Vectorize("t")).apply(Vectorize("b"))
    with pytest.raises(RecipeError) as refused:
        replay(root.apply(Vectorize("b")), both)
    assert refused.value.message.startswith("step 2 of 2 does not fit: ")
    assert refused.value.message.endswith("(applied until then: Vectorize('t'))")
    assert refused.value.applied.steps == (Vectorize("b"), Vectorize("t"))


def test_step_of_another_program_names_the_nearest_statements() -> None:
    step = Vectorize("b", ("surrogat",))
    with pytest.raises(WorkbenchError, match=r"unknown statement surrogat"):
        wb.variant(small_reinforce()).apply(step)


@pytest.mark.parametrize("steps", ["Vectorize('b')", 5, {"transform": "Vectorize"}])
def test_what_is_no_list_of_steps_is_refused(steps: Any) -> None:
    with pytest.raises(WorkbenchError, match="expected a list of steps, found "):
        replay(wb.variant(walk()), steps)


def test_what_is_no_step_is_refused_with_its_place() -> None:
    with pytest.raises(RecipeError, match="step 1 of 1 does not fit: 'Vectorize' is not a step"):
        replay(wb.variant(walk()), ["Vectorize"])  # type: ignore[list-item]
