"""Random programs with loops and axes in blocks, exchanged, contracted: what is accepted computes
the same, what helps can be taken.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.language.test_random_programs import Rule, rules, written
from tests.programs import PROGRAMS
from tests.transforms.order.ordering import assert_computes_the_same, separate
from workbench.polyhedral.tree import blocks, loop_dims
from workbench.transforms import Contract, Interchange, Tile, Vectorize
from workbench.transforms.step.transform import Transform

SIZES = st.fixed_dictionaries({"P": st.integers(1, 7), "Q": st.integers(1, 5)})


def any_step(data: st.DataObject, variant: wb.Variant) -> Transform:
    """Tile or Interchange, or what makes axes and windows of loops."""
    program = variant.program
    kind = data.draw(st.sampled_from(["tile", "tile", "interchange", "vectorize", "contract"]))
    dims = list(dict.fromkeys(d for s in program.statements for d in s.dims))
    names = st.lists(st.sampled_from(list(program.statement)), min_size=1, max_size=2, unique=True)
    chosen = data.draw(st.one_of(st.none(), st.none(), names.map(tuple)))
    if kind == "tile":
        return Tile(data.draw(st.sampled_from(dims)), data.draw(st.integers(1, 5)), chosen)
    if kind == "interchange":
        loops = sorted({n for own in loop_dims(program.schedule).values() for n in own} | set(dims))
        offered = list(Interchange.candidates(program))
        if offered and data.draw(st.booleans()):
            return data.draw(st.sampled_from(offered))
        pair = data.draw(st.lists(st.sampled_from(loops), min_size=2, max_size=2))
        return Interchange(pair[0], pair[1], chosen)
    return Contract() if kind == "contract" else Vectorize(data.draw(st.sampled_from(dims)))


def walked(data: st.DataObject, variant: wb.Variant, most: int) -> wb.Variant:
    """The variant after a few steps; where one is refused, after what helps, and then that."""
    for _ in range(data.draw(st.integers(1, most))):
        step = any_step(data, variant)
        refusal = variant.check(step)
        if refusal is None:
            variant = variant.apply(step)
            continue
        assert refusal.sentence.startswith(f"{step}")
        for repair in refusal.repairs:
            found = variant.apply(repair).check(step)
            assert found is None or found.instead
        for other in refusal.instead:
            assert variant.check(other) is None
    return variant


@settings(max_examples=40)
@given(st.data(), rules(causal=True), SIZES)
def test_steps_on_random_programs(
    data: st.DataObject, found: list[Rule], sizes: dict[str, int]
) -> None:
    root = separate(written(found)) if data.draw(st.booleans()) else wb.variant(written(found))
    assert_computes_the_same(walked(data, root, 6), sizes)


@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=3)
@given(st.data())
def test_steps_on_the_small_programs(name: str, data: st.DataObject) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    if data.draw(st.booleans()):
        for dim in root.program.dims:
            step = Vectorize(dim.name)
            root = root.apply(step) if root.check(step) is None else root
    assert_computes_the_same(walked(data, root, 4), data.draw(st.sampled_from(many)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_in_blocks_and_windows(name: str) -> None:
    """Every dimension that can is an axis, and every dimension in blocks that do not divide."""
    template, many = PROGRAMS[name]
    variant = wb.variant(template())
    for dim in variant.program.dims:
        for step in (Vectorize(dim.name), Tile(dim.name, 2)):
            variant = variant.apply(step) if variant.check(step) is None else variant
    if variant.check(Contract()) is None:
        variant = variant.apply(Contract())
    assert blocks(variant.program.schedule)
    for sizes in many[:2]:
        assert_computes_the_same(variant, sizes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_interchange_that_is_offered(name: str) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    dim = root.program.dims[0].name
    for variant in (root, root.apply(Tile(dim, 2))):
        for step in Interchange.candidates(variant.program):
            if variant.check(step) is None:
                assert_computes_the_same(variant.apply(step), many[0])
