"""Blocks and the positions in them as two axes of one dimension: views, and products over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.backends import get
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.reference.evaluator import Reference
from workbench.transforms import Incrementalize
from workbench.variants.variant import optimize, variant


@wb.program
def example(B: int = 2, T: int = 7, width: int = 0) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=(width,) if width else (), over=(b, t))
    return {"worth": wb.discounted_sum(x[b, t:T], 0.9)}


def compiled(program: Any) -> CompiledArrays:
    """The scan over blocks of three, all blocks an axis."""
    lifted = optimize(variant(program).apply(Incrementalize("worth", "t", 3)), backend="numpy")
    found = get("numpy").compile(lifted.program)
    assert isinstance(found, CompiledArrays)
    return found


@pytest.mark.parametrize("width", [0, 2])
def test_blocks_and_positions_as_axes_are_a_view(width: int) -> None:
    source = compiled(example(width=width)).source
    assert "take(" not in source
    assert ".reshape(((T + 2) // 3 - 1, 3, B" in source


@pytest.mark.parametrize("width", [0, 2])
@pytest.mark.parametrize("T", [1, 2, 3, 4, 9, 11])
def test_product_over_positions_is_that_of_the_equations(width: int, T: int) -> None:
    program = example(width=width)
    wanted = Reference(program.equations, {"T": T}, 3).array("worth")
    found = compiled(program).run({"T": T}, 3, "float64").outputs["worth"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_sum_between_two_kept_axes_is_one_product_without_a_copy() -> None:
    lines = str(compiled(example()).loop_program).splitlines()
    at = next(n for n, line in enumerate(lines) if "# worth.partial" in line)
    applied = [line.split("<- ")[1].split("(")[0] for line in lines[at:] if "<- " in line]
    assert applied[:3] == [
        "copyto",  # the exponents
        "power",
        "matmul",
    ]


def test_dimension_that_blocks_count_lies_as_the_loop_over_positions() -> None:
    assert 'allocate("worth", (T, B), real' in compiled(example()).source
