"""Numbers with their units, as every sentence, table, error and view writes them.

The views take `UNITS` from the protocol, and a test holds their functions to these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal

Units = tuple[tuple[str, float, float], ...]

UNITS: Mapping[str, Units] = {
    "seconds": (
        ("d", 86_400, 172_800),
        ("h", 3600, 6000),
        ("min", 60, 100),
        ("s", 1, 1),
        ("ms", 1e-3, 1e-3),
        ("µs", 1e-6, 1e-6),
        ("ns", 1e-9, 0),
    ),
    "thousands": (
        ("T", 10**12, 10**12),
        ("G", 10**9, 10**9),
        ("M", 10**6, 10**6),
        ("k", 1000, 1000),
        ("", 1, 0),
    ),
}
"""Units, the largest first: how one is written, its size, and the number from which on it is taken.
"""

SAME = "same"
"""The word for a ratio of about one."""

_EXACT = Context(prec=400)


def digits(number: float) -> str:
    """Write three digits, or all before the point of a larger number: `1030`, not `1.03e+03`."""
    if not math.isfinite(number):
        return str(number)
    places = max(0, 2 - math.floor(math.log10(abs(number) or 1)))
    text = _fixed(number, places)
    return text.rstrip("0").rstrip(".") if places else text


def amount(number: float, unit: str) -> str:
    """Write three digits with the unit's power of thousand: `1.23 MB`."""
    prefix, size = _unit(number, "thousands")
    return f"{digits(number / size)} {prefix}{unit}"


def bytes_text(count: int | None) -> str:
    """Write a number of bytes; `–` where it is not known."""
    return "–" if count is None else amount(count, "B")


def bytes_unit(count: float) -> tuple[str, float]:
    """Return the unit in which so many bytes are written, and its size in bytes."""
    prefix, size = _unit(count, "thousands")
    return f"{prefix}B", size


def on_threads(backend: str, threads: int) -> str:
    """Write `native, 2 threads`; the backend alone for one thread."""
    return backend if threads == 1 else f"{backend}, {threads} threads"


def seconds_text(seconds: float) -> str:
    """Write three digits with the unit that suits: `1.23 ms`; `–` where it is not a number."""
    if math.isnan(seconds):
        return "–"
    unit, size = seconds_unit(seconds)
    return f"{digits(seconds / size)} {unit}"


def seconds_unit(seconds: float) -> tuple[str, float]:
    """Return the unit in which so many seconds are written, and its size in seconds."""
    return _unit(seconds, "seconds")


def percent(share: float) -> str:
    """Write a share: `57 %`, `5.7 %`, `< 0.1 %`."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{_fixed(100 * share, 1 if 0 < share < 0.1 else 0)} %"


def ratio_text(ratio: float) -> str:
    """Write what an amount became of another: `÷ 3.2` of what is less, `× 1.8` of what is more."""
    size = 1 / ratio if ratio < 1 else ratio
    if size < 1.005:
        return SAME
    return f"{'÷' if ratio < 1 else '×'} {digits(size)}"


def ratios_text(low: float, high: float) -> str:
    """Write the interval of a ratio as the number beside it counts, from 1 upwards: `3.1–3.6`."""
    if high < 1:
        low, high = 1 / high, 1 / low
    return f"{digits(low)}–{digits(high)}"


def _unit(number: float, kind: str) -> tuple[str, float]:
    """Return the largest unit from whose number on this one is, as it is rounded."""
    size = abs(number) or 1
    return next((unit, each) for unit, each, least in UNITS[kind] if size >= 0.9995 * least)


def _fixed(number: float, places: int) -> str:
    """Write so many digits behind the point; halves are rounded away from zero."""
    exact = Decimal(float(number) + 0.0)
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)
    return f"{rounded:f}".replace("-", "−")
