"""Numbers with their units, as every sentence, table and error writes them."""

from __future__ import annotations

import math


def digits(number: float) -> str:
    """Write three digits, or all before the point of a larger number: `1030`, not `1.03e+03`."""
    return f"{number:.3g}" if abs(number) < 999.5 else f"{number:.0f}"


def amount(number: float, unit: str) -> str:
    """Write three digits with the unit's power of thousand: `1.23 MB`."""
    for prefix in ("", "k", "M", "G"):
        if number < 999.5:
            return f"{digits(number)} {prefix}{unit}"
        number /= 1000
    return f"{digits(number)} T{unit}"


def bytes_text(count: int | None) -> str:
    """Write a number of bytes; `–` where it is not known."""
    return "–" if count is None else amount(count, "B")


def seconds_text(seconds: float) -> str:
    """Write three digits with the unit that suits: `1.23 ms`; `–` where it is not a number."""
    if math.isnan(seconds):
        return "–"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 0.9995:
            return f"{digits(seconds * factor)} {unit}"
    return f"{digits(seconds * 1e6)} µs"
