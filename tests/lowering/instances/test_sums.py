"""Sums over inner axes inside of sums over dims: one contraction computes both."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb


def test_factor_that_varies_over_an_inner_axis_alone_stays_in_the_sum() -> None:
    @wb.program
    def weighted(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(shape=2, over=(b, t))
        y = wb.uniform(shape=2, over=b)
        return {"y": (wb.sin(y) * x).sum(axis=0).sum(over=t), "x": x, "weight": y}

    program = weighted()
    for variant in (wb.variant(program), wb.variant(program).apply(wb.transforms.Vectorize("b"))):
        result = wb.run(variant, backend="numpy", dtype="float64", progress=False)
        expected = np.einsum("bf,btf->b", np.sin(result["weight"]), result["x"])
        np.testing.assert_allclose(result["y"], expected)


def test_inner_axis_along_which_nothing_varies_counts_as_often_as_it_is_summed() -> None:
    @wb.program
    def mean_of_means(B: int = 2, T: int = 3, N: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=(b, t))
        k = wb.recurrent("k", (2, N))
        k[()] = wb.uniform(shape=(2, N))
        both = (k * x + k.mean(axis=1).mean(axis=0)).sum(axis=0).sum(axis=0)
        loss = wb.sin(both).sum(over=(b, t))
        return {"gradient": wb.gradient(loss, k), "x": x, "k": k}

    root = wb.variant(mean_of_means())
    for variant in (
        root,
        root.apply(wb.transforms.Vectorize("b")),
        wb.optimize(root, backend="numpy"),
    ):
        result = wb.run(variant, backend="numpy", dtype="float64", progress=False)
        x, k = result["x"], result["k"]
        slope = np.cos(x * k.sum() + k.sum()) * (x + 1.0)
        np.testing.assert_allclose(result["gradient"], np.full((2, 4), slope.sum()))
