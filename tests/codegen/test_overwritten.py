"""Results in the memory of what they are computed from: kernels read all before they write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import expect_bits_of_compiled_c
from tests.truth import truth
from workbench.transforms import Contract, Donate, Persist, Vectorize

UPDATES: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "first": ((3,), lambda x: x * x[..., 0:1]),
    "number": ((3,), lambda x: x - x[..., 0]),
    "wide": ((37,), lambda x: x * x[..., 5:6]),
    "backwards": ((5,), lambda x: x + wb.concatenate([x[..., 3:], 1.0 * x[..., :3]])),
    "transposed": ((3, 3), lambda x: 1.0 * wb.transpose(x)),
    "symmetric": ((3, 3), lambda x: x + wb.transpose(x)),
    "row": ((3, 3), lambda x: x + x[..., 1, :]),
    "reshaped": ((2, 3), lambda x: wb.reshape(wb.transpose(x), (2, 3))),
    "in_order": ((2, 3), lambda x: wb.reshape(2.0 * wb.reshape(x, (6,)), (2, 3))),
    "rank_one": (
        (3, 3),
        lambda x: x + wb.reshape(x[..., 0], (3, 1)) * wb.reshape(x[..., 0], (1, 3)),
    ),
    "pairs": ((3,), lambda x: wb.tanh(wb.reshape(x, (3, 1)) - wb.reshape(x, (1, 3))).sum(axis=1)),
    "product": ((3, 3), lambda x: (0.5 * x) @ (x + 0.1)),
    "wide_product": ((20, 20), lambda x: 0.05 * (x @ (x + 0.1))),
    "running": ((4,), lambda x: wb.cumsum(x, axis=0)),
    "looked_up": ((4,), lambda x: x + x[..., wb.cast(x[..., 1] * 2.0, int)]),
}
STEPS: list[tuple[Any, ...]] = [
    (Contract(), Donate()),
    (Persist("b", 2), Contract(), Donate()),
    (Persist("b", 16), Contract(), Donate()),
    (Vectorize("b"), Contract(), Donate()),
]


def expect_right(variant: wb.Variant) -> None:
    expected = truth(variant.root.program).outputs()
    for backend in ("numpy", "native"):
        found = wb.run(variant, backend, dtype="float64", progress=False)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)
    expect_bits_of_compiled_c(variant.program)


def taken(program: Any, steps: tuple[Any, ...]) -> wb.Variant:
    """A program after those of some steps that are possible."""
    variant = wb.variant(program)
    for step in steps:
        if variant.check(step) is None:
            variant = variant.apply(step)
    return variant


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_a_recurrence_in_place_reads_its_old_elements(name: str, steps: tuple[Any, ...]) -> None:
    shape, update = UPDATES[name]

    @wb.program
    def example(B: int = 3, I: int = 3) -> dict[str, Any]:
        b, i = wb.dims(b=B, i=I)
        x = wb.recurrent("x", shape, over=(b, i))
        x[b, 0] = wb.uniform(0.5, 1.5, shape=shape, over=b)
        x[b, i + 1] = wb.tanh(update(x)) + 0.1
        return {"x": x[b, I]}

    expect_right(taken(example(), steps))


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_a_result_reads_what_it_takes_over(name: str, steps: tuple[Any, ...]) -> None:
    shape, update = UPDATES[name]

    @wb.program
    def example(B: int = 3) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.exp(wb.uniform(-0.5, 0.5, shape=shape, over=b))
        y = update(x)
        return {"y": 1.0 * y + (y * y).sum()}

    expect_right(taken(example(), steps))
