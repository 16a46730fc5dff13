"""wb.within of a tuple: the exact range in lexicographic order, its check, and windows from it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.truth import truth
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, RunError
from workbench.lowering.execution.events import execution
from workbench.lowering.lower import lower
from workbench.polyhedral.accesses import Access
from workbench.polyhedral.expression import expression
from workbench.polyhedral.sets.relations import box, image, points
from workbench.program.values import Program
from workbench.transforms import Contract

SIZES: list[dict[str, int]] = [{}, {"H": 1}, {"T": 1}, {"I": 5, "T": 2, "H": 3}, {"I": 1, "H": 9}]


@wb.program
def earlier(I: int = 4, T: int = 3, H: int = 2) -> dict[str, Any]:
    """Every step reads one of those before it, of its own row and H before, or itself."""
    i, t = wb.dims(i=I, t=T)
    seen = wb.recurrent("seen", (), over=(i, t))
    value = wb.recurrent("value", (), over=(i, t))
    first = wb.maximum(i - H, 0)
    count = wb.cast(wb.index((i - first) * T + t + 1), float)
    drawn = wb.cast(wb.uniform(over=(i, t)) * count, int) + wb.index(first * T)
    row, step = wb.within((drawn // T, drawn % T), (first, 0), (i, t + 1))
    value[0, 0] = 1.0
    value[i + 1, 0] = value[i, T]
    value[i, t + 1] = 0.5 * value + wb.gather(seen, i=row, t=step)
    seen[i, t] = 1.0 + value
    return {"value": value}


@wb.program
def between(place: Any = (), bounds: Any = ()) -> dict[str, Any]:
    """A read of x at a triple that is promised to lie between two others."""
    i, j, k = wb.dims(i=3, j=3, k=2)
    x = wb.uniform(over=(i, j, k))
    zero = wb.cast(wb.uniform() * 0.0, int)
    first, second, third = wb.within(tuple(zero + n for n in place), *bounds)
    return {"y": wb.gather(x, i=first, j=second, k=third)}


def access(program: Program, array: str) -> Access:
    reads = (read.access for s in program.statements for read in s.reads)
    return next(a for a in reads if a.array == array and a.depends_on_data)


def touched(program: Program, array: str, at: dict[str, int]) -> set[tuple[int, ...]]:
    """The elements that an instance may read, by the relation."""
    here = box([(d, expression(n), expression(n + 1)) for d, n in at.items()])
    extent = program.array[array].extent
    names = [f"o{k}" for k in range(len(extent))]
    text = image(here, tuple(at), access(program, array).index, extent, names)
    return set(points(text, {p.name: p.default for p in program.parameters}))


def test_relation_has_the_steps_between_and_no_others() -> None:
    program = earlier()
    for i, t in product(range(4), range(3)):
        moments = product(range(4), range(3))
        expected = {m for m in moments if (max(i - 2, 0), 0) <= m < (i, t + 1)}
        assert touched(program, "seen", {"i": i, "t": t}) == expected


BOUNDS = [
    ((0, 0, 0), (2, 1, 1)),
    ((0, 2, 1), (2, 1, 1)),
    ((0, 1, 0), (1, 2, 0)),
    ((1, 0, 1), (2, 0, 0)),
    ((0, 0, 0), (3, 0, 0)),
    ((1, 1, 1), (1, 2, 1)),
]


TRIPLES = list(product(range(3), range(3), range(2)))


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_relation_of_triples_is_that_of_pythons_tuples(bounds: Any) -> None:
    program = between(place=bounds[0], bounds=bounds)
    assert touched(program, "x", {}) == {x for x in TRIPLES if bounds[0] <= x < bounds[1]}


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_every_triple_outside_is_told_and_none_inside(bounds: Any) -> None:
    for place in TRIPLES:
        reference = Reference(between(place=place, bounds=bounds).equations)
        if bounds[0] <= place < bounds[1]:
            reference.element("y", ())
            continue
        with pytest.raises(ProgramError, match=r"is not within .* as the program promises"):
            reference.element("y", ())


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ((0, 2, 0), "the index 0 of y at its only instance is not within 1 to 1"),
        ((2, 1, 1), "the index 1 of y at its only instance is not within 0 to 0"),
    ],
)
def test_triple_outside_is_told_where_a_program_runs(place: Any, told: str) -> None:
    program = between(place=place, bounds=BOUNDS[1])
    with pytest.raises(RunError, match=rf"{told}, as the program promises\n.*wb\.gather"):
        wb.run(wb.variant(program), backend="numpy", progress=False)


def test_steps_up_to_the_present_one_run_in_their_order() -> None:
    """Rows and steps are loops; a box of the bounds would make a cycle of it."""
    contracted = wb.variant(earlier()).apply(Contract("seen", "i"))
    best = wb.optimize(earlier(), backend="native")
    for sizes in SIZES:
        expected = truth(earlier(), sizes, seed=2).outputs()["value"]
        for variant, backend in ((contracted, "numpy"), (best, "native")):
            run = get(backend).compile(variant.program).run(sizes, seed=2, dtype="float64")
            np.testing.assert_allclose(run.outputs["value"], expected, rtol=1e-12)


def test_rows_that_no_step_reads_any_more_are_not_kept() -> None:
    """The row of a step and H before it, whatever the number of steps."""
    program = wb.variant(earlier()).apply(Contract("seen", "i")).program
    window = lower(program).stored["seen"].windows[0]
    assert window is not None and str(window) == "min(I, H + 1)"


def test_events_of_an_instance_are_those_of_the_relation() -> None:
    program = earlier()
    done = execution(wb.variant(program).program, {"I": 3, "T": 2, "H": 1})
    reader = next(s.name for s in program.statements if any(r.array == "seen" for r in s.reads))
    found = {}
    for event in done.events:
        for one in event.instances if event.statement == reader else ():
            found[one.point] = {x.element for x in one.reads if x.array == "seen"}
    moments = list(product(range(3), range(2)))
    for i, t in moments:
        expected = {m for m in moments if (max(i - 1, 0), 0) <= m < (i, t + 1)}
        assert found[i, t] == expected


def test_bounds_of_another_length_are_refused() -> None:
    @wb.program
    def example(I: int = 3) -> dict[str, Any]:
        i = wb.dim(i=I)
        drawn = wb.cast(wb.uniform(over=i), int)
        return {"y": wb.within((drawn, drawn), (0, 0), (i + 1,))[0]}

    with pytest.raises(ProgramError, match=r"within of 2 indices has the bound \(i \+ 1,\); exp"):
        example()
