"""Gathers of an array of which one element is held: that one, wherever the index is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import check_native
from tests.truth import truth
from workbench.transforms import Contract, Vectorize
from workbench.transforms.step.transform import Transform


@wb.program
def example(B: int = 2, I: int = 3, M: int = 4, width: int = 0) -> dict[str, Any]:
    b, i, m = wb.dims(b=B, i=I, m=M)
    z = wb.tanh(wb.uniform(shape=(width,) if width else (), over=(b, i)))
    now = wb.index(i) + wb.cast(0.5 * wb.uniform(over=(b, i, m)), int)
    return {"seen": wb.gather(z, i=wb.within(now, i, i + 1)), "z": 2.0 * z}


@pytest.mark.parametrize("width", [0, 2])
@pytest.mark.parametrize("steps", [(Contract(),), (Vectorize("m"), Contract())], ids=str)
def test_the_only_element_that_is_held_is_gathered(
    steps: tuple[Transform, ...], width: int
) -> None:
    variant = wb.variant(example(width=width))
    for step in steps:
        variant = variant.apply(step)
    result = wb.run(variant, "numpy", dtype="float64", progress=False)
    for name, expected in truth(variant.root.program).outputs().items():
        np.testing.assert_allclose(result[name], expected, rtol=1e-12, err_msg=name)
    check_native(variant.program, result.outputs, {}, 0)
