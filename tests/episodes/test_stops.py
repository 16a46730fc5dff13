"""Loops over steps that stop with the last one at which an episode is open: counted exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.transforms import Contract, Reschedule, Vectorize
from workbench.transforms.step.transform import Transform

SIZES = {"B": 2, "I": 3, "T": 40}


@wb.program
def learned(B: int = 2, I: int = 3, T: int = 40) -> dict[str, Any]:
    """A matrix for each walk, learned from its steps: forwards, backwards and products."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    w = wb.recurrent("w", (3, 2), over=(b, i))
    w[b, 0] = wb.uniform(shape=(3, 2), over=b)
    noise = wb.normal(shape=3, over=(b, i, t))
    x = wb.recurrent("x", (3,), over=(b, i, t))
    x[b, i, 0] = 0.5
    x[b, i, t + 1] = wb.tanh(x + noise)
    hidden = wb.tanh(x @ w)
    wb.until(wb.uniform(over=(b, i, t)) < 0.2, over=t)
    loss = (hidden * hidden).sum(axis=0).sum(over=t)
    w[b, i + 1] = w - 0.1 * wb.gradient(loss, w)
    return {"loss": loss, "w": w, "hidden": hidden}


WAYS: list[tuple[str, tuple[Transform, ...]]] = [
    ("numpy", ()),
    ("numpy", (Vectorize("b"), Contract())),
    ("native", (Vectorize("b"), Contract())),
]
STEPS = ("open_uniform", "noise", "x[t+1]", "hidden", "loss_product", "gradient.w_value")


@pytest.mark.parametrize(
    "backend, steps",
    [way for way in WAYS if wb.backends()[way[0]] is None],
    ids=lambda x: x if isinstance(x, str) else "lanes" if x else "as_written",
)
def test_loop_stops_when_all_lanes_are_closed(backend: str, steps: tuple[Transform, ...]) -> None:
    chosen = wb.variant(learned()).replay(steps)
    equations = learned(**SIZES).equations
    reference = Reference(equations)
    after = np.asarray(reference.array(equations.ends[0].after))
    lengths = np.minimum(after + 1, SIZES["T"])
    if backend == "numpy":  # of compiled C see `test_until`
        found = wb.run(chosen, backend, sizes=SIZES, dtype="float64", progress=False)
        for name in found:
            np.testing.assert_allclose(
                found[name], reference.outputs()[name], rtol=1e-9, atol=1e-12
            )
    rows = wb.profile(chosen, backend, sizes=SIZES, progress=False).by("statement")
    calls = {row.name: row.calls for row in rows}
    longest = int(lengths.max(axis=0).sum() if steps else lengths.sum())
    assert longest < 0.7 * SIZES["I"] * SIZES["T"] * (1 if steps else SIZES["B"])
    assert {name: calls[name] for name in STEPS} == dict.fromkeys(STEPS, longest)


@wb.program
def looked_at(T: int = 5) -> dict[str, Any]:
    """A walk in whose loop statements are at different steps of the episode."""
    t = wb.dim(t=T)
    x = wb.recurrent("x", (), over=t)
    push, luck = wb.uniform(over=t), wb.uniform(over=t)
    x[0] = 0.2
    x[t + 1] = 0.9 * x + 0.5 * push
    wb.until(luck < 0.2, over=t)
    worth = x * luck
    sight = wb.window(worth, t=3)
    most = worth[t : wb.minimum(t + 3, T)].max()
    mean = worth[wb.maximum(t - 3, 0) : t + 1].mean()
    loss = (worth * wb.discounted_sum(worth[t:T], 0.9)).sum(over=t)
    slope = wb.gradient(loss, push)
    return {"sight": sight, "most": most, "mean": mean, "slope": slope}


@pytest.mark.parametrize("T", [1, 2, 5, 9])
@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_loop_goes_on_where_a_turn_has_no_step_to_look_at(backend: str, T: int) -> None:
    """At some turns only statements run whose step is another than that of the most."""
    program = wb.variant(looked_at())
    steps = Vectorize("t_6"), Reschedule(("padded", "gradient.slope"))
    compiled = get(backend).compile(program.replay(steps).program)
    for seed in range(8):
        expected = Reference(program.program.equations, {"T": T}, seed).outputs()
        found = compiled.run({"T": T}, seed, "float64").outputs
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-9, err_msg=name)
