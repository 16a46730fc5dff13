"""`check_finite`: stops at a NaN and at an infinity made of finite operands; an infinite operand's
infinity is let through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import RunError
from workbench.transforms import Vectorize

INF = np.inf
MASK = np.array([0.0, -INF, 1.0])


def run(body: Callable[[Any, Any], Any], vectorized: bool) -> Any:
    """y[n] = body(x, n) for n < 5, where x has 3 elements of (0.2, 1.2)."""

    @wb.program
    def example(N: int = 5) -> dict[str, Any]:
        n = wb.dim(n=N)
        x = wb.uniform(0.2, 1.2, shape=3, over=n)
        y = body(x, n)
        return {"y": y}

    variant = wb.variant(example())
    variant = variant.apply(Vectorize("n")) if vectorized else variant
    return wb.run(variant, dtype="float64", progress=False, check_finite=True, backend="numpy")["y"]


def at(n: Any, k: int) -> wb.Tensor:
    return wb.index(n) == k


def masked(x: Any, n: Any) -> wb.Tensor:
    """-inf for n = 1 and in the middle."""
    return wb.where(at(n, 1), -INF, x) + MASK


LET_THROUGH: dict[str, Callable[[Any, Any], Any]] = {
    "a mask": lambda x, n: wb.where(at(n, 1), -INF, x),
    "a constant": lambda x, n: x + MASK,
    "operations on it": lambda x, n: wb.tanh(x) * (masked(x, n) - 5.0) / 2.0,
    "its maximum": lambda x, n: masked(x, n).max(axis=0),
    "its sum": lambda x, n: masked(x, n).sum(axis=0),
    "its running sum": lambda x, n: wb.cumsum(wb.concatenate([x, masked(x, n)])),
    "its product": lambda x, n: masked(x, n) @ (x + np.eye(3)),
    "its sum over a dim": lambda x, n: masked(x, n).sum(over=n),
    "its sum over a range": lambda x, n: plain(masked(x, n))[0 : n + 1].sum(),
    "its gather": lambda x, n: wb.gather(plain(masked(x, n)), n=(wb.index(n) * 2) % 5),
    "an infinity not chosen": lambda x, n: wb.where(x > 9.0, 1.0 / (x - x), x),
    "an infinity that is no more": lambda x, n: 1.0 / (1.0 + wb.exp(x * 1e5)),
}

STOPPED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "an overflow": (lambda x, n: wb.exp(wb.where(at(n, 2), 1e5, x)), "inf at n=2"),
    "a logarithm of 0": (lambda x, n: wb.log(wb.where(at(n, 2), 0.0, x)), "-inf at n=2"),
    "a gamma function of 0, beside one of infinity": (
        lambda x, n: wb.lgamma(wb.where(at(n, 1), INF, wb.where(at(n, 2), 0.0, 1.0 + x * x))),
        "inf at n=2",
    ),
    "beside a mask": (
        lambda x, n: wb.where(at(n, 1), -INF, wb.exp(wb.where(at(n, 2), 1e5, x))),
        "inf at n=2",
    ),
    "and added to a mask": (
        lambda x, n: wb.exp(wb.where(at(n, 2), 1e5, x)) * 2.0 + np.array([0.0, INF, 0.0]),
        "inf at n=2",
    ),
    "in a sum beside a mask": (
        lambda x, n: (wb.where(at(n, 2), 1e308, 1.0) * 1.5 + masked(x, n) * 0.0 + x).sum(axis=0),
        "nan at n=0",
    ),
    "in a sum": (
        lambda x, n: wb.where(at(n, 1), -INF, wb.where(at(n, 3), 1e308, x)).sum(axis=0),
        "inf at n=3",
    ),
    "in a long running sum": (
        lambda x, n: wb.cumsum(wb.concatenate([wb.where(at(n, 3), 1e308, x), x])),
        "inf at n=3",
    ),
    "in a product": (
        lambda x, n: wb.where(at(n, 1), -INF, wb.where(at(n, 3), 1e308, x)) @ np.full((3, 3), 9.0),
        "inf at n=3",
    ),
    "in a sum over a dim": (lambda x, n: (x * 1e308).sum(over=n), "inf at its only instance"),
    "in a sum over a range": (
        lambda x, n: plain(wb.where(at(n, 4), -INF, x * 1.7e308))[0 : n + 1].sum(),
        "inf at n=",
    ),
    "in a gradient of a gather": (
        lambda x, n: wb.gradient(
            (wb.gather(x, n=wb.cast(wb.uniform(over=n) * 0.0, int)) * 1.7e308).sum(over=n).sum(), x
        ),
        "inf at n=0",
    ),
    "NaN of a mask": (
        lambda x, n: (y := wb.where(at(n, 1), -INF, x)) - y,
        "nan at n=1",
    ),
    "NaN logits": (
        lambda x, n: wb.Categorical(wb.where(at(n, 2), np.nan, x)).sample(),
        "nan at n=2",
    ),
}


def plain(values: wb.Tensor) -> wb.Tensor:
    """An array of its own."""
    return values


@pytest.mark.parametrize("vectorized", (False, True), ids=("one by one", "vectorized"))
@pytest.mark.parametrize("what", LET_THROUGH)
def test_infinity_of_an_infinite_operand_is_let_through(what: str, vectorized: bool) -> None:
    assert not np.isnan(run(LET_THROUGH[what], vectorized)).any()


@pytest.mark.parametrize("vectorized", (False, True), ids=("one by one", "vectorized"))
@pytest.mark.parametrize("what", STOPPED)
def test_nan_and_infinity_of_finite_operands_stop_the_run(what: str, vectorized: bool) -> None:
    body, sentence = STOPPED[what]
    with pytest.raises(RunError) as stopped:
        run(body, vectorized)
    assert f" is {sentence}" in stopped.value.message
