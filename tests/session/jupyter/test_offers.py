"""What a panel without a workbench offers of a notebook's variables."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.session.jupyter.offers import offers


@wb.program
def walk(B: int = 2) -> dict[str, Any]:
    """A template that can be traced as it is."""
    b = wb.dim(b=B)
    return {"all": wb.uniform(over=b).mean(over=b)}


@wb.program
def asked(B: int) -> dict[str, Any]:
    """A template that needs a size first."""
    b = wb.dim(b=B)
    return {"all": wb.uniform(over=b).mean(over=b)}


def test_programs_variants_and_templates_are_offered_the_last_first() -> None:
    program = walk()
    variant = wb.variant(program).apply(wb.transforms.Vectorize("b"))
    variables = {"wb": wb, "walk": walk, "program": program, "n": 3, "fast": variant}
    assert offers(variables).data == [
        {"name": "fast", "cell": "wb.Workbench(fast)\n", "missing": []},
        {"name": "program", "cell": "wb.Workbench(program)\n", "missing": []},
        {"name": "walk", "cell": "wb.watch(walk)\n", "missing": []},
    ]


def test_the_package_is_imported_where_no_variable_holds_it() -> None:
    (found,) = offers({"walk": walk}).data
    assert found["cell"] == "import workbench as wb\n\nwb.watch(walk)\n"
    (found,) = offers({"workbench": wb, "walk": walk}).data
    assert found["cell"] == "workbench.watch(walk)\n"


def test_arguments_without_a_default_are_left_to_fill_in() -> None:
    (found,) = offers({"wb": wb, "asked": asked}).data
    assert found == {"name": "asked", "cell": "wb.watch(asked, B=)\n", "missing": ["B"]}


def test_left_out_is_what_no_user_means_to_show() -> None:
    program = walk()
    variables = {"_": walk, "first": program, "second": program, "f": len}
    assert [one["name"] for one in offers(variables).data] == ["second"]


def test_no_more_than_eight_are_offered() -> None:
    assert [one["name"] for one in offers({f"p{n}": walk() for n in range(10)}).data] == [
        f"p{n}" for n in range(9, 1, -1)
    ]


def test_a_cell_that_is_offered_shows_the_program() -> None:
    for name in ("walk", "program"):
        variables = {"wb": wb, "walk": walk, "program": walk()}
        (cell,) = [one["cell"] for one in offers(variables).data if one["name"] == name]
        shown = eval(cell, variables)
        assert shown.variant.program.name == "walk"
