"""What the next block looks up is asked for in advance, where that is known and far away."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.transforms import Persist

FEATURES = 3


@wb.program
def looked_up(B: int = 37, N: int = 50, how: str = "far") -> dict[str, Any]:
    """Rows of a table by an index, or by one that is looked up."""
    b, n = wb.dims(b=B, n=N)
    table = wb.normal(shape=FEATURES, over=n)
    first = wb.cast(wb.uniform(0.0, 50.0, over=n), int)
    row = wb.cast(wb.uniform(0.0, 50.0, over=b), int)
    chosen = wb.gather(first, n=row) if how == "twice" else row
    found = wb.gather(table, n=chosen)
    return {"y": (found * found).sum(over=b)}


@wb.program
def parts(B: int = 37, N: int = 50, first: int = 0, second: int = 5) -> dict[str, Any]:
    """Sums over two parts of the same rows of a table."""
    b, n = wb.dims(b=B, n=N)
    table = wb.normal(shape=FEATURES, over=n)
    row = wb.cast(wb.uniform(0.0, 50.0, over=b), int)
    one, other = wb.gather(table, n=row[first:B]), wb.gather(table, n=row[second:B])
    return {"one": (one * one).sum(), "other": (other * other).sum()}


def in_blocks(how: str) -> wb.Variant:
    """The table's user in blocks; its index is there before them."""
    return wb.variant(looked_up(how=how)).apply(Persist("b", 16, statements=("y",)))


def prefetches(variant: wb.Variant) -> list[str]:
    text = "\n".join(kernel.text for kernel in variant.kernels("native"))
    return re.findall(r"__builtin_prefetch\((\w+) \+ (.*)\);", text)


def test_next_block_is_asked_for() -> None:
    variant = in_blocks("far")
    ((buffer, at),) = prefetches(variant)
    assert buffer.startswith("table") and at == f"{FEATURES} * row_3[lane]"
    (text,) = (k.text for k in variant.kernels("native") if "prefetch" in k.text)
    assert re.search(r"first_b_\d = \(16 \* b_block16 \+ 16\)", text)


def test_places_that_are_looked_up_themselves_are_not_asked_for() -> None:
    assert not [buffer for buffer, _ in prefetches(in_blocks("twice")) if "table" in buffer]


@pytest.mark.parametrize("how", ["far", "twice"])
def test_each_element_is_looked_up_once(how: str) -> None:
    text = "\n".join(kernel.text for kernel in in_blocks(how).kernels("native"))
    assert len(re.findall(r"r\[lane\] = table\w*\[", text)) == FEATURES


@pytest.mark.parametrize("how", ["far", "twice"])
@pytest.mark.parametrize("rows", [1, 16, 37])
def test_values_are_those_of_array_operations(how: str, rows: int) -> None:
    given: Any = {"sizes": {"B": rows}, "dtype": "float64", "seed": 2, "progress": False}
    native, numpy = (
        wb.run(in_blocks(how), backend=name, **given).outputs["y"] for name in ("native", "numpy")
    )
    np.testing.assert_allclose(native, numpy, rtol=1e-13)


@pytest.mark.parametrize(("first", "second"), [(0, 5), (5, 0)])
def test_lanes_of_another_range_are_not_taken_for_looked_up(first: int, second: int) -> None:
    variant = wb.variant(parts(first=first, second=second))
    variant = variant.apply(Persist("b", 16, statements=("one", "other")))
    given: Any = {"dtype": "float64", "seed": 2, "progress": False}
    native, numpy = (wb.run(variant, backend=b, **given).outputs for b in ("native", "numpy"))
    for name, value in numpy.items():
        np.testing.assert_allclose(native[name], value, rtol=1e-13)
