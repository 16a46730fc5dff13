"""Programs of windows, as ranges and as inner axes, for walks."""

from __future__ import annotations

from typing import Any

import workbench as wb


@wb.program
def sliding(B: int = 2, T: int = 7, n: int = 3) -> dict[str, Any]:
    """Softmax weights over the last steps, and reductions over the last and the next ones."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    behind = x[b, wb.maximum(t - n, 0) : t + 1]
    ahead = x[b, t : wb.minimum(t + n, T)]
    weight = wb.exp(behind - behind.max())
    attended = (weight * behind).sum() / weight.sum()
    loss = (attended * attended + ahead.max() * ahead.sum()).sum(over=(b, t))
    return {"attended": attended, "place": ahead.argmax(), "slope": wb.gradient(loss, x)}


@wb.program
def tapped(B: int = 2, T: int = 6) -> dict[str, Any]:
    """A recurrence over its own last values, with the derivative through it."""
    b, t = wb.dims(b=B, t=T)
    noise = wb.normal(over=(b, t))
    x = wb.recurrent("x", (), over=(b, t))
    last = wb.window(x, t=3, before=0.5)
    x[b, 0] = 1.0
    x[b, t + 1] = wb.tanh((last * wb.stack([0.2, -0.3, 0.6])).sum()) + noise
    loss = (x[b, T] ** 2 + last.max(axis=0).sum(over=t)).sum(over=b)
    return {"x": x, "last": last, "slope": wb.gradient(loss, noise)}


@wb.program
def smoothed(B: int = 2, T: int = 6) -> dict[str, Any]:
    """Weights of the next steps, by position, and a mean of the last ones."""
    b, t = wb.dims(b=B, t=T)
    x = wb.uniform(over=(b, t))
    weight = x[b, t : wb.minimum(t + 3, T)] - x
    mean = wb.window(x, t=2).mean(axis=0)
    return {"y": (weight * weight).sum() + weight.max() * mean}
