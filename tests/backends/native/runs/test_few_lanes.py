"""Blocks of which few lanes are used: rows share a vector there, and products run over rows. The
numbers of a lane are the same beside any others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.backends.native.runs.test_programs import agrees
from tests.kernels.builds import Build, marches
from tests.native_runs import QUICKLY, compiled, other_bits, shared_cache
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.language import nn
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist

WIDTHS = (32, 37, 70)
"""Of hidden layers: as many rows as products run over at a time, and some that are left over."""


@wb.program
def acted(B: int = 20, T: int = 2, width: int = 37) -> dict[str, Any]:
    """A network over time: functions of what differs by lane, by row, and by both."""
    b, t = wb.dims(b=B, t=T)
    network, last = nn.mlp("network", 3, (width, width), 3), wb.normal(shape=(3, width))
    theta = nn.parameters(network)
    x = wb.recurrent("x", 3, over=(b, t))
    x[b, 0] = wb.normal(shape=3, over=b)
    scale = x[b, t].sum(axis=0)
    wide = wb.where(scale > 0.0, wb.exp(x[b, t] @ last - scale * scale), scale)
    x[b, t + 1] = network(theta, x[b, t]) + 0.01 * (last @ wide)
    return {"x": x[b, T], "total": x.sum(over=(b, t))}


def in_blocks(width: int, size: int = 16) -> Program:
    variant = wb.variant(acted(width=width))
    for step in (Persist("b", size), Contract(), Donate()):
        variant = variant.apply(step)
    return variant.program


def prepared(program: Program, dtype: str, build: Build = QUICKLY) -> CompiledProgram:
    made = compiled(program, build)
    with shared_cache():
        made.prepare(dtype)
    return made


def test_text_has_each_way_in_which_rows_share_a_vector() -> None:
    text = "\n".join(k.text for k in wb.variant(in_blocks(37)).kernels("native"))
    assert all(f"{way}_v" in text for way in ("rows", "spread", "repeated", "store_rows"))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_any_number_of_lanes_agrees_with_reference(dtype: str) -> None:
    for B in range(1, 21):
        agrees(in_blocks(37), {"B": B}, dtype)


@pytest.mark.parametrize("size", [16, 32])
@pytest.mark.parametrize("width", WIDTHS)
def test_several_blocks_agree_with_reference(width: int, size: int) -> None:
    for B in (35, 38):
        agrees(in_blocks(width, size), {"B": B, "T": 1})


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", WIDTHS)
def test_lane_has_the_same_bits_beside_any_others(width: int, dtype: str) -> None:
    made = prepared(in_blocks(width), dtype)
    x = made.run({"B": 36, "T": 3}, 3).outputs["x"]
    for B in range(1, 36):
        for threads in (1, 2):
            found = made.run({"B": B, "T": 3}, 3, threads=threads).outputs["x"]
            assert np.array_equal(found, x[:B]), (B, threads)


@pytest.mark.parametrize("march", marches()[:-1])
def test_few_lanes_have_the_same_bits_on_every_processor(march: str) -> None:
    here, there = (prepared(in_blocks(37), "float32", b) for b in (QUICKLY, Build(march=march)))
    for B in (1, 3, 4, 5, 8, 9, 20):
        one, other = (made.run({"B": B, "T": 3}, 3).outputs for made in (here, there))
        assert list(other_bits(other, one)) == []
