"""Softmax along the range axis of x[b, t:T], against NumPy and central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.differences import check
from tests.language.tracing.refused import b, refused, t
from workbench.backends.reference.evaluator import Reference


@wb.program
def attending(B: int = 2, T: int = 5, W: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    value = wb.normal(shape=2, over=(b, t))
    near = x[b, wb.maximum(t - W + 1, 0) : t + 1]
    of_near = value[b, wb.maximum(t - W + 1, 0) : t + 1]
    weight = wb.softmax(3.0 * near)
    read = (weight * of_near).sum(over="range")
    entropy = -(weight * wb.log_softmax(3.0 * near, axis="range")).sum()
    loss = (read**2).sum(axis=0).sum(over=(b, t)) + entropy.sum(over=(b, t))
    by_x = wb.gradient(loss, x)
    return {"x": x, "value": value, "read": read, "entropy": entropy, "loss": loss, "by_x": by_x}


def test_values_are_numpys() -> None:
    found = Reference(attending().equations, seed=1).outputs()
    for row, step in np.ndindex(2, 5):
        first = max(step - 2, 0)
        scores = 3.0 * found["x"][row, first : step + 1]
        weight = np.exp(scores - scores.max())
        weight /= weight.sum()
        read = weight @ found["value"][row, first : step + 1]
        np.testing.assert_allclose(found["read"][row, step], read, rtol=1e-12)
        entropy = -(weight * np.log(weight)).sum()
        np.testing.assert_allclose(found["entropy"][row, step], entropy, rtol=1e-9, atol=1e-12)


def test_derivatives_are_central_differences() -> None:
    check(attending(), ("x",), ("by_x",))


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_the_recipe_computes_the_same(backend: str) -> None:
    expected = Reference(attending().equations, seed=1).outputs()
    variant = wb.optimize(wb.variant(attending()), backend=backend)
    found = wb.run(variant, backend, seed=1, dtype="float64", progress=False)
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12)


def test_a_value_without_a_range_is_refused() -> None:
    error = refused(lambda: wb.softmax(wb.normal(over=(b, t)), axis="range"))
    assert "which has no range axis" in error.message
