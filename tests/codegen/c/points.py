"""float32 numbers to try functions at: one in 4096 of all, and where something changes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

TURNS = (
    *(0.0, 2.0**-149, 2.0**-126, 2.0**-24, 2.0**-13, 0.34657359, 0.5, 0.55, 2.0**-0.5, 1.0),
    *(2.0**0.5, 2.0, 3.0, 10.0, 87.33655, 88.722839, 89.0, 103.27893, 103.97208, 104.0),
    *(2.0**15, 2.0**22, 2.0**23, 2.0**24, 2.0**25, 2.0**31, 2.0**63, 2.0**64, np.inf),
)
"""Limits of ranges and pieces, of either sign; their neighbours are tried too."""


def strided(count: int = 2**20) -> Floats:
    """Return so many floats, equally far apart in the order of their bits."""
    step = 2**32 // count
    bits = np.arange(count, dtype=np.uint32) * np.uint32(step) + np.uint32(step * 5 // 8)
    return bits.view(np.float32)


def edges() -> Floats:
    """Return limits with their neighbours, NaN, and numbers close to multiples of pi/2."""
    turns = np.array([s * t for t in TURNS for s in (1, -1)], np.float32)
    with np.errstate(over="ignore", under="ignore"):
        near = [np.nextafter(turns, np.float32(to)) for to in (np.inf, -np.inf)]
    quarters = (np.arange(1, 40_000) * (np.pi / 2)).astype(np.float32)
    closest = np.float32(16367173 * 2.0**72)  # nearest to a multiple of pi/2 of all floats
    return np.concatenate([turns, *near, quarters, -quarters, [closest, np.nan]], dtype=np.float32)


def errors_in_ulp(computed: Floats, correct: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the distances from correct results in units of their last place.

    Where both are infinite or NaN it is 0, where only one is it is infinite.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rounded = correct.astype(np.float32)
        exponent = np.clip(np.frexp(correct)[1] - 1, -126, 127)
        distance = np.abs(computed.astype(np.float64) - correct) / np.ldexp(1.0, exponent - 23)
    same = (computed == rounded) & np.isinf(computed) | (np.isnan(computed) & np.isnan(correct))
    apart = np.isfinite(computed) != np.isfinite(rounded)
    return np.where(same, 0.0, np.where(apart, np.inf, distance))
