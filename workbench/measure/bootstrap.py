"""Intervals of medians and of their ratios by bootstrap, the same every time for the same samples.

A median of few samples has no formula for its error; drawing the samples anew, with replacement,
shows how far it could have come out otherwise (Efron 1979, percentile interval).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
LEVEL = 95.0
"""Percent of the resampled values that an interval holds."""

Interval = tuple[float, float]


def median(samples: Sequence[float]) -> float:
    """The middle sample."""
    return float(np.median(samples))


def interval(samples: Sequence[float]) -> Interval:
    """Where the median lies."""
    return _middle(np.median(np.asarray(samples)[_drawn(len(samples))], axis=-1))


def ratio_interval(samples: Sequence[float], base: Sequence[float]) -> Interval:
    """Where the ratio of two medians lies. Samples of one round are drawn together, since what
    disturbs the machine in a round disturbs both.
    """
    drawn = _drawn(len(samples))
    own, other = (np.median(np.asarray(x)[drawn], axis=-1) for x in (samples, base))
    return _middle(own / other)


def _drawn(count: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, count, (RESAMPLES, count))


def _middle(values: npt.NDArray[np.float64]) -> Interval:
    outside = (100.0 - LEVEL) / 2
    low, high = np.percentile(values, [outside, 100.0 - outside])
    return float(low), float(high)
