"""Reductions over dims of small and of wide values: the extremum of each element, and its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import expect_bits_of_compiled_c
from tests.truth import truth
from workbench.errors import ProgramError
from workbench.transforms import Persist, Vectorize

SHAPES: list[tuple[int, ...]] = [(), (3, 5), (16,), (17,), (4, 9)]
STEPS: list[tuple[Any, ...]] = [(), (Vectorize("b"),), (Vectorize("t"),), (Persist("b", 2),)]


def extremes(shape: tuple[int, ...], dtype: str) -> Any:
    @wb.program
    def example(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        u = wb.normal(shape=shape, over=(b, t))
        u = wb.log(u + 1.0) if dtype == "float" else wb.cast(u * 2.0, int)  # NaN, and equal ones
        reduced = {
            "most": u.max(over=t),
            "least": u.min(over=b),
            "of_all": u.max(over=(b, t)),
            "still_to_come": u[b, t:T].min(over="range"),
            "where": u.argmax(over=t),
            "where_in_b": u.argmax(over=b),
        }
        if dtype == "float":
            loss = reduced["of_all"].sum() if shape else reduced["of_all"]
            reduced["slope"] = wb.gradient(loss, u)
        return reduced

    return example()


@pytest.mark.parametrize("dtype", ["float", "int"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_extremes_of_each_element(shape: tuple[int, ...], dtype: str, steps: Sequence[Any]) -> None:
    variant = wb.variant(extremes(shape, dtype))
    expected = truth(variant.program).outputs()
    for step in steps:
        variant = variant.apply(step)
    for backend in ("numpy", "native"):
        found = wb.run(variant, backend, dtype="float64", progress=False)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)
    expect_bits_of_compiled_c(variant.program)


def test_a_sum_of_no_elements_is_zero() -> None:
    """A distribution over one action has no thresholds to count."""

    @wb.program
    def example(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        none = wb.sin(wb.normal(shape=3, over=t)[..., 3:])
        act = wb.Categorical(logits=wb.normal(shape=1, over=t)).sample()
        return {"sum": none.sum(axis=0), "twice": (none * 2.0).sum(axis=0), "act": act}

    for variant in (wb.variant(example()), wb.optimize(example(), backend="native")):
        for backend in ("numpy", "native"):
            found = wb.run(variant, backend, progress=False)
            assert not any(np.any(found[name]) for name in found)
        expect_bits_of_compiled_c(variant.program)


@pytest.mark.parametrize("kind", ["max", "min", "argmax"])
def test_an_extreme_of_no_elements_is_refused(kind: str) -> None:
    @wb.program
    def example(T: int = 5) -> dict[str, Any]:
        x = wb.normal(shape=3, over=wb.dim(t=T))
        return {"y": getattr(x[..., 3:], kind)(axis=0)}

    with pytest.raises(ProgramError, match="along axis 0, which has no elements"):
        example()
