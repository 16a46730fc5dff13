"""Numbers with their units."""

from __future__ import annotations

import math

import pytest

from workbench.program.text.units import (
    amount,
    bytes_text,
    digits,
    percent,
    ratio_text,
    seconds_text,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (12_345, "3.43 h"),
        (1234.5, "20.6 min"),
        (99.94, "99.9 s"),
        (12.345, "12.3 s"),
        (9.996e-4, "1 ms"),
        (9.994e-4, "999 µs"),
        (0.012345, "12.3 ms"),
        (1.2345e-5, "12.3 µs"),
        (1e-8, "10 ns"),
        (1.234e-11, "0.0123 ns"),
        (0, "0 s"),
        (math.nan, "–"),
    ],
)
def test_seconds_are_written_with_their_unit(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (5, "5 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (12_250, "12.3 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (-12_345_678, "−12.3 MB"),
        (2 * 10**12, "2 TB"),
    ],
)
def test_bytes_are_written_with_their_unit(count: int, text: str) -> None:
    assert bytes_text(count) == text
    assert bytes_text(None) == "–"


def test_amounts_have_the_unit_of_their_size() -> None:
    assert amount(12, "B") == "12 B"
    assert amount(1_234_000, "B") == "1.23 MB"
    assert amount(5e15, "op") == "5000 Top"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (1.005, "1"),  # a little less as a float
        (2.125, "2.13"),
        (100.5, "101"),
        (1030, "1030"),
        (-0.00012345, "−0.000123"),
        (1.5e-7, "0.00000015"),
        (math.inf, "inf"),
    ],
)
def test_digits_are_three_without_an_exponent(number: float, text: str) -> None:
    assert digits(number) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.0004, "< 0.1 %"), (0.057, "5.7 %"), (0.125, "13 %"), (1.5, "150 %")],
)
def test_shares_are_written_in_percent(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.3125, "3.2 × faster"), (1.8, "1.8 × slower"), (1.004, "as fast"), (0.996, "as fast")],
)
def test_ratios_are_written_in_words(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text
