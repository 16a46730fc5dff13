"""Intervals of medians and of their ratios by bootstrap, the same every time for the same samples.

A median of few samples has no formula for its error. Drawing the samples anew, with replacement,
shows how far it could have come out otherwise (Efron 1979, percentile interval). Of very many
samples some are drawn, and their spread is scaled by the root of the numbers (m out of n: Bickel,
Götze and van Zwet 1997). A single sample tells nothing of the spread: its interval is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
MOST = 1000
"""The most samples drawn anew at a time."""
LEVEL = 95.0
"""The percentage of the resampled values in an interval."""

FEWEST = 2
"""The fewest samples that have an interval."""

ConfidenceInterval = tuple[float, float]

UNKNOWN: ConfidenceInterval = (math.nan, math.nan)
"""The interval where nothing is known of the spread."""


def median(samples: Sequence[float]) -> float:
    """Return the median."""
    return float(np.median(samples))


def interval(samples: Sequence[float]) -> ConfidenceInterval:
    """Return the interval of the median."""
    if len(samples) < FEWEST:
        return UNKNOWN
    medians = np.median(np.asarray(samples)[_drawn(len(samples))], axis=-1)
    return _middle(medians, median(samples), len(samples))


def ratio_interval(samples: Sequence[float], base: Sequence[float]) -> ConfidenceInterval:
    """Return the interval of the ratio of two medians. Samples of one round are drawn together,
    since a disturbance of the machine in a round affects both.
    """
    if len(samples) < FEWEST:
        return UNKNOWN
    drawn = _drawn(len(samples))
    own, other = (np.median(np.asarray(x)[drawn], axis=-1) for x in (samples, base))
    return _middle(own / other, median(samples) / median(base), len(samples))


def _drawn(count: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, count, (RESAMPLES, min(count, MOST)))


def _middle(values: npt.NDArray[np.float64], of_all: float, count: int) -> ConfidenceInterval:
    """Return the interval of the values within the level. Of many samples its distance from
    `of_all` is scaled by the root of the numbers.
    """
    outside = (100.0 - LEVEL) / 2
    low, high = np.percentile(values, [outside, 100.0 - outside])
    if count <= MOST:
        return float(low), float(high)
    scale = math.sqrt(MOST / count)
    return of_all + scale * float(low - of_all), of_all + scale * float(high - of_all)
