"""The program that storage and lowering see: accumulators, starts, and where these stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tests.by_hand as h
import workbench as wb
from tests.by_hand import T, t
from tests.transforms.order.ordering import assert_computes_the_same
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference.evaluator import Reference
from workbench.lowering.lower import lower
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.expression import variable
from workbench.polyhedral.tree import Leaf, Loop, Tree, sequence, text
from workbench.program.accumulating import Adding, Finish, Start, derived, owner, why_stored
from workbench.program.bodies import Literal
from workbench.program.dependences import dependences
from workbench.program.storage import Storage
from workbench.program.values import Output, Program
from workbench.transforms import Accumulate, Fuse, Interchange, Tile, Vectorize

u = variable("u")


@wb.program
def sums(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    return {"row": x.sum(over=t), "most": x.max(over=(b, t))}


def split() -> wb.Variant:
    return wb.variant(sums()).apply(Accumulate("t"))


def test_program_without_added_points_is_its_own() -> None:
    program = sums()
    assert derived(program) is program


def test_derived_program_is_remembered_and_derives_itself() -> None:
    program = split().program
    seen = derived(program)
    assert seen is derived(program) and derived(seen) is seen
    other = replace(program, storage=replace(program.storage, contracted=(("x", "t"),)))
    assert derived(other).equations is seen.equations
    assert derived(other).schedule is seen.schedule


def test_points_are_combined_into_one_element_for_each_sum() -> None:
    program = split().program
    seen = derived(program)
    assert seen.array["row.points"].dims == ("b",)
    assert seen.array["most.points"].dims == ()
    start, points, result = (
        seen.statement[name] for name in ("row.points.start", "row.points", "row")
    )
    assert isinstance(start, Start) and owner(start) == "row.points"
    assert start.body == Literal(0, "float") and start.dims == ("b",)
    assert isinstance(points, Adding) and (points.by, points.over) == ("sum", ("t",))
    assert points.write == (variable("b"),) and points.dims == ("b", "t")
    assert result.combiner is None and result.body == h.read("row.points", variable("b"))
    most = seen.statement["most.points"]
    assert isinstance(most, Adding) and (most.by, most.over) == ("max", ("b", "t"))
    assert seen.statement["most.points.start"].body == Literal(float("-inf"), "float")
    assert type(seen.statement["most"]) is not Finish  # there are points at all sizes
    assert seen.storage == Storage()


def test_stored_points_say_why() -> None:
    program = split().program
    assert why_stored(program, "row.points") is None
    output = Output("points", "row.points")
    returned = replace(program.equations, outputs=(*program.outputs, output))
    assert why_stored(replace(program, equations=returned), "row.points") == (
        "row.points would be an output"
    )
    swapped = replace(program.storage, swapped=(("row.points", 0),))
    assert why_stored(replace(program, storage=swapped), "row.points") == (
        "row.points would live in host memory"
    )
    fewer = tuple(s for s in program.statements if s.name != "row")
    without = replace(program.equations, statements=fewer)
    assert why_stored(replace(program, equations=without), "row.points") == (
        "nothing would read row.points"
    )


@pytest.mark.parametrize(
    ("steps", "before"),
    [
        ((), "    row.points.start\n    for t:\n        row.points"),
        ((Vectorize("b"),), "    row.points.start\n    for t:\n        row.points"),
        ((Vectorize("t", ("row.points",)),), "row.points.start\n    axis t:\n        row.points"),
        ((Tile("b", 2),), "row.points.start\n        for t:\n            row.points"),
        ((Tile("t", 2, ("row.points",)),), "row.points.start\n    for t in blocks of 2:"),
    ],
)
def test_start_stands_where_one_iteration_has_all_points(
    steps: tuple[Any, ...], before: str
) -> None:
    @wb.program
    def rows(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(over=(b, t))
        return {"row": x.sum(over=t)}

    found = wb.variant(rows()).apply(Accumulate("t"))
    for step in steps:
        found = found.apply(step)
    shown = text(derived(found.program).schedule)
    assert before in shown, shown


def test_start_stands_in_front_of_a_loop_that_brings_points_one_by_one() -> None:
    found = wb.variant(sums()).apply(Accumulate("t", "row")).apply(Fuse(("x", "row.points")))
    turned = found.apply(Interchange("b", "t", ("x", "row.points")))
    shown = text(derived(turned.program).schedule)
    assert shown.startswith("axis b:\n    row.points.start\nfor t:\n    for b:\n        x\n")
    assert_computes_the_same(turned, {})


def prefixes() -> Program:
    """`s[t] = x[0] + … + x[t]`; the points of s[u] stand at t in the loop that computes both."""
    domain = {"u": (0, T), "t": (0, u + 1)}
    equations = h.equations(
        h.statement("x", [t], h.call("sin", h.call("cast", h.value(t), dtype="float")), TS),
        h.statement("s.points", [u, t], h.read("x", t), domain, name="s.points"),
        h.statement(
            "s",
            [t],
            h.read("s.points", t, variable("t_1")),
            TS,
            {"t_1": (0, t + 1)},
            "sum",
            name="s",
        ),
        sizes={"T": 4},
        dims={"t": T},
        outputs=["s"],
    )
    inside: list[Tree] = [Leaf("x(t)"), Loop("u", Leaf("s.points")), Leaf("s")]
    return Program(equations, Loop("t", sequence(inside)), Storage(added=("s.points",)))


TS = {"t": (0, T)}


def test_points_may_stand_at_another_place_of_a_shared_loop_than_their_sum() -> None:
    program = prefixes()
    assert violation(program.schedule, dependences(program.equations)) is None
    shown = text(derived(program).schedule)
    assert shown.startswith("axis u:\n    s.points.start\nfor t:\n    x(t)\n    for u:\n")
    for length in (1, 2, 5):
        expected = Reference(program.equations, {"T": length}, 0).array("s")
        for contracted in ((), (("x", "t"),)):
            storage = replace(program.storage, contracted=contracted)
            compiled = NumPyBackend().compile(replace(program, storage=storage))
            found = compiled.run({"T": length}, 0, "float64").outputs["s"]
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_loop_program_allocates_and_starts_each_accumulator_once() -> None:
    loops = str(lower(split().program))
    assert loops.count("allocate row_points") == 1
    assert "# row.points: row.points[b], the start" in loops
    assert "# row.points: row.points[b], added up" in loops
