"""Numbers with their units."""

from __future__ import annotations

import math

import pytest

from workbench.program.text.units import amount, bytes_text, seconds_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1234.5, "1234 s"),
        (12.345, "12.3 s"),
        (9.996e-4, "1 ms"),
        (9.994e-4, "999 µs"),
        (0.012345, "12.3 ms"),
        (1.2345e-5, "12.3 µs"),
        (1e-8, "0.01 µs"),
        (math.nan, "–"),
    ],
)
def test_seconds_are_written_with_their_unit(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(5, "5 B"), (999, "999 B"), (1000, "1 kB"), (12_345_678, "12.3 MB"), (2 * 10**12, "2 TB")],
)
def test_bytes_are_written_with_their_unit(count: int, text: str) -> None:
    assert bytes_text(count) == text
    assert bytes_text(None) == "–"


def test_amounts_have_the_unit_of_their_size() -> None:
    assert amount(12, "B") == "12 B"
    assert amount(1_234_000, "B") == "1.23 MB"
    assert amount(5e15, "op") == "5000 Top"
