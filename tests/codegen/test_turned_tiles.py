"""What lies the other way round in memory than it is read is turned once for all lanes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import RunError
from workbench.transforms import Layout, Persist

INPUTS, WIDTH = 21, 20


@wb.program
def outside(B: int = 37, T: int = 3, shape: tuple[int, ...] = (INPUTS,)) -> dict[str, Any]:
    """A layer on what the blocks store outside of them."""
    b, t = wb.dims(b=B, t=T)
    weight = wb.normal(shape=(INPUTS, WIDTH))
    noise = wb.normal(shape=INPUTS, over=(b, t))
    scaled = wb.recurrent("scaled", shape, over=(b, t))
    scaled[b, t] = wb.reshape(0.5 * noise, shape)
    h = wb.recurrent("h", WIDTH, over=(b, t))
    h[b, 0] = wb.normal(shape=WIDTH, over=b)
    h[b, t + 1] = wb.tanh(wb.reshape(scaled[b, t], INPUTS) @ weight + h[b, t])
    return {"scaled": scaled[b, t], "last": h[b, T]}


@wb.program
def gathered(B: int = 37, N: int = 11, far: bool = False) -> dict[str, Any]:
    """Two layers on rows of a table, and the gradient of one of them."""
    b, n = wb.dims(b=B, n=N)
    one, other = (wb.normal(shape=(INPUTS, WIDTH)) for _ in range(2))
    table = wb.normal(shape=INPUTS, over=n)
    row = wb.cast(wb.uniform(0.0, 12.0 if far else 11.0, over=b), int)
    seen = wb.gather(table, n=row)
    y = wb.tanh(seen @ one)
    z = wb.tanh(seen @ other)
    gradient = (wb.reshape(seen, (INPUTS, 1)) * y).sum(over=b)
    return {"gradient": gradient, "z": (z * z).sum(over=b), "mean": seen.sum(over=b)}


def text(variant: wb.Variant) -> str:
    return "\n".join(kernel.text for kernel in variant.kernels("native"))


def calls(variant: wb.Variant, function: str) -> list[list[str]]:
    """The arguments of each call of a function of the run-time."""
    found = re.findall(rf"\b{function}_f\((.*)\);", text(variant))
    return [line.split(", ") for line in found]


def assert_same(variant: wb.Variant, **sizes: int) -> None:
    """Compare with the run of the same variant by array operations."""
    given: Any = {"sizes": sizes, "dtype": "float64", "seed": 3, "progress": False}
    outputs = [wb.run(variant, backend=name, **given).outputs for name in ("native", "numpy")]
    for name, value in outputs[1].items():
        np.testing.assert_allclose(outputs[0][name], value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(INPUTS,), (3, 7)])
@pytest.mark.parametrize("size", [16, 32])
def test_rows_outside_of_the_blocks_are_turned_for_a_product(
    size: int, shape: tuple[int, ...]
) -> None:
    variant = wb.variant(outside(shape=shape)).apply(Persist("b", size))
    into_tile = [given for given in calls(variant, "turned") if given[2].startswith("tile")]
    ((source, in_step, to, out_step, *_, columns),) = into_tile
    assert source.startswith("scaled") and to == "tile + 0"
    assert (in_step, out_step, columns) == (str(INPUTS), str(size), str(INPUTS))
    (product,) = calls(variant, "product")
    assert product[3] == "tile + 0"
    for lanes in (1, size - 1, size, 37, 2 * size + 1):
        assert_same(variant, B=lanes)


def test_tile_is_turned_for_who_reads_along_an_inner_axis() -> None:
    variant = wb.variant(outside()).apply(Persist("b", 16))
    read = {given[0].split(" ")[0]: given[2] for given in calls(variant, "turned")}
    assert read["noise"].startswith("turned") and read["h"].startswith("turned")
    (value,) = re.findall(r"const vf scaled\w* = (.*);", text(variant))
    assert "load_vf(turned" in value


def test_rows_whose_elements_are_apart_are_copied_first() -> None:
    variant = (
        wb.variant(outside()).apply(Persist("b", 16)).apply(Layout("scaled", ("...", "t", "b")))
    )
    assert any(given[0].startswith("rows") for given in calls(variant, "turned"))
    assert_same(variant)


def test_gathered_rows_are_turned_once_for_all_who_need_them() -> None:
    variant = wb.variant(gathered()).apply(Persist("b", 16))
    into_tile = [given for given in calls(variant, "turned") if given[2].startswith("tile")]
    ((source, *_),) = into_tile
    assert source.startswith("rows")
    on_tile = [g for g in calls(variant, "product") if any(x.startswith("tile") for x in g[:4])]
    assert len(on_tile) == 3  # two layers and a gradient
    for lanes in (1, 15, 16, 37):
        assert_same(variant, B=lanes)


def test_gathered_rows_are_checked_once_a_lane() -> None:
    variant = wb.variant(gathered()).apply(Persist("b", 16))
    (blocks,) = (k.text for k in variant.kernels("native") if "turned_f" in k.text)
    (function,) = (part for part in blocks.split("static void") if "turned_f" in part)
    assert len(re.findall(r"fail\(run", function)) == 2  # once for those who read along rows


def test_failing_index_of_a_row_is_that_of_array_operations() -> None:
    variant = wb.variant(gathered(far=True)).apply(Persist("b", 16))
    told = []
    for backend in ("native", "numpy"):
        with pytest.raises(RunError) as raised:
            wb.run(variant, backend=backend, sizes={"B": 200}, progress=False)
        told.append(str(raised.value))
    assert told[0] == told[1]
