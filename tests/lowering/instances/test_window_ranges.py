"""Reductions over a range that moves with an array axis: they cost the range's width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from workbench import nn, transforms
from workbench.transforms.step.transform import Transform

Floats = npt.NDArray[np.float64]


@wb.program
def windows(B: int = 2, T: int = 13, H: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    query = wb.normal(shape=3, over=(b, t))
    memory = wb.normal(shape=3, over=(b, t))
    behind = x[b, wb.maximum(t - 3, 0) : t + 1]
    ahead = x[b, t : wb.minimum(t + 4, T)]
    before = x[b, wb.maximum(t - 2, 0) : t]
    sized = x[b, wb.maximum(t - H, 0) : t + 1]
    score = (memory[b, wb.maximum(t - 3, 0) : t + 1] * query).sum(axis=0)
    weight = wb.exp(score - score.max())
    attended = (weight * behind).sum() / weight.sum()
    return {
        "x": x,
        "query": query,
        "memory": memory,
        "sum": behind.sum(),
        "max": ahead.max(),
        "min": sized.min(),
        "argmax": behind.argmax(),
        "mean": ahead.mean(),
        "std": behind.std(),
        "before": before.sum(),
        "discounted": wb.discounted_sum(ahead, 0.5),
        "attended": attended,
        "slope": wb.gradient((attended**2).sum(over=(b, t)), memory),
    }


VARIANTS: dict[str, tuple[Transform, ...]] = {
    "t": (transforms.Vectorize("t"),),
    "b and t": (transforms.Vectorize("b"), transforms.Vectorize("t")),
    "simplified": (transforms.Vectorize("t"), transforms.Vectorize("b"), transforms.Simplify()),
    "blocks of t": (transforms.Tile("t", 5), transforms.Vectorize("t"), transforms.Vectorize("b")),
}


def each(x: Floats, low: Callable[[int], int], high: Callable[[int], int]) -> list[Floats]:
    """Return the part of a row that each step sees."""
    n = x.shape[-1]
    return [x[..., max(low(t), 0) : min(high(t), n)] for t in range(n)]


def along(parts: list[Floats], reduced: Callable[[Floats], Any]) -> Floats:
    return np.stack([reduced(part) for part in parts], axis=-1)


def attended(query: Floats, memory: Floats, x: Floats) -> Floats:
    result = np.zeros(x.shape)
    for b, t in np.ndindex(*x.shape):
        seen = slice(max(t - 3, 0), t + 1)
        weight = np.exp(memory[b, seen] @ query[b, t])
        result[b, t] = weight @ x[b, seen] / weight.sum()
    return result


def slopes(query: Floats, memory: Floats, x: Floats, h: float = 1e-5) -> Floats:
    """Return central differences of the sum of squares of what is attended to."""
    result = np.zeros(memory.shape)
    for place in np.ndindex(*memory.shape):
        moved = np.zeros(memory.shape)
        moved[place] = h
        up, down = (np.sum(attended(query, m, x) ** 2) for m in (memory + moved, memory - moved))
        result[place] = (up - down) / (2 * h)
    return result


def with_steps(name: str) -> wb.Variant:
    variant = wb.variant(windows())
    for step in VARIANTS[name]:
        variant = variant.apply(step)
    return variant


@pytest.mark.parametrize(
    ("name", "backend"), [*((name, "numpy") for name in VARIANTS), ("blocks of t", "native")]
)
def test_reductions_over_windows(name: str, backend: str) -> None:
    variant = with_steps(name)
    result = wb.run(variant, backend=backend, dtype="float64", progress=False)
    x, query, memory = result["x"], result["query"], result["memory"]
    behind = each(x, lambda t: t - 3, lambda t: t + 1)
    ahead = each(x, lambda t: t, lambda t: t + 4)
    expected = {
        "sum": along(behind, lambda w: w.sum(-1)),
        "max": along(ahead, lambda w: w.max(-1)),
        "min": along(each(x, lambda t: t - 4, lambda t: t + 1), lambda w: w.min(-1)),
        "argmax": along(behind, lambda w: w.argmax(-1)) + np.maximum(np.arange(13) - 3, 0),
        "mean": along(ahead, lambda w: w.mean(-1)),
        "std": along(behind, lambda w: w.std(-1)),
        "before": along(each(x, lambda t: t - 2, lambda t: t), lambda w: w.sum(-1)),
        "discounted": along(ahead, lambda w: w @ 0.5 ** np.arange(w.shape[-1])),
        "attended": attended(query, memory, x),
        "slope": slopes(query, memory, x),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(result[name], value, rtol=1e-7, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_memory_of_windows_grows_with_the_steps_only(backend: str) -> None:
    variant = with_steps("b and t")
    sizes = {"B": 1, "T": 100}, {"B": 1, "T": 1600}
    for dtype in ("float32", "float64"):
        few, many = (variant.predict(s, backend, dtype).peak_bytes["device"] for s in sizes)
        assert many < 16 * few
    if backend == "numpy":
        result = wb.run(variant, sizes=sizes[1], backend=backend, progress=False)
        predicted = variant.predict(sizes[1], backend)
        assert result.peak_bytes == predicted.peak_bytes["device"]


def test_attention_over_a_window_costs_its_width() -> None:
    @wb.program
    def attending(T: int = 5) -> dict[str, Any]:
        t, i = wb.dims(t=T, i=1)
        network = nn.attention("attention", 8, heads=2)
        theta = nn.parameters(network, over=i)
        x = wb.normal(shape=8, over=t)
        return {"y": network(theta[0], x, x[wb.maximum(t - 3, 0) : t + 1])}

    variant = wb.variant(attending()).apply(transforms.Vectorize("t"))
    few, many = (variant.predict({"T": n}, "numpy").peak_bytes["device"] for n in (100, 1600))
    assert many < 16 * few
