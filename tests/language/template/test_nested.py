"""Expressions of hundreds of operations: bodies that whoever walks them has enough calls for."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from workbench.language.template.uses import MOST_NESTED

MANY = 3 * MOST_NESTED


@wb.program
def nested(B: int = 3) -> dict[str, Any]:
    b = wb.dim(b=B)
    start = wb.uniform(over=b)
    x = start
    for _ in range(MANY):
        x = 0.99 * x + 0.01
    return {"start": start, "x": x, "slope": wb.gradient(x, start)}


def test_expressions_may_nest_any_number_of_operations() -> None:
    for backend in ("numpy", "native"):
        found = wb.run(nested(), backend, dtype="float64", progress=False)
        slope = 0.99**MANY
        wanted = 1.0 + slope * (found["start"] - 1.0)
        np.testing.assert_allclose(found["x"], wanted, rtol=1e-12, err_msg=backend)
        np.testing.assert_allclose(found["slope"], slope, rtol=1e-10, err_msg=backend)


def test_bodies_are_cut_where_they_nest_too_many() -> None:
    program = wb.variant(nested()).program
    assert 2 * MANY / MOST_NESTED <= len(program.statements) <= 10 * MANY / MOST_NESTED
