"""Derivatives of what ends: by central differences, and 0 past an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.differences import check
from workbench.backends.reference.evaluator import Reference
from workbench.program.values import Program

READ = {
    "sum": lambda x, end, b, t, T: (x * x).sum(over=t),
    "to_go": lambda x, end, b, t, T: (wb.discounted_sum((x * x)[b, t:T], 0.9) * wb.sin(x)).sum(
        over=t
    ),
    "so_far": lambda x, end, b, t, T: (wb.exp(0.1 * x)[b, 0 : t + 1].sum() * x).sum(over=t),
    "mean": lambda x, end, b, t, T: wb.sin(x).mean(over=t),
    "slices": lambda x, end, b, t, T: (x[b, 0 : T + 1] ** 2).sum(),
    "last": lambda x, end, b, t, T: x[b, end] ** 2 + wb.sin(x[b, end + 1]),
    "own_to_go": lambda x, end, b, t, T: (wb.discounted_sum(x[b, t:T], 0.9) * x).sum(over=t),
    "drawn": lambda x, end, b, t, T: (_drawn(x, end, b) ** 2).sum(axis=0),
    "another": lambda x, end, b, t, T: (x[0, wb.minimum(t, 1)] * x).sum(over=t),
    "highest": lambda x, end, b, t, T: (x * wb.cos(x)).max(over=t),
}
GATHERED = {
    "drawn_so_far": lambda x, end, b, t, T: (_so_far(x, b, t) * wb.sin(x)).sum(over=t),
    "drawn_within": lambda x, end, b, t, T: (_so_far(x, b, t, within=True) ** 2).sum(over=t),
}
"""What each step reads where a draw of its own says."""


def _drawn(x: Any, end: Any, b: Any) -> Any:
    """Three steps up to the one behind the end, some of them the same."""
    steps = [wb.cast(wb.uniform(over=b) * wb.cast(end + 2, float), int) for _ in range(3)]
    return wb.stack([wb.gather(x, t=step) for step in steps])


def _so_far(x: Any, b: Any, t: Any, within: bool = False) -> Any:
    """At each step a step up to it, some of them the same."""
    step = wb.cast(wb.uniform(over=(b, t)) * wb.cast(wb.index(t + 1), float), int)
    return wb.gather(x, t=wb.within(step, 0, t + 1) if within else step)


def walked(read: Any) -> Program:
    """A walk from `start` with the weight `w`; its ends are drawn, hence fixed."""

    @wb.program
    def walk(B: int = 3, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        w = wb.uniform(0.5, 1.5, shape=2, over=())
        start = wb.uniform(over=b)
        noise = wb.uniform(over=(b, t))
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = wb.exp(start)
        x[b, t + 1] = x * w[..., 0] + wb.sin(x) * noise + w[..., 1]
        end = wb.until(wb.uniform(over=(b, t)) < 0.3, over=t)
        loss = read(x, end, b, t, T).sum(over=b)
        return {
            "loss": loss,
            "by_w": wb.gradient(loss, w),
            "by_start": wb.gradient(loss, start),
            "by_noise": wb.gradient(loss, noise),
            "by_x": wb.gradient(loss, x),
            "noise": noise,
            "end": end,
        }

    return walk()


@pytest.mark.parametrize("read", [*READ.values(), *GATHERED.values()], ids=[*READ, *GATHERED])
def test_gradient_is_the_central_difference(read: Any) -> None:
    program = walked(read)
    check(program, ("w", "start"), ("by_w", "by_start"))
    reference = Reference(program.equations, seed=3)
    end, by_noise, by_x = (reference.array(n) for n in ("end", "by_noise", "by_x"))
    assert (end < 4).any() and (end > 0).any()
    for b in range(3):
        assert not by_noise[b, end[b] + 1 :].any(), "the derivative past an end is 0"
        assert not by_x[b, end[b] + 2 :].any()
        for t in range(end[b] + 1):
            assert by_noise[b, t] == pytest.approx(_difference(program, b, t), rel=1e-5, abs=1e-7)


def _difference(program: Program, b: int, t: int) -> float:
    at = Reference(program.equations, seed=3)
    losses = []
    for step in (1e-6, -1e-6):
        moved = float(at.element("noise", (b, t))) + step
        given = {"noise": lambda e, moved=moved: moved if e == (b, t) else None}
        losses.append(float(Reference(program.equations, None, 3, given).element("loss", ())))
    return (losses[0] - losses[1]) / 2e-6


@pytest.mark.parametrize("read", ["to_go", "last", "slices", "drawn", *GATHERED])
def test_gradient_is_the_same_on_numpy(read: str) -> None:
    program = walked((READ | GATHERED)[read])
    expected = Reference(program.equations, seed=3).outputs()
    for variant in (wb.variant(program), wb.optimize(wb.variant(program), backend="numpy")):
        run = wb.run(variant, "numpy", seed=3, dtype="float64", progress=False)
        for name in run:
            np.testing.assert_allclose(run[name], expected[name], rtol=1e-9, atol=1e-12)
