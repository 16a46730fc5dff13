"""What cannot be said of episodes that end, and what the error says instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import environments
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, WorkbenchError
from workbench.language.tracing.reductions import collect


def program(body: Callable[..., Any], before: Callable[..., Any] | None = None) -> Any:
    """A walk over b, t whose episodes end, with `y = body(x, end, b, t, T)`."""

    @wb.program
    def walked(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = 0.5
        x[b, t + 1] = x + wb.uniform(over=(b, t))
        early = before(x, b, t, T) if before else 0.0
        end = wb.until(x > 0.8, over=t)
        return {"y": body(x, end, b, t, T) + early}

    return walked()


REFUSED = {
    "ahead": (
        lambda x, end, b, t, T: x[b, wb.minimum(t + 2, T)],
        "x[b, min(t + 2, T)] is read at b=0, t=0 (B=1, T=2), but x exists only up to the end of an "
        "episode along t, which may have come before",
    ),
    "a_step": (
        lambda x, end, b, t, T: x[b, T],
        "x[b, T] is read at b=0 (B=1, T=2), but x exists only up to the end of an episode along t, "
        "which may have come before",
    ),
    "behind_the_end": (
        lambda x, end, b, t, T: x[b, end + 2],
        "may be read at that end, x[b, end]",
    ),
    "data_of_what_has_a_last_step": (
        lambda x, end, b, t, T: _backwards(x, b, t, T),
        "has an index that depends on data, and z exists only up to the end of an episode along t; "
        "it may be read at that end, z[b, end]",
    ),
    "lacking": (
        lambda x, end, b, t, T: wb.exp(wb.cast(wb.index(t), float))[t] * x[0, 0],
        "y varies over t, along which each b has an episode of its own that ends, but not over b: "
        "say for which b, or reduce over it",
    ),
    "sum_of_what_lacks": (
        lambda x, end, b, t, T: wb.cast(wb.index(t), float).sum(over=t),
        "its episodes end at an own step for each b, over which it does not vary; say for which b",
    ),
    "mean_of_nothing": (
        lambda x, end, b, t, T: x.mean(over=b),
        "mean over b of x[b, t]: float(): there may be no step that is executed, as episodes "
        "along t end; take a sum, or reduce over t too",
    ),
    "maximum_of_later_ones": (
        lambda x, end, b, t, T: x[b, wb.minimum(t + 2, T) : T + 1].max() * x,
        "there may be no step that is executed",
    ),
    "all_values": (
        lambda x, end, b, t, T: _collected(x, t),
        "their number depends on the end of an episode",
    ),
    "twice": (
        lambda x, end, b, t, T: wb.until(x > 3.0, over=t),
        "t has episodes with an end already (of t)",
    ),
    "no_boolean": (
        lambda x, end, b, t, T: wb.until(x, over=t),
        "expected one boolean, found float",
    ),
    "no_such_dim": (
        lambda x, end, b, t, T: wb.until(wb.uniform(over=b) > 0.5, over=t),
        "which does not vary over t; its dims: b",
    ),
}


def _backwards(x: Any, b: Any, t: Any, T: Any) -> Any:
    z = wb.recurrent("z", (), over=(b, t))
    z[b, T] = 1.0
    z[b, t] = x
    return wb.gather(z, t=wb.cast(wb.uniform(over=b) * 2.0, int))


def _collected(x: Any, t: Any) -> Any:
    return collect(x, "t").sum(axis=0)


@pytest.mark.parametrize("body, sentence", REFUSED.values(), ids=REFUSED)
def test_refused(body: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(sentence)) as error:
        program(body)
    assert error.value.line is not None


def test_reduction_before_the_end_is_known_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"wb\.until comes after a reduction over steps"):
        program(lambda x, end, b, t, T: 0.0, lambda x, b, t, T: x.sum(over=t))


def test_gradient_before_the_end_is_known_is_refused() -> None:
    def early(x: Any, b: Any, t: Any, T: Any) -> Any:
        z = wb.uniform(over=b)
        return wb.gradient(wb.sin(z), z)

    with pytest.raises(ProgramError, match=r"wb\.until comes after wb\.gradient"):
        program(lambda x, end, b, t, T: x[b, 0], early)


def test_checks_of_each_value_are_refused() -> None:
    with pytest.raises(WorkbenchError, match="values past an end, which nothing reads"):
        wb.run(program(lambda x, end, b, t, T: x), "numpy", check_finite=True, progress=False)


def test_read_of_a_step_that_is_given_away_names_the_instance() -> None:
    """The reference refuses by itself what the rules would let pass."""
    equations = program(lambda x, end, b, t, T: x * 1.0).equations
    reference = Reference(equations)
    end = int(reference.element("open_t", (0,)))
    assert end < 3
    with pytest.raises(ProgramError, match=f"x at b=0, t={end + 2} does not exist"):
        reference.element("x", (0, end + 2))


def test_external_objects_are_refused() -> None:
    pytest.importorskip("gymnasium")

    @wb.program
    def outside(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        env = environments.Gymnasium("CartPole-v1")
        state = wb.recurrent("state", env.state_size, over=(b, t))
        action = wb.cast(wb.uniform(over=(b, t)) < 0.5, int)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, 0] = env.reset(over=b)
        state[b, t + 1] = following
        end = wb.until(terminated | truncated, over=t)
        return {"end": end, "score": reward.sum(over=t)}

    with pytest.raises(ProgramError, match="called past an end too, which is not possible yet"):
        outside()


def test_blocks_refused_of_episodes_that_end_together() -> None:
    @wb.program
    def together(B: int = 8, T: int = 12) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = 0.1
        x[b, t + 1] = x + wb.uniform(over=(b, t))
        wb.until((x > 0.8).all(over=b), over=t)
        return {"x": x, "sum": x.sum(over=t)}

    variant = wb.variant(together())
    refusal = variant.check(wb.transforms.Persist("b", 4))
    assert refusal is not None and refusal.kind == "capability"
    assert "to an end that is one for all b, so no block of b goes through" in refusal.sentence
    assert "write wb.until with an event per b" in refusal.sentence
    assert refusal.line is not None and "wb.until" in refusal.line.text
    result = wb.run(together(), backend="numpy", dtype="float64", progress=False)
    lengths, x = int(result.lengths["t"]), result["x"]
    assert lengths < 12
    assert (x[:, lengths - 1] > 0.8).all() and not (x[:, : lengths - 1] > 0.8).all(axis=0).any()
    assert np.isnan(x[:, lengths + 1 :]).all()
