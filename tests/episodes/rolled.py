"""Programs whose episodes end, and what they compute by loops of Python that really break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import workbench as wb
from workbench.backends import philox
from workbench.language.template.template import Template
from workbench.program.values import Program

GAMMA = 0.9


@dataclass(frozen=True)
class Kind:
    """A random walk, and how its episodes end: by a draw, by its place, at a fixed step."""

    decay: float
    drift: float
    chance: float
    limit: float
    last: int
    """The step at which an episode ends if it has not before; one beyond the horizon never comes.
    """


def walk(kind: Kind) -> Template:
    """A walk over (b, i, t) with an end, and every way of reading it."""

    @wb.program
    def walked(B: int = 3, I: int = 2, T: int = 7) -> dict[str, Any]:
        b, i, t = wb.dims(b=B, i=I, t=T)
        x = wb.recurrent("x", (), over=(b, i, t))
        noise = wb.uniform(over=(b, i, t))
        x[b, i, 0] = 0.5
        x[b, i, t + 1] = kind.decay * x + kind.drift * noise
        event = (noise < kind.chance) | (x > kind.limit) | (wb.index(t) == kind.last)
        end = wb.until(event, over=t)
        gain = x * noise
        return {
            "x": x,
            "gain": gain,
            "event": event,
            "end": end,
            "total": gain.sum(over=t),
            "mean": gain.mean(over=(b, t)),
            "highest": gain.max(over=t),
            "where_highest": gain.argmax(over=t),
            "spread": gain.std(over=t),
            "across": gain.sum(over=b),
            "to_go": wb.discounted_sum(gain[b, i, t:T], GAMMA),
            "so_far": gain[b, i, 0 : t + 1].mean(),
            "lowest_left": gain[b, i, t:T].min(),
            "all_of_x": x[b, i, 0 : T + 1].sum(),
            "last": x[b, i, end],
            "behind": x[b, i, end + 1],
        }

    return walked


def expected(program: Program, kind: Kind, B: int, I: int, T: int, seed: int) -> dict[str, Any]:
    """What the program means, episode by episode."""
    key = philox.statement_key(program.statement["noise"].origin)
    x = np.full((B, I, T + 1), np.nan)
    gain, to_go, so_far, left = (np.full((B, I, T), np.nan) for _ in range(4))
    event = np.zeros((B, I, T), bool)
    end, where = np.zeros((B, I), int), np.zeros((B, I), int)
    totals = {n: np.zeros((B, I)) for n in ("total", "highest", "spread", "all", "last", "behind")}
    unended = 0
    for b in range(B):
        for i in range(I):
            x[b, i, 0] = 0.5
            gains: list[float] = []
            for t in range(T):
                noise = float(philox.draw("uniform", seed, key, [b, i, t], ()))
                state = x[b, i, t]
                gains.append(state * noise)
                x[b, i, t + 1] = kind.decay * state + kind.drift * noise
                ends = noise < kind.chance or state > kind.limit or t == kind.last
                event[b, i, t] = ends
                end[b, i] = t
                if ends:
                    break
            else:
                unended += 1
            n = len(gains)
            gain[b, i, :n] = gains
            for t in range(n):
                to_go[b, i, t] = sum(GAMMA**k * g for k, g in enumerate(gains[t:]))
                so_far[b, i, t] = sum(gains[: t + 1]) / (t + 1)
                left[b, i, t] = min(gains[t:])
            where[b, i] = gains.index(max(gains))
            totals["total"][b, i] = sum(gains)
            totals["highest"][b, i] = max(gains)
            totals["spread"][b, i] = np.std(gains)
            totals["all"][b, i] = sum(x[b, i, : n + 1])
            totals["last"][b, i], totals["behind"][b, i] = x[b, i, n - 1], x[b, i, n]
    return {
        "x": x,
        "gain": gain,
        "event": event,
        "end": end,
        "total": totals["total"],
        "mean": np.nanmean(gain, axis=(0, 2)),
        "highest": totals["highest"],
        "where_highest": where,
        "spread": totals["spread"],
        "across": np.nansum(gain, axis=0),
        "to_go": to_go,
        "so_far": so_far,
        "lowest_left": left,
        "all_of_x": totals["all"],
        "last": totals["last"],
        "behind": totals["behind"],
        "unended": unended,
    }


def assert_equal(found: Any, wanted: dict[str, Any], tolerance: float = 1e-9) -> None:
    """Every output is as computed by the loops, NaN past an end included."""
    for name, values in wanted.items():
        if name != "unended":
            np.testing.assert_allclose(
                found[name], values, rtol=tolerance, atol=tolerance, err_msg=name
            )
