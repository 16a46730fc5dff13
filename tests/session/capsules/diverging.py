"""A program in a file of its own: golden files name its lines."""

from typing import Any

import workbench as wb


@wb.program
def returns(B: int = 3, T: int = 8, gamma: float = 0.9) -> dict[str, Any]:
    """Rewards from a state that goes on, their sums to the end, and a value that goes wrong."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = wb.uniform(over=b)
    state[b, t + 1] = 0.9 * state + 0.1 * wb.normal(over=(b, t))
    reward = wb.tanh(state)
    to_go = wb.discounted_sum(reward[b, t:T], gamma)
    wrong = wb.recurrent("wrong", (), over=(b, t))
    wrong[b, 0] = 2.0
    wrong[b, t + 1] = wb.log(wrong)
    return {"to_go": to_go, "wrong": wrong[b, T]}
