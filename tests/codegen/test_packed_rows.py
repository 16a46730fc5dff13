"""Which loops over rows of a tile are written so that rows share a vector, and how."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.golden_files import GoldenFiles
from workbench.transforms import Persist

ROWS = ("rows_v", "spread_v", "repeated_v", "store_rows_v")


def text(program: Any, size: int = 16, whole: bool = False) -> str:
    variant = wb.variant(program)
    if not whole:
        variant = variant.apply(Persist("b", size))
    return "\n".join(kernel.text for kernel in variant.kernels("native"))


@wb.program
def functions(B: int = 20, width: int = 20, function: Any = wb.tanh) -> dict[str, Any]:
    """A function of numbers that differ by lane and row, by row, and by lane."""
    b = wb.dims(b=B)
    weight, bias = wb.normal(shape=(3, width)), wb.normal(shape=width)
    last = wb.normal(shape=(width, 2))
    x = wb.normal(shape=3, over=b)
    scale = x.sum(axis=0)
    hidden = function(x @ weight + bias + scale)
    chosen = wb.where(scale > 0.0, function(hidden @ last @ wb.transpose(last)), hidden)
    return {"y": chosen @ last}


def test_text_is_as_stored(golden: GoldenFiles) -> None:
    found = text(functions())
    assert all(name in found for name in ROWS)
    golden("kernels/packed_rows.c", found)


@pytest.mark.parametrize("function", [wb.exp, wb.sin, lambda x: wb.log(wb.exp(x) + 1.0)])
def test_functions_of_many_instructions_share_vectors(function: Any) -> None:
    assert "store_rows_v" in text(functions(function=function))


@pytest.mark.parametrize(
    "function", [lambda x: wb.maximum(x, 0.0), lambda x: x * x, wb.absolute, lambda x: x / 3.0]
)
def test_single_instructions_do_not(function: Any) -> None:
    assert "rows_v" not in text(functions(function=function))


def test_blocks_without_room_for_all_lanes_do_not() -> None:
    assert "rows_v" not in text(functions(), size=4)


def test_whole_axes_do_not() -> None:
    assert "rows_v" not in text(functions(), whole=True)
