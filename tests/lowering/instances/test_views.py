"""Views as records: an index has one entry for each axis of what it is taken of."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.lowering.loops.records import (
    NEW,
    Allocate,
    Constant,
    Count,
    Index,
    Record,
    Transpose,
    View,
    walk,
)
from workbench.lowering.lower import lower
from workbench.polyhedral.expression import Expression
from workbench.program.values import Program


def axes_after(view: View, before: int) -> int:
    """The number of axes of a view of something with `before` axes."""
    if isinstance(view.how, Index):
        entries = view.how.entries
        assert sum(e != NEW for e in entries) == before, view
        return sum(not isinstance(e, Expression) for e in entries)
    if isinstance(view.how, Transpose):
        assert sorted(view.how.axes) == list(range(before)), view
        return before
    return len(view.how.shape)


def assert_views_fit(program: Program) -> None:
    """Every view is taken of something with as many axes as it says."""
    axes: dict[str, int] = {}
    records: list[Record] = list(walk(lower(program).body))
    for record in records:
        if isinstance(record, (Allocate, Constant, Count)):
            axes[record.buffer.name] = len(record.buffer.shape)
        elif isinstance(record, View):
            axes[record.name] = axes_after(record, axes[record.source])
    assert any(isinstance(r, View) for r in records)


@pytest.mark.parametrize("name", PROGRAMS)
def test_index_has_an_entry_for_each_axis(name: str) -> None:
    variant = wb.variant(PROGRAMS[name][0]())
    assert_views_fit(variant.program)
    for dim in variant.program.dims:
        step = wb.transforms.Vectorize(dim.name)
        if variant.check(step) is None:
            assert_views_fit(variant.apply(step).program)


def test_positions_in_front_of_and_behind_a_slice() -> None:
    @wb.program
    def example(B: int = 2, I: int = 3, T: int = 4) -> dict[str, object]:
        b, i, t = wb.dims(b=B, i=I, t=T)
        x = wb.normal(shape=(2, 3), over=(i, b, t))
        return {"y": x[b, i, t][..., 0].sum(over=t)}

    variant = wb.variant(example()).apply(wb.transforms.Vectorize("t"))
    assert_views_fit(variant.program)
