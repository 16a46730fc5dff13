"""Numbers with their units."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.program.text.units import (
    amount,
    bytes_text,
    digits,
    percent,
    ratio_text,
    ratios_text,
    seconds_text,
)

NUMBERS = Path(__file__).parents[2] / "golden" / "session" / "numbers.json"
"""What the functions of the same names in the browser are held to as well (`numbers.test.ts`)."""
SAME: dict[str, Callable[[Any], str]] = {
    "secondsText": seconds_text,
    "bytesText": bytes_text,
    "ratioText": ratio_text,
    "percent": percent,
    "digits": digits,
}
CASES = [
    (name, number, text)
    for name, rows in json.loads(NUMBERS.read_text("utf8")).items()
    for number, text in rows
]


@pytest.mark.parametrize(("name", "number", "text"), CASES)
def test_numbers_are_written_as_in_the_browser(name: str, number: float, text: str) -> None:
    assert SAME[name](number) == text


def test_what_is_not_known_is_a_dash_and_what_has_no_end_says_so() -> None:
    assert (seconds_text(math.nan), bytes_text(None)) == ("–", "–")
    assert digits(math.inf) == "inf"


def test_amounts_have_the_unit_of_their_size() -> None:
    assert amount(12, "B") == "12 B"
    assert amount(1_234_000, "B") == "1.23 MB"
    assert amount(5e15, "op") == "5000 Top"


def test_intervals_of_ratios_count_as_the_ratio_does() -> None:
    assert (ratios_text(0.25, 0.3125), ratios_text(1.9, 2.1)) == ("3.2–4", "1.9–2.1")
