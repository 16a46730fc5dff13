"""Every transform: its documented example does what it says, it has a schema, it survives JSON."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from difflib import ndiff
from typing import Any

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from tests.programs import leaky_sum
from tests.transforms.documented import documented, section
from workbench.errors import TooComplexError, WorkbenchError
from workbench.polyhedral.sets.as_text import limited, parse_set
from workbench.transforms import Incrementalize, Swap, Tile, Vectorize
from workbench.transforms.step.step_json import ArgumentError, from_json, schema
from workbench.transforms.step.transform import REGISTRY, Transform


@pytest.mark.parametrize("name", REGISTRY)
def test_documented_example_does_what_it_says(name: str) -> None:
    before, step, after = documented(name)
    shown = "storage" if after.schedule == before.schedule else "schedule"
    assert getattr(before, shown) == section(name, "Before")
    assert getattr(after, shown) == section(name, f"After {re.escape(step)}")


@pytest.mark.parametrize("name", REGISTRY)
def test_texts_after_the_documented_example_are_golden(golden: GoldenFiles, name: str) -> None:
    before, step, after = documented(name)
    parts = [step]
    if str(after.program) != str(before.program):
        parts.append(f"equations\n\n{changes(str(before.program), str(after.program))}")
    parts.append(f"schedule\n\n{after.schedule}")
    if after.storage != before.storage:
        parts.append(f"storage\n\n{changes(before.storage, after.storage)}")
    parts.append(f"loops\n\n{after.loop_program}")
    golden(f"transforms/{name}.txt", "\n\n".join(part.rstrip("\n") for part in parts) + "\n")


def test_golden_texts_are_those_of_the_transforms(golden: GoldenFiles) -> None:
    assert {path.stem for path in (golden.folder / "transforms").iterdir()} == set(REGISTRY)


def changes(before: str, after: str) -> str:
    """The lines of both texts, marked `-` where only before and `+` where only after."""
    lines = ndiff(before.splitlines(), after.splitlines())
    return "\n".join(line.rstrip() for line in lines if not line.startswith("?"))


@pytest.mark.parametrize("name", REGISTRY)
def test_docstring_says_when_it_is_legal(name: str) -> None:
    assert "Legal when" in (inspect.getdoc(REGISTRY[name]) or "")


@pytest.mark.parametrize("name", REGISTRY)
def test_schema_is_valid_and_names_every_field(name: str) -> None:
    import jsonschema  # takes seconds, in every process that collects this file

    found = schema(REGISTRY[name])
    jsonschema.Draft202012Validator.check_schema(found)
    assert set(found["properties"]) == {f.name for f in dataclasses.fields(REGISTRY[name])}


@pytest.mark.parametrize(
    "step", [Tile("b", 0), Swap("x", prefetch=-1), Incrementalize("s[t+1]", "t", block=0)]
)
def test_schema_gives_the_least_number_that_a_step_takes(step: Transform) -> None:
    (name,) = step.least
    described = schema(type(step))["properties"][name]
    assert described["minimum"] == getattr(step, name) + 1
    refusal = wb.variant(leaky_sum()).check(step)
    assert refusal is not None
    assert (refusal.kind, repr(getattr(step, name)) in refusal.sentence) == ("input", True)


def test_step_survives_json() -> None:
    import jsonschema

    step = wb.transforms.Vectorize("t", ("state", "alive"))
    jsonschema.validate(step.to_json()["arguments"], schema(wb.transforms.Vectorize))
    assert from_json(step.to_json()) == step
    assert eval(repr(step), {"Vectorize": wb.transforms.Vectorize}) == step


def test_json_of_an_unknown_transform_offers_the_nearest() -> None:
    with pytest.raises(
        WorkbenchError, match=r"unknown transform 'Vectorise': did you mean Vectorize\?"
    ):
        from_json({"transform": "Vectorise", "arguments": {}})
    with pytest.raises(WorkbenchError, match=r"unknown transform \['Vectorize'\]"):
        from_json({"transform": ["Vectorize"], "arguments": {}})


@pytest.mark.parametrize(
    ("transform", "arguments", "sentence"),
    [
        (
            "Vectorize",
            {"dime": "b"},
            "Vectorize has no argument 'dime': did you mean dim? (arguments: dim, statements)",
        ),
        ("Vectorize", {}, "Vectorize lacks its argument dim"),
        ("Vectorize", {"dim": 5}, "Vectorize: dim is 5; expected a name"),
        (
            "Vectorize",
            {"dim": "b", "statements": "x"},
            "Vectorize: statements is 'x'; expected names",
        ),
        (
            "Vectorize",
            {"dim": "b", "statements": ["x", 1]},
            "Vectorize: statements is ['x', 1]; expected names",
        ),
        (
            "Reschedule",
            {"statements": ["x", "y"], "fuse": "all"},
            "Reschedule: fuse is 'all'; expected 'most' or 'least'",
        ),
        ("Vectorize", ["b"], "Vectorize: arguments are ['b']; expected an object"),
    ],
)
def test_json_with_other_arguments_is_refused(
    transform: str, arguments: Any, sentence: str
) -> None:
    with pytest.raises(WorkbenchError) as refused:
        from_json({"transform": transform, "arguments": arguments})
    assert refused.value.message == sentence


@pytest.mark.parametrize(
    ("arguments", "sentence", "reasons"),
    [
        (
            {},
            "Tile lacks its argument dim, size",
            {"dim": "Tile lacks its argument dim", "size": "Tile lacks its argument size"},
        ),
        (
            {"size": "many", "statements": [1]},
            "Tile: size is 'many'; expected a whole number",
            {
                "dim": "Tile lacks its argument dim",
                "size": "Tile: size is 'many'; expected a whole number",
                "statements": "Tile: statements is [1]; expected names",
            },
        ),
    ],
)
def test_json_that_is_no_step_says_it_of_every_argument(
    arguments: Any, sentence: str, reasons: dict[str, str]
) -> None:
    with pytest.raises(ArgumentError) as refused:
        from_json({"transform": "Tile", "arguments": arguments})
    assert (refused.value.message, refused.value.reasons) == (sentence, reasons)


@pytest.mark.parametrize(
    ("step", "argument"),
    [
        (wb.transforms.Vectorize("u"), "dim"),
        (wb.transforms.Vectorize("t", "nobody"), "statements"),  # type: ignore[arg-type]
        (wb.transforms.Vectorize("t", ()), "statements"),
        (wb.transforms.Contract("x", ["t"]), "dim"),  # type: ignore[arg-type]
        (wb.transforms.Distribute(()), "statements"),
        (wb.transforms.Fuse(("x",)), "statements"),
        (wb.transforms.Fuse(("x", "s[t+1]"), shifts=(("x", -1),)), "shifts"),
        (wb.transforms.Fuse(("x", "s[t+1]"), shifts=(("last", 1),)), "shifts"),
        (wb.transforms.Incrementalize("x", "t", block=0), "block"),
        (wb.transforms.Interchange("b", "b"), "inner"),
        (wb.transforms.Place((), "t"), "statements"),
        (wb.transforms.Place(("x",), "t", at="end"), "at"),  # type: ignore[arg-type]
        (wb.transforms.Recompute("x", ("x",)), "readers"),
        (wb.transforms.Reschedule(("x",)), "statements"),
        (wb.transforms.Reschedule(("x", "s[t+1]"), fuse="all"), "fuse"),  # type: ignore[arg-type]
        (wb.transforms.Swap("x", prefetch=-1), "prefetch"),
        (wb.transforms.Tile("t", 0), "size"),
    ],
)
def test_refusal_of_bad_input_names_the_argument(step: Transform, argument: str) -> None:
    refusal = wb.variant(leaky_sum()).check(step)
    assert refusal is not None
    assert (refusal.kind, refusal.argument) == ("input", argument)


def test_refusal_of_what_is_a_step_names_no_argument() -> None:
    refusal = wb.variant(leaky_sum()).check(wb.transforms.Vectorize("t", ("s[t+1]",)))
    assert refusal is not None
    assert (refusal.kind, refusal.argument) == ("dependence", None)


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (wb.transforms.Vectorize(3), "Vectorize(3): dim is 3; expected a name"),  # type: ignore
        (
            wb.transforms.Vectorize("t", 3),  # type: ignore[arg-type]
            "Vectorize('t', statements=3): statements is 3; expected names",
        ),
        (
            wb.transforms.Contract("x", ["t"]),  # type: ignore[arg-type]
            "Contract('x', ('t',)): dim is ('t',); expected a name",
        ),
        (
            wb.transforms.Fuse(("x", "y"), shifts=(("x", "far"),)),  # type: ignore[arg-type]
            "Fuse(('x', 'y'), shifts=(('x', 'far'),)): shifts is (('x', 'far'),); expected pairs "
            "of a name and a whole number",
        ),
    ],
)
def test_argument_of_another_type_refused(step: Transform, sentence: str) -> None:
    found = wb.variant(leaky_sum()).check(step)
    assert found is not None
    assert (found.kind, found.sentence) == ("input", sentence)


@pytest.mark.parametrize(
    "step",
    [
        wb.transforms.Accumulate("t", ()),
        wb.transforms.Interchange("b", "t", ()),
        wb.transforms.Recompute("x", ()),
        wb.transforms.Simplify(()),
        wb.transforms.Tile("t", 2, ()),
        wb.transforms.Vectorize("t", ()),
    ],
)
def test_step_refused_when_it_names_nothing(step: Transform) -> None:
    found = wb.variant(leaky_sum()).check(step)
    assert found is not None
    (name,) = (field.name for field in dataclasses.fields(step) if getattr(step, field.name) == ())
    sentence = f"{step}: {name} is empty; name some, or leave it out"
    assert (found.kind, found.sentence) == ("input", sentence)


def test_lists_and_single_names_are_tuples() -> None:
    assert wb.transforms.Vectorize("t", "x").statements == ("x",)  # type: ignore[arg-type]
    assert wb.transforms.Fuse(["x", "y"], [["x", 1]]) == wb.transforms.Fuse(  # type: ignore
        ("x", "y"), (("x", 1),)
    )
    assert wb.transforms.Recompute("x").readers is None


def test_nested_lists_of_json_are_tuples() -> None:
    step = wb.transforms.Fuse(("a", "b"), (("b", 1),))
    assert from_json(json.loads(json.dumps(step.to_json()))) == step


def test_step_refused_when_its_legality_takes_too_much_work(monkeypatch: Any) -> None:
    def endless(*_: object) -> None:
        with limited("computing lifetimes", 1):
            parse_set("{ [x, y] : exists a : 0 <= x < y and 3a <= x * 2 + y and y < 7a }").lexmin()

    monkeypatch.setattr("workbench.transforms.step.transform.broken_storage", endless)
    variant = wb.variant(leaky_sum())
    found = variant.check(Vectorize("b"))
    assert found is not None
    assert found.kind == "cost"
    assert found.sentence == (
        "Vectorize('b'): computing lifetimes: too complex, given up after 1 operations"
    )
    with pytest.raises(wb.Refused, match="too complex"):
        variant.apply(Vectorize("b"))


def test_what_helps_is_looked_for_when_the_refusal_is_looked_at(monkeypatch: Any) -> None:
    looked: list[str] = []

    def repairs(*_: object) -> Iterator[Transform]:
        looked.append("for help")
        yield from (Tile("t", 2), Vectorize("nobody"), Vectorize("b"), Vectorize("b"))

    monkeypatch.setattr(Vectorize, "repairs", repairs)
    found = wb.variant(leaky_sum()).check(Vectorize("t", ("s[t+1]",)))
    assert found is not None and not looked
    assert (found.repairs, found.instead) == ((Tile("t", 2),), (Vectorize("b"),))
    assert wb.variant(leaky_sum()).check(Vectorize("b", ("s[t+1]",))) is None


def test_refusal_of_an_argument_has_no_help(monkeypatch: Any) -> None:
    monkeypatch.setattr(Vectorize, "repairs", lambda *_: iter((Vectorize("b"),)))
    found = wb.variant(leaky_sum()).check(Vectorize("nobody"))
    assert found is not None
    assert (found.kind, found.repairs, found.instead) == ("input", (), ())


def test_refusal_stands_where_looking_for_help_takes_too_much_work(monkeypatch: Any) -> None:
    def repairs(*_: object) -> Iterator[Transform]:
        raise TooComplexError("too complex, given up after 5 operations")

    monkeypatch.setattr(Vectorize, "repairs", repairs)
    found = wb.variant(leaky_sum()).check(Vectorize("t", ("s[t+1]",)))
    assert found is not None
    assert (found.kind, found.repairs, found.instead) == ("dependence", (), ())
