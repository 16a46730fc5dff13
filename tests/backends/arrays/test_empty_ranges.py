"""Ranges that are empty for some instances, or at the smallest sizes, sum to nothing, whatever
stands beside the sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tests.by_hand as h
import workbench as wb
from tests.backends.arrays.test_compiled import check
from tests.backends.small_programs import scheduled
from workbench.backends.arrays.array_functions import segment_add
from workbench.backends.numpy import NumPyBackend
from workbench.errors import RunError
from workbench.language.template.template import Template


@wb.program
def behind(T: int = 5, gamma: float = 0.9) -> dict[str, Any]:
    """The gradient reads g[0..t-1, t], which no element has at T = 1."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    worth = wb.discounted_sum(x[t + 1 : T], gamma)
    return {"gradient": wb.gradient((worth**2).sum(over=t), x)}


@wb.program
def before(T: int = 5) -> dict[str, Any]:
    """The mirror image: g[t+1..T-1, t]."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    so_far = (x[0:t] * x[t]).sum()
    return {"gradient": wb.gradient((so_far**2).sum(over=t), x)}


@pytest.mark.parametrize("template", [behind, before])
def test_empty_range_is_the_empty_sum(template: Template) -> None:
    variant = wb.variant(template())
    variants = [variant, wb.optimize(variant, backend="numpy")]
    step = wb.transforms.Vectorize("t")
    if variant.check(step) is None:
        variants.append(variant.apply(step))
    for one in variants:
        for length in (1, 2, 3, 5):
            check(one.program, {"T": length})


@pytest.mark.parametrize("bounds", ["t:t", "T:t", "0:0"])
def test_range_that_is_empty_at_all_sizes(bounds: str) -> None:
    first, last = bounds.split(":")

    @wb.program
    def nothing(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        known = {"t": t, "T": T, "0": 0}
        x = wb.normal(over=(b, t))
        y = x[b, known[first] : known[last]].sum()
        return {"y": y + x, "gradient": wb.gradient((y * x).sum(over=(b, t)), x)}

    variant = wb.variant(nothing())
    steps = [wb.transforms.Vectorize("b"), wb.transforms.Vectorize("t")]
    both = variant.apply(steps[0]).apply(steps[1])
    for one in (variant, variant.apply(steps[0]), both, wb.optimize(variant, backend="numpy")):
        check(one.program, {"B": 2, "T": 3})


def test_empty_range_in_steps_of_two() -> None:
    p = h.equations(
        h.statement("x", [h.k], h.value(h.k), {"k": (0, h.T)}),
        h.statement("y", [h.n], h.read("x", h.k * 2), {"n": (0, h.T)}, {"k": (0, h.n // 2)}, "sum"),
        sizes={"T": 7},
        dims={"k": h.T, "n": h.T},
    )
    for axes in ((), ("k",), ("k", "n")):
        for length in (1, 2, 7):
            check(scheduled(p, axes), {"T": length})


def test_empty_maximum_beside_an_element_that_is_not_there_is_refused() -> None:
    body = h.call("add", h.read("x", h.k), h.read("x", h.t + 1))
    p = h.equations(
        h.statement("x", [h.t], 1.0, {"t": (0, h.T)}),
        h.statement("y", [h.t], body, {"t": (0, h.T)}, {"k": (h.t + 1, h.T)}, "max"),
        sizes={"T": 3},
        dims={"t": h.T},
    )
    for axes in ((), ("t",)):
        with pytest.raises(RunError, match=r"y at t=2 combines no elements.*an empty max"):
            NumPyBackend().compile(scheduled(p, axes)).run()


@pytest.mark.parametrize("shape", [(3,), (3, 2), (0, 2), (3, 0)], ids=str)
def test_no_values_add_nothing_to_their_places(shape: tuple[int, ...]) -> None:
    out = np.full(shape, 7.0)
    segment_add(out, np.zeros((0, *shape[1:])), [np.zeros(0, int)], [0])
    np.testing.assert_array_equal(out, np.zeros(shape))
