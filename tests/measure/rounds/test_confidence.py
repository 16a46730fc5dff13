"""Intervals of medians and ratios: closed cases, and how often they hold the truth."""

from __future__ import annotations

import numpy as np

from workbench.measure.rounds.confidence import interval, median, ratio_interval


def test_interval_of_equal_samples_is_that_sample() -> None:
    assert interval([2.5] * 7) == (2.5, 2.5)


def test_a_single_sample_has_no_interval() -> None:
    for samples in ([], [2.5]):
        assert np.isnan(interval(samples)).all()
        assert np.isnan(ratio_interval(samples, samples)).all()


def test_interval_holds_the_median_and_lies_between_the_samples() -> None:
    samples = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6]
    low, high = interval(samples)
    assert min(samples) <= low <= median(samples) <= high <= max(samples)
    assert low < high


def test_same_samples_give_the_same_interval() -> None:
    samples = [3.0, 1.0, 4.0, 1.5]
    assert interval(samples) == interval(samples)


def test_ratio_of_samples_that_rise_and_fall_together_is_exact() -> None:
    base = [1.0, 5.0, 2.0, 8.0, 3.0]
    assert ratio_interval([2 * x for x in base], base) == (2.0, 2.0)


def test_interval_holds_the_true_median_in_nearly_all_experiments() -> None:
    """95 in 100 are meant; with ten samples the percentile bootstrap of a median is a little less
    sure.
    """
    draws = np.random.default_rng(1).exponential(size=(400, 10))
    truth = np.log(2.0)
    held = sum(low <= truth <= high for low, high in (interval(list(x)) for x in draws))
    assert 0.88 <= held / 400 <= 0.99


def test_ratio_of_the_same_distribution_holds_one_in_nearly_all_experiments() -> None:
    rng = np.random.default_rng(2)
    pairs = rng.gamma(4.0, size=(300, 2, 10))
    held = sum(
        low <= 1.0 <= high for low, high in (ratio_interval(list(a), list(b)) for a, b in pairs)
    )
    assert 0.9 <= held / 300 <= 1.0


def test_interval_of_very_many_samples_is_that_of_the_normal_approximation() -> None:
    """The median of n normal samples deviates by sqrt(pi / (2 n)) (Cramér 1946)."""
    samples = np.random.default_rng(3).normal(5.0, 2.0, size=200_000)
    low, high = interval(samples)
    deviation = 2.0 * np.sqrt(np.pi / 2 / len(samples))
    assert low <= median(samples) <= high
    assert abs((high - low) / (2 * 1.96 * deviation) - 1) < 0.15
    assert ratio_interval(2 * samples, samples) == (2.0, 2.0)
