"""Steps as views see them: what they name, and which names their arguments may hold."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.programs import PROGRAMS, returns
from tests.session.capsules import diverging
from workbench.session.parts.moves import moves
from workbench.session.parts.step import step_view
from workbench.transforms import Contract, Incrementalize, Interchange, Place, Tile, Vectorize
from workbench.transforms.step.transform import REGISTRY
from workbench.variants.variant import Variant


@wb.program
def walk(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    position = wb.recurrent("position", (), over=(b, t))
    position[b, 0] = wb.uniform(over=b)
    position[b, t + 1] = position + 1.0
    return {"last": 2.0 * position[b, T]}


def known(variant: Variant, transform: str, argument: str) -> list[str]:
    """The names that a form offers for an argument."""
    first = next(iter(moves(variant, {})))
    (view,) = (one for one in first.transforms if one.name == transform)
    return list(first.names[view.schema["properties"][argument]["known"]])


def test_a_choice_that_is_called_like_a_statement_names_none() -> None:
    shown = step_view(Place(("position[0]",), "t"), walk())
    assert (shown.statements, shown.arrays, shown.dims) == (("position[0]",), (), ("t",))


def test_a_step_names_its_statements_arrays_and_dims() -> None:
    program = walk()
    shown = step_view(Vectorize("b", ("last", "position")), program)
    assert (shown.statements, shown.dims) == (("last",), ("b",))
    assert set(shown.arrays) == {"last", "position"}
    shown = step_view(Interchange("b", "t"), program)
    assert (shown.statements, shown.arrays, shown.dims) == ((), (), ("b", "t"))
    assert step_view(Contract("position", "t"), program).arrays == ("position",)


def test_a_dim_of_blocks_is_known_and_named() -> None:
    variant = wb.variant(diverging.returns()).apply(Incrementalize("to_go", "t", block=32))
    assert "t_block32" in known(variant, "Vectorize", "dim")
    assert variant.check(Vectorize("t_block32")) is None
    assert step_view(Vectorize("t_block32"), variant.program).dims == ("t_block32",)


def test_a_loop_over_blocks_is_known() -> None:
    variant = wb.variant(returns()).apply(Tile("t", 64))
    assert known(variant, "Interchange", "outer").count("t_block64") == 1


@pytest.mark.parametrize("name", ["returns", "small_ppo"])
@pytest.mark.parametrize("transform", sorted(REGISTRY))
def test_what_is_known_is_not_refused_as_unknown(name: str, transform: str) -> None:
    variant = wb.variant(PROGRAMS[name][0]())
    first = next(iter(moves(variant, {})))
    (view,) = (one for one in first.transforms if one.name == transform)
    for argument, described in view.schema["properties"].items():
        if "names" not in described or argument == "shifts":
            continue
        needed = {
            other: first.names[view.schema["properties"][other]["known"]][0]
            for other in view.schema["required"]
            if "names" in view.schema["properties"][other]
        }
        numbers = {other: 2 for other in view.schema["required"] if other not in needed}
        known = first.names[described["known"]]
        for text in known[:3] + known[-3:]:
            step = REGISTRY[transform](**{**needed, **numbers, argument: text})
            refusal = variant.check(step)
            assert refusal is None or f"{described['names']} {text}:" not in refusal.sentence
        step = REGISTRY[transform](**{**needed, **numbers, argument: "nobody"})
        refusal = variant.check(step)
        assert refusal is not None and f" {described['names']} nobody: " in refusal.sentence
