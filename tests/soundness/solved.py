"""A program of linear systems and factors, for walks."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb


@wb.program
def filtered(B: int = 2, T: int = 4) -> dict[str, Any]:
    """A covariance that grows and shrinks step by step, solved with and factored, and what the
    draws have to do with it.
    """
    b, t = wb.dims(b=B, t=T)
    noise = wb.normal(shape=(2, 2), over=(b, t))
    seen = wb.normal(shape=2, over=(b, t))
    spread = wb.recurrent("spread", (2, 2), over=(b, t))
    spread[b, 0] = np.eye(2)
    total = spread + wb.transpose(noise) @ noise + np.eye(2)
    spread[b, t + 1] = spread - spread @ wb.solve(total, spread)
    factor = wb.cholesky(total)
    white = wb.solve(factor, seen)
    loss = (white * white).sum(axis=0).sum(over=(b, t))
    return {"white": white, "spread": spread, "slope": wb.gradient(loss, noise)}
