"""Which loops over rows of a tile compute two at a time, and that these have the bits of one."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.c.compiled import NATIVE, Build, call, others
from workbench.transforms import Persist

TWO_AND_ONE = """
#include "functions.h"
int64_t lanes(void) { return LANES; }
void two(const float *x, float *y) {
    vf both[2] = {load_vf(x), load_vf(x + LANES)};
    tanh_of_vf(both, 2);
    store_vf(y, both[0]), store_vf(y + LANES, both[1]);
}
void one(const float *x, float *y) {
    store_vf(y, tanh_vf(load_vf(x))), store_vf(y + LANES, tanh_vf(load_vf(x + LANES)));
}
"""


@wb.program
def layer(B: int = 20, width: int = 20, function: Any = wb.tanh) -> dict[str, Any]:
    """A function of a product's rows, and of other rows beside it."""
    b = wb.dims(b=B)
    weight, bias = wb.normal(shape=(3, width)), wb.normal(shape=width)
    last = wb.normal(shape=(width, width))
    hidden = function(wb.normal(shape=3, over=b) @ weight + bias)
    return {"y": wb.where(hidden > 0.0, function(hidden @ last), hidden).sum(axis=0)}


def in_blocks(program: Any) -> wb.Variant:
    return wb.variant(program).apply(Persist("b", 16))


def text(program: Any, dtype: str = "float32") -> str:
    return "\n".join(kernel.text for kernel in in_blocks(program).kernels("native", dtype))


@pytest.mark.parametrize("build", [NATIVE, *others()], ids=lambda build: build.name)
def test_two_have_the_bits_of_one(build: Build, tmp_path: Path) -> None:
    library = build.library(TWO_AND_ONE, tmp_path)
    library.lanes.restype = ctypes.c_int64
    edges = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, 0.6, -0.62, 9.3, -1e30]
    numbers = np.array([*edges, *np.linspace(-10, 10, 502)], np.float32)
    for x in numbers.reshape(-1, 2 * library.lanes()):
        results = [np.empty_like(x), np.empty_like(x)]
        for name, y in zip(("two", "one"), results, strict=True):
            call(getattr(library, name), x, y)
        np.testing.assert_array_equal(*(y.view(np.int32) for y in results))


def test_calls_within_calls_take_turns_too() -> None:
    assert text(layer()).count("tanh_of_vf(") == 1
    assert text(layer(function=lambda x: wb.tanh(wb.tanh(x) + 1.0))).count("tanh_of_vf(") == 2


@pytest.mark.parametrize(
    ("program", "dtype"),
    [
        (layer(width=21), "float32"),
        (layer(), "float64"),
        (layer(function=wb.exp), "float32"),
    ],
    ids=["odd rows", "float64", "a function of one vector at a time"],
)
def test_others_are_computed_one_by_one(program: Any, dtype: str) -> None:
    assert "tanh_of_vf(" in text(layer())
    assert "tanh_of_vf(" not in text(program, dtype)


@pytest.mark.parametrize("function", [wb.tanh, lambda x: wb.tanh(wb.tanh(x) + 1.0)])
@pytest.mark.parametrize("width", [2, 20, 21])
@pytest.mark.parametrize("B", [3, 16, 20, 31])
def test_results_are_those_of_numpy(function: Any, width: int, B: int) -> None:
    variant = in_blocks(layer(function=function, width=width))
    ours, theirs = (
        wb.run(variant, backend, sizes={"B": B}, progress=False)["y"]
        for backend in ("native", "numpy")
    )
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6 * width)
