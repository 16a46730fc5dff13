"""Programs of episodes that end, for walks."""

from __future__ import annotations

from typing import Any

import workbench as wb


@wb.program
def ended(B: int = 3, T: int = 6) -> dict[str, Any]:
    """A random walk to a bound, what it gains, what it gained last, and a derivative."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    noise = wb.uniform(over=(b, t))
    x[b, 0] = 0.2
    x[b, t + 1] = 0.9 * x + noise * 0.6
    end = wb.until((x > 1.2) | (noise < 0.15), over=t)
    gain = x * noise
    to_go = wb.discounted_sum(gain[b, t:T], 0.9)
    return {
        "x": x,
        "to_go": to_go,
        "last": gain[b, end],
        "mean": gain.mean(over=(b, t)),
        "slope": wb.gradient((gain * to_go).sum(over=(b, t)), noise),
    }


@wb.program
def trained(B: int = 2, I: int = 2, T: int = 4) -> dict[str, Any]:
    """A parameter learned from episodes that it ends."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    weight = wb.recurrent("weight", (), over=i)
    weight[0] = 0.4
    noise = wb.uniform(over=(b, i, t))
    x = wb.recurrent("x", (), over=(b, i, t))
    x[b, i, 0] = wb.uniform(over=(b, i))
    x[b, i, t + 1] = x * weight[i] + noise
    wb.until(x * weight[i] > 0.5, over=t)
    loss = ((x - 1.0) ** 2).sum(over=t).mean(over=b)
    weight[i + 1] = weight - 0.05 * wb.gradient(loss, weight)
    return {"loss": loss, "longest": x.max(over=(b, t)), "weight": weight}


@wb.program
def stopped(B: int = 3, T: int = 5) -> dict[str, Any]:
    """A sum up to a bound, and its mean."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = 0.0
    x[b, t + 1] = x + wb.uniform(over=(b, t))
    end = wb.until(x > 0.8, over=t)
    return {"x": x, "last": x[b, end], "mean": x.mean(over=t)}


@wb.program
def sampled(B: int = 3, K: int = 2, T: int = 5) -> dict[str, Any]:
    """What some steps that an episode had are like, and a derivative; a run checks that it had
    them.
    """
    b, k, t = wb.dims(b=B, k=K, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    noise = wb.uniform(over=(b, t))
    x[b, 0] = 0.1
    x[b, t + 1] = x + noise
    end = wb.until(x > 1.1, over=t)
    step = wb.cast(wb.uniform(over=(b, k)) * wb.cast(end + 2, float), int)
    seen = wb.gather(x, t=step)
    loss = (seen**2).sum(over=k).mean(over=b)
    return {
        "seen": seen,
        "gains": wb.gather(x * noise, t=step // 2),
        "loss": loss,
        "slope": wb.gradient(loss, noise),
    }
