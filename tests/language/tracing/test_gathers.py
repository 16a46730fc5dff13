"""wb.gather of a value that another array holds: at its own index there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.truth import truth

Equations = Callable[[Any, Any, Any, Any], dict[str, Any]]


def forwards(b: Any, t: Any, T: Any, u: Any) -> dict[str, Any]:
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = 0.0
    x[b, t + 1] = u
    return {"x": x}


def backwards(b: Any, t: Any, T: Any, u: Any) -> dict[str, Any]:
    x = wb.recurrent("x", (), over=(b, t))
    x[b, T] = 0.0
    x[b, T - 1 - t] = u
    return {"x": x}


def turned(b: Any, t: Any, T: Any, u: Any) -> dict[str, Any]:
    x = wb.recurrent("x", (), over=(t, b))
    x[0, b] = 0.0
    x[t + 1, b] = u
    return {"x": x}


def in_a_window(b: Any, t: Any, T: Any, u: Any) -> dict[str, Any]:
    return {"x": wb.window(u, t=3)}


@pytest.mark.parametrize("held", [forwards, backwards, turned, in_a_window])
@pytest.mark.parametrize("is_output", [True, False])
def test_a_gathered_value_is_the_same_wherever_it_is_held(held: Equations, is_output: bool) -> None:
    @wb.program
    def example(B: int = 3, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        u = wb.uniform(over=(b, t))
        other = wb.cast(wb.uniform(over=t) * wb.cast(wb.index(B), float), int)
        step = wb.cast(wb.uniform(over=(b, t)) * wb.cast(wb.index(T), float), int)
        chosen = wb.cast(wb.uniform(over=b) * wb.cast(wb.index(T), float), int)
        outputs = {
            "step": step,
            "other": other,
            "chosen": chosen,
            "at_step": wb.gather(u, t=step),
            "at_both": wb.gather(u, b=other, t=step),
            "without_t": wb.gather(2.0 * u, t=chosen),
        }
        return outputs | held(b, t, T, u) | ({"u": u} if is_output else {})

    program = example()
    plain = {"forwards": np.s_[:, 1:], "turned": np.s_[:, 1:], "in_a_window": np.s_[..., -1]}
    for found in (
        truth(program).outputs(),
        wb.run(wb.variant(program), "numpy", progress=False),
        wb.run(wb.variant(program), "native", progress=False),
    ):
        x = np.asarray(found["x"])
        x = x.T if held is turned else x
        u = x[:, 4::-1] if held is backwards else x[plain[held.__name__]]
        step, other, chosen = (np.asarray(found[name]) for name in ("step", "other", "chosen"))
        np.testing.assert_array_equal(found["at_step"], np.take_along_axis(u, step, 1))
        np.testing.assert_array_equal(found["at_both"], u[other[None, :], step])
        np.testing.assert_array_equal(found["without_t"], 2.0 * u[np.arange(3), chosen])


def test_the_last_step_of_an_episode_is_read_of_a_window() -> None:
    @wb.program
    def example(I: int = 4, T: int = 6) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        luck = wb.uniform(over=(i, t))
        end = wb.until(luck < 0.3, over=t)
        return {"seen": wb.window(luck, t=3), "last": luck[i, end]}

    program = example()
    for found in (
        truth(program).outputs(),
        wb.run(wb.variant(program), "numpy", progress=False),
        wb.run(wb.variant(program), "native", progress=False),
    ):
        luck = np.asarray(found["seen"])[..., -1]
        ends = [next((t for t in range(6) if luck[i, t] < 0.3), 5) for i in range(4)]
        np.testing.assert_array_equal(found["last"], luck[np.arange(4), ends])
