"""Windows as inner axes: the last values along a dim, against NumPy and central differences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.language.differences import check
from tests.language.tracing.refused import refused
from workbench import nn, transforms
from workbench.polyhedral.expression import variable

Floats = npt.NDArray[np.float64]
b, t = variable("b"), variable("t")


def seen(x: Floats, width: int, before: Any) -> Floats:
    """Return the windows along the second axis."""
    steps = x.shape[1]
    ahead = np.broadcast_to(before, (x.shape[0], width - 1, *x.shape[2:]))
    padded = np.concatenate([ahead, x], axis=1)
    return np.stack([padded[:, k : k + steps] for k in range(width)], axis=2)


@wb.program
def windows(B: int = 2, T: int = 7, W: int = 3) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=2, over=(b, t))
    start = wb.normal(over=b)
    plain = wb.window(x, t=4)
    sized = wb.window(x.sum(axis=0), t=W, before=start)
    loss = (wb.sin(plain) * plain).sum(axis=0).sum(axis=0).sum(over=(b, t))
    loss = (
        loss + (sized**3).sum(axis=0).max(over=t).sum(over=b) + sized.max(axis=0).sum(over=(b, t))
    )
    return {
        "x": x,
        "start": start,
        "plain": plain,
        "sized": sized,
        "one": wb.window(x, t=1),
        "open": wb.window(x.sum(axis=0) > 0.0, t=2),
        "whole": wb.window(wb.index(t) + wb.cast(x.sum(axis=0) * 0.0, int), t=2, before=-1),
        "loss": loss,
        "to_x": wb.gradient(loss, x),
        "to_start": wb.gradient(loss, start),
    }


VARIANTS: dict[str, Callable[[wb.Variant], wb.Variant]] = {
    "as written": lambda v: v,
    "t": lambda v: v.apply(transforms.Vectorize("t")),
    "b and t": lambda v: v.apply(transforms.Vectorize("b")).apply(transforms.Vectorize("t")),
}


@pytest.mark.parametrize(
    ("name", "backend"), [*((name, "numpy") for name in VARIANTS), ("b and t", "native")]
)
def test_windows_are_the_last_values_oldest_first(name: str, backend: str) -> None:
    variant = VARIANTS[name](wb.variant(windows()))
    result = wb.run(variant, backend=backend, dtype="float64", progress=False)
    x = result["x"]
    total = x.sum(-1)
    expected = {
        "plain": seen(x, 4, 0.0),
        "sized": seen(total, 3, result["start"][:, None]),
        "one": x[:, :, None],
        "open": seen(total > 0.0, 2, False),
        "whole": seen(np.tile(np.arange(7), (2, 1)), 2, -1),
    }
    for each, value in expected.items():
        np.testing.assert_allclose(result[each], value, rtol=1e-12, err_msg=each)
    plain = wb.run(wb.variant(windows()), backend="numpy", dtype="float64", progress=False)
    for each in ("to_x", "to_start"):
        np.testing.assert_allclose(result[each], plain[each], rtol=1e-9, err_msg=each)


def test_derivatives_go_to_the_steps_and_to_what_was_before() -> None:
    check(windows(), ("x", "start"), ("to_x", "to_start"))


def test_memory_of_windows_is_their_width() -> None:
    variant = VARIANTS["b and t"](wb.variant(windows()))
    few, many = (variant.predict({"T": n}, "numpy").peak_bytes["device"] for n in (100, 1600))
    assert many < 16 * few


def test_a_recurrence_over_its_own_window_keeps_that_many_values() -> None:
    @wb.program
    def autoregression(T: int = 9) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        noise = wb.normal(over=t)
        last = wb.window(x, t=3)
        x[0] = 1.0
        x[t + 1] = (last * wb.stack([0.1, 0.2, 0.5])).sum() + noise
        return {"x": x, "noise": noise}

    program = autoregression()
    result = wb.run(wb.variant(program), backend="numpy", dtype="float64", progress=False)
    expected = [0.0, 0.0, 1.0]
    for noise in result["noise"]:
        expected.append(np.dot(expected[-3:], [0.1, 0.2, 0.5]) + noise)
    np.testing.assert_allclose(result["x"], expected[2:])
    folded = wb.variant(program).apply(transforms.Contract())
    sizes = {"T": 1000}
    held = [v.predict(sizes, "numpy").peak_bytes["device"] for v in (folded, folded.parent)]
    assert held[0] < 4 * (3 * 1000) < held[1] - 4 * (3 * 1000)  # x and noise; the windows too
    again = wb.run(folded, backend="numpy", dtype="float64", progress=False)
    np.testing.assert_allclose(again["x"], expected[2:])


def test_windows_in_episodes_that_end() -> None:
    @wb.program
    def ended(B: int = 3, T: int = 6) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=(b, t))
        wb.until(wb.index(t) >= 2 * wb.index(b), over=t)
        return {"x": x, "window": wb.window(x, t=3), "sum": wb.window(x, t=3).sum().sum(over=t)}

    result = wb.run(ended(), backend="numpy", dtype="float64", progress=False)
    x, lengths = result["x"], [1, 3, 5]
    for row, length in enumerate(lengths):
        own = seen(x[row : row + 1, :length], 3, 0.0)[0]
        np.testing.assert_allclose(result["window"][row, :length], own)
        assert np.isnan(result["window"][row, length:]).all()
        np.testing.assert_allclose(result["sum"][row], own.sum())


def test_attention_to_a_window_is_attention_to_its_range() -> None:
    @wb.program
    def attending(T: int = 6) -> dict[str, Any]:
        t, i = wb.dims(t=T, i=1)
        network = nn.attention("attention", 4, heads=2)
        theta = nn.parameters(network, over=i)[0]
        x = wb.normal(shape=4, over=t)
        known = wb.window(x[..., 0] == x[..., 0], t=3)
        return {
            "window": network(theta, x, wb.window(x, t=3), known),
            "range": network(theta, x, x[wb.maximum(t - 2, 0) : t + 1]),
        }

    result = wb.run(attending(), backend="numpy", dtype="float64", progress=False)
    np.testing.assert_allclose(result["window"], result["range"], rtol=1e-10)


def drawn() -> wb.Tensor:
    return wb.uniform(shape=2, over=(b, t))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda: wb.window(drawn()), "a window of .* along none; expected one dim"),
        (lambda: wb.window(drawn(), b=2, t=2), "along b, t; expected one dim, as wb.window"),
        (lambda: wb.window(drawn(), t=0), "with t=0; expected a width of at least 1"),
        (lambda: wb.window(drawn(), t=2.5), "with t=2.5; expected its width, a whole number"),
        (lambda: wb.window(drawn(), i=2), "does not vary over i; its dims: b, t"),
        (lambda: wb.window(drawn(), t=t), "with t=t; expected its width"),
        (
            lambda: wb.window(drawn(), t=2, before=wb.uniform(shape=3)),
            r"of inner shape \(3,\); expected \(2,\), or what is repeated to it",
        ),
        (
            lambda: wb.window(drawn(), t=2, before=wb.uniform(over=t)),
            "which varies over t; expected one value for all steps$",
        ),
        (lambda: wb.window(drawn() > 0, t=2, before=1.0), "which is bool, with before=1.0"),
        (
            lambda: wb.window(drawn()[b, wb.maximum(t - 2, 0) : t + 1], t=2),
            "a window of .*, which varies over the range",
        ),
    ],
)
def test_window_refused(body: Callable[[], Any], said: str) -> None:
    message = refused(body).message
    assert re.search(said, message), message


def test_a_sum_over_the_range_alone_leaves_the_inner_axes() -> None:
    @wb.program
    def sums(T: int = 6) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(shape=(2, 3), over=t)
        behind = x[wb.maximum(t - 2, 0) : t + 1]
        return {
            "x": x,
            "sum": behind.sum(over="range"),
            "mean": behind.mean(over="range"),
            "std": behind.std(over="range"),
            "max": behind.max(over="range"),
            "all": (behind > -1.0).all(over="range"),
        }

    result = wb.run(sums(), backend="numpy", dtype="float64", progress=False)
    parts = [result["x"][max(t - 2, 0) : t + 1] for t in range(6)]
    np.testing.assert_allclose(result["sum"], [p.sum(0) for p in parts])
    np.testing.assert_allclose(result["mean"], [p.mean(0) for p in parts])
    np.testing.assert_allclose(result["std"], [p.std(0) for p in parts], atol=1e-12)
    np.testing.assert_allclose(result["max"], [p.max(0) for p in parts])
    assert np.array_equal(result["all"], [(p > -1.0).all(0) for p in parts])


def test_over_the_range_refused_without_one() -> None:
    message = refused(lambda: drawn().sum(over="range")).message
    assert 'over="range" of' in message and "which has no range axis" in message
