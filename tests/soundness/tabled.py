"""Programs of tables, and of what is read at random from the last steps, for walks."""

from __future__ import annotations

from typing import Any

import workbench as wb


@wb.program
def counted(W: int = 2, K: int = 4) -> dict[str, Any]:
    """Visits of workers, and of all together."""
    w, k = wb.dims(w=W, k=K)
    place = wb.cast(wb.uniform(over=(w, k)) * 3.0, int)
    visits = wb.recurrent("visits", (3,), over=(w, k), dtype=int)
    visits[w, 0] = 0
    visits[w, k + 1] = wb.add_at(visits, (place,), 1)
    both = wb.recurrent("both", (3,), over=k)
    both[0] = 0.0
    both[k + 1] = wb.add_at(both, (place,), 0.5, over=w)
    return {"visits": visits[w, K], "both": both[K], "often": visits.max(over=(w, k))}


@wb.program
def moved(K: int = 5) -> dict[str, Any]:
    """A table whose entries move towards their successor's, and what is read of it."""
    (k,) = wb.dims(k=K)
    place = wb.cast(wb.uniform(over=k) * 3.0, int)
    after = wb.cast(wb.uniform(over=k) * 3.0, int)
    q = wb.recurrent("q", (3,), over=k)
    q[0] = 1.0
    worth = wb.uniform(over=k) + 0.9 * q[..., after]
    q[k + 1] = wb.put(q, (place,), 0.5 * q[..., place] + 0.5 * worth)
    loss = (q[..., place] * worth).sum(over=k)
    return {"q": q[K], "worth": worth, "slope": wb.gradient(loss, q)}


@wb.program
def recalled(T: int = 6, H: int = 3) -> dict[str, Any]:
    """One of the last steps, read at random."""
    (t,) = wb.dims(t=T)
    x = wb.recurrent("x", (), over=t)
    x[0] = 1.0
    oldest = wb.maximum(t - H + 1, 0)
    held = wb.cast(wb.index(t + 1 - oldest), float)
    back = wb.cast(wb.uniform(over=t) * held, int)
    seen = wb.gather(x + 1.0, t=wb.within(wb.index(oldest) + back, oldest, t + 1))
    x[t + 1] = 0.5 * x + 0.1 * seen
    return {"last": x[T], "seen": seen}


@wb.program
def kept(B: int = 2, T: int = 5, H: int = 3) -> dict[str, Any]:
    """Sights of one time of several environments, read by each."""
    b, t = wb.dims(b=B, t=T)
    noise = wb.normal(over=(b, t))
    oldest = wb.maximum(t - H + 1, 0)
    held = wb.cast(wb.index(t + 1 - oldest), float)
    back = wb.cast(wb.uniform(over=t) * held, int)
    seen = wb.gather(noise * 2.0, t=wb.within(wb.index(oldest) + back, oldest, t + 1))
    return {"seen": seen.sum(over=b), "most": seen.max(over=t)}
