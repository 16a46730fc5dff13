"""Where products of matrices are summed, and which sums are such products."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.transforms import Donate, Persist

WIDTH = 20


@wb.program
def layer(body: Any, B: int = 21, inputs: int = 6) -> dict[str, Any]:
    """A body of a product, of other numbers beside it and of what the product is of."""
    b = wb.dims(b=B)
    weight = wb.normal(shape=(inputs, WIDTH))
    x = wb.tanh(wb.normal(shape=inputs, over=b))
    beside = wb.normal(shape=WIDTH, over=b)
    y = body(x @ weight, beside)
    return {"sum": (y * y).sum(axis=0)}


@wb.program
def repeated(B: int = 21, T: int = 5) -> dict[str, Any]:
    """A layer whose result is the next one's operand."""
    b, t = wb.dims(b=B, t=T)
    weight = wb.normal(shape=(WIDTH, WIDTH))
    h = wb.recurrent("h", WIDTH, over=(b, t))
    h[b, 0] = wb.normal(shape=WIDTH, over=b)
    h[b, t + 1] = wb.tanh(h[b, t] @ weight)
    return {"last": h[b, T]}


@wb.program
def summed(B: int = 21, rows: int = 2, turned: bool = False) -> dict[str, Any]:
    """Sums over lanes of vectors and of matrices, of few rows or of few columns."""
    b = wb.dims(b=B)
    few, many = wb.tanh(wb.normal(shape=rows, over=b)), wb.tanh(wb.normal(shape=WIDTH, over=b))
    columns, row = (many, few) if turned else (few, many)
    matrix = (wb.reshape(columns, (*columns.shape, 1)) * row).sum(over=b)
    return {"vector": many.sum(over=b), "matrix": matrix}


def in_blocks(program: Any) -> wb.Variant:
    return wb.variant(program).apply(Persist("b", 16))


def products(variant: wb.Variant, function: str = "product") -> list[list[str]]:
    """The arguments of each call of a function that sums products."""
    text = "\n".join(kernel.text for kernel in variant.kernels("native"))
    return [line.split(", ") for line in re.findall(rf"\b{function}_f\((.*)\);", text)]


def assert_same(variant: wb.Variant) -> None:
    """Compare with the run of the same variant by array operations, which know no product."""
    given: Any = {"dtype": "float64", "seed": 3, "progress": False}
    outputs = [wb.run(variant, backend=name, **given).outputs for name in ("native", "numpy")]
    for name, value in outputs[1].items():
        np.testing.assert_allclose(outputs[0][name], value, rtol=1e-12, atol=1e-12)


BESIDE = {
    "alone": lambda product, beside: wb.tanh(product),
    "with what lies beside it": lambda product, beside: wb.tanh(product + beside),
}
NOT_BESIDE = {
    "the one behind": lambda product, beside: wb.concatenate(
        [beside[..., 0:1], product[..., 0 : WIDTH - 1]]
    ),
    "all behind": lambda product, beside: wb.cumsum(product, axis=0) * beside,
}


@pytest.mark.parametrize("body", BESIDE.values(), ids=BESIDE)
def test_product_is_summed_where_the_result_will_be(body: Any) -> None:
    variant = in_blocks(layer(body))
    ((_, _, _, _, _, out, *_),) = products(variant)
    assert out == "y + 0"
    assert_same(variant)


@pytest.mark.parametrize("body", NOT_BESIDE.values(), ids=NOT_BESIDE)
def test_product_that_other_elements_need_has_memory_of_its_own(body: Any) -> None:
    variant = in_blocks(layer(body))
    ((_, _, _, _, _, out, *_),) = products(variant)
    assert out.startswith("product")
    assert_same(variant)


def test_product_leaves_what_the_result_takes_over() -> None:
    variant = in_blocks(layer(BESIDE["with what lies beside it"])).apply(Donate("beside", "y"))
    ((_, _, _, _, _, out, *_),) = products(variant)
    assert out.startswith("product")
    assert_same(variant)


def test_product_leaves_what_others_write_of_an_array() -> None:
    variant = in_blocks(repeated())
    assert all(out.startswith("product") for _, _, _, _, _, out, *_ in products(variant))
    assert_same(variant)


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_short_sums_stand_where_they_are_used(inputs: int) -> None:
    variant = in_blocks(layer(BESIDE["with what lies beside it"], inputs=inputs))
    assert len(products(variant)) == (inputs > 2)
    assert_same(variant)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rows", [3, 7])
def test_sums_over_lanes_are_products(rows: int, turned: bool) -> None:
    variant = in_blocks(summed(rows=rows, turned=turned))
    matrix, vector = sorted(products(variant), key=lambda given: given[0].startswith("one"))
    assert vector[0].startswith("one") and vector[1:3] == ["0", "0"]
    assert f", {rows}, {WIDTH}, {WIDTH}, " in ", ".join(matrix)
    assert_same(variant)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows_are_summed_along_the_lanes(rows: int, turned: bool) -> None:
    variant = in_blocks(summed(rows=rows, turned=turned))
    (matrix,) = products(variant, "lane_sums")
    assert f", {rows}, {WIDTH}, " in ", ".join(matrix)
    assert all(given[0].startswith("one") for given in products(variant))
    assert_same(variant)


@wb.program
def backwards(B: int = 21) -> dict[str, Any]:
    """A layer's gradient, and what it hands on, of which each element needs others."""
    b = wb.dims(b=B)
    weight = wb.normal(shape=(WIDTH, WIDTH))
    x = wb.tanh(wb.normal(shape=WIDTH, over=b))
    error = wb.tanh(wb.normal(shape=WIDTH, over=b))
    gradient = (wb.reshape(x, (WIDTH, 1)) * error).sum(over=b)
    below = NOT_BESIDE["all behind"](error @ weight, x)
    return {"gradient": gradient, "sum": (below * below).sum(over=b)}


def test_product_takes_the_memory_of_a_tile_that_was_turned_before() -> None:
    variant = in_blocks(backwards())
    outer, handed_on = sorted(products(variant), key=lambda given: "weight" in given[0])
    assert outer[3] == handed_on[5] == "turned + 0"
    assert_same(variant)
