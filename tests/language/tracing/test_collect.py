"""A dim as an inner axis, and back: every variant against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.backends.reference.evaluator import Reference
from workbench.language.tracing.nodes import apply
from workbench.language.tracing.reductions import collect


def agree(program: wb.Program) -> dict[str, Any]:
    """The outputs, the same by the reference, as written and under the automatic recipe."""
    expected = Reference(program.equations).outputs()
    for variant in (wb.variant(program), program):
        found = wb.run(variant, dtype="float64", progress=False, backend="numpy")
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-12)
    return expected


@pytest.mark.parametrize("shape", [(), (3,)])
def test_what_is_collected_is_taken_apart_again(shape: tuple[int, ...]) -> None:
    @wb.program
    def both(B: int = 4, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(shape=shape, over=(b, t))
        rows = collect(x, "b")
        taken = apply("take", rows, wb.index(b)) * 1.0
        turned = apply("take", rows, wb.index(B - 1 - b)) * 1.0
        return {"x": x, "rows": rows, "taken": taken + 0.0, "turned": turned + 0.0}

    found = agree(both())
    assert found["rows"].shape == (3, 4, *shape)
    assert np.array_equal(found["taken"], found["x"])
    assert np.array_equal(found["turned"], found["x"][::-1])


def test_what_does_not_vary_is_collected_as_often_as_the_dim_is_long() -> None:
    @wb.program
    def repeated(B: int = 4, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        return {"rows": collect(wb.uniform(over=t), "b") + wb.index(b).sum(over=b)}

    found = agree(repeated())
    assert found["rows"].shape == (3, 4)
    assert (found["rows"] == found["rows"][:, :1]).all()


def test_the_gradient_of_what_is_collected() -> None:
    @wb.program
    def squares(B: int = 4, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=(b, t))
        rows = collect(x, "b")
        loss = (rows * rows).sum(axis=0).sum(over=t)
        return {"x": x, "slope": wb.gradient(loss, x)}

    found = agree(squares())
    np.testing.assert_allclose(found["slope"], 2.0 * found["x"], rtol=1e-12)
