"""Random steps on random programs: what is accepted computes the same, what is refused breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.language.test_random_programs import Rule, rules, written
from tests.programs import PROGRAMS
from tests.transforms.order.moments import assert_breaks
from tests.transforms.order.ordering import assert_computes_the_same, separate
from workbench.polyhedral.tree import loop_dims
from workbench.program.dependences import dependences
from workbench.transforms import Distribute, Fuse, Place, Vectorize
from workbench.transforms.step.transform import Transform
from workbench.transforms.trees.distribution import distributed
from workbench.transforms.trees.joining import joined
from workbench.transforms.trees.regions import loops_around
from workbench.transforms.trees.sites import site

SIZES = st.fixed_dictionaries({"P": st.integers(1, 5), "Q": st.integers(1, 4)})


def any_step(data: st.DataObject, variant: wb.Variant) -> Transform:
    """Fuse or Distribute of some statements, or what prepares them."""
    program = variant.program
    names = list(program.statement)
    kind = data.draw(st.sampled_from(["fuse", "fuse", "fuse", "distribute", "vectorize", "place"]))
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    dims = [d.name for d in program.dims]
    if kind == "fuse":
        shifts = ((chosen[-1], data.draw(st.integers(0, 2))),)
        return Fuse(tuple(chosen), shifts=shifts if shifts[0][1] else ())
    if kind == "distribute":
        return Distribute(tuple(chosen), data.draw(st.sampled_from([None, *dims])))
    if kind == "place":
        at: Any = data.draw(st.sampled_from(["first", "last"]))
        return Place(chosen[0], data.draw(st.sampled_from(dims)), at)  # type: ignore[arg-type]
    return Vectorize(data.draw(st.sampled_from(dims)), (chosen[0],))


def walked(data: st.DataObject, variant: wb.Variant, most: int) -> wb.Variant:
    """The variant after a few steps, those that are refused seen to break, and one repair taken."""
    for _ in range(data.draw(st.integers(1, most))):
        step = any_step(data, variant)
        refusal = variant.check(step)
        if refusal is None:
            variant = variant.apply(step)
            continue
        if refusal.kind == "dependence":
            assert_refused_order_breaks(variant, step, refusal.witness)
        for repair in refusal.repairs:
            left = variant.apply(repair).check(step)
            assert left is None or any(type(other) is type(step) for other in left.instead)
        for other in refusal.instead:
            assert variant.check(other) is None
        helping = (*refusal.repairs, *refusal.instead)
        if helping:
            variant = variant.apply(helping[0])
    return variant


def assert_refused_order_breaks(variant: wb.Variant, step: Transform, witness: Any) -> None:
    program, found = variant.program, dependences(variant.program.equations)
    tree = program.schedule
    assert tree is not None
    if isinstance(step, Fuse):
        at = site(tree, step.statements, found)
        given = dict(step.shifts)
        shifts = [sum(given.get(n, 0) for n in _below(loop)) for loop in at.loops]
        assert_breaks(program, joined(at, shifts, at.ways[0]), witness)
    if isinstance(step, Distribute):
        chosen = frozenset(step.statements)
        around = [p for p in loops_around(tree, chosen) if step.dim in (None, p.dim)]
        loop = [p for p in around if set(_below(p)) - chosen][-1]
        assert_breaks(program, distributed(tree, loop, chosen, found), witness)


def _below(tree: Any) -> list[str]:
    return list(loop_dims(tree))


@settings(max_examples=30)
@given(st.data(), rules(causal=True), SIZES)
def test_steps_on_random_programs(
    data: st.DataObject, found: list[Rule], sizes: dict[str, int]
) -> None:
    root = separate(written(found)) if data.draw(st.booleans()) else wb.variant(written(found))
    assert_computes_the_same(walked(data, root, 5), sizes)


@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=3)
@given(st.data())
def test_steps_on_the_small_programs(name: str, data: st.DataObject) -> None:
    template, many = PROGRAMS[name]
    assert_computes_the_same(
        walked(data, wb.variant(template()), 3), data.draw(st.sampled_from(many))
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_fusion_and_distribution_that_is_offered(name: str) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    for step in (*Fuse.candidates(root.program), *Distribute.candidates(root.program)):
        refusal = root.check(step)
        if refusal is None:
            assert_computes_the_same(root.apply(step), many[0])
        else:
            assert_refused_order_breaks(root, step, refusal.witness)
