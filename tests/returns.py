"""A program in a file of its own: golden files name its lines."""

from typing import Any

import workbench as wb


@wb.program
def returns(B: int = 3, T: int = 7, gamma: float = 0.9) -> dict[str, Any]:
    """A backward recurrence, broken where an episode ends; the same sum from a range."""
    b, t = wb.dims(b=B, t=T)
    reward = wb.normal(over=(b, t))
    done = wb.uniform(over=(b, t)) < 0.2
    g = wb.recurrent("g", (), over=(b, t))
    g[b, T] = 0.0
    g[b, t] = reward + wb.where(done, 0.0, gamma * g[b, t + 1])
    to_go = wb.discounted_sum(reward[b, t:T], gamma)
    return {"g": g, "to_go": to_go, "mean": g[b, 0].mean(over=b)}
