"""The agreement of two runs: integers and booleans exactly, floats within the tolerance of their
dtype relative to the value and to the largest of its array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

TOLERANCE = {"float32": 1e-4, "float64": 1e-9}
"""Largest |found - expected| / (|expected| + max |expected|)."""


@dataclass(frozen=True)
class Deviation:
    """The deviation of one array from its expected values.

    `worst` is the largest deviation relative to the value and the largest of the array (the number
    of differing elements where they are integers or booleans), at the element `place`.
    """

    name: str
    elements: int
    worst: float
    tolerance: float
    place: tuple[int, ...] = ()
    found: str = ""
    expected: str = ""

    @property
    def agrees(self) -> bool:
        """Tell whether the deviation is within the tolerance."""
        return self.worst <= self.tolerance

    def __str__(self) -> str:
        at = f"{self.name}[{', '.join(map(str, self.place))}]" if self.place else self.name
        if self.tolerance:
            how = f"off by {self.worst:.2g} of its size, more than {self.tolerance:g}"
        elif self.worst == 1.0:
            how = "the only element that differs"
        else:
            how = f"{self.worst:.0f} elements differ"
        return f"{at} is {self.found}, expected {self.expected} ({how})"


def deviations(
    found: Mapping[str, Any], expected: Mapping[str, Any], dtype: str
) -> tuple[Deviation, ...]:
    """Compare each expected array with the one found under its name."""
    return tuple(
        deviation(name, np.asarray(found[name]), np.asarray(values), dtype)
        for name, values in expected.items()
    )


def deviation(
    name: str, found: npt.NDArray[Any], expected: npt.NDArray[Any], dtype: str
) -> Deviation:
    """Compare one array. NaN agrees with NaN only, an infinity with the same one only."""
    if found.shape != expected.shape:  # then no element is where it should be
        shapes = (f"of shape {found.shape}", f"one of {expected.shape}")
        return Deviation(name, expected.size, float(max(1, expected.size)), 0.0, (), *shapes)
    inexact = expected.dtype.kind == "f"
    if not expected.size:
        return Deviation(name, 0, 0.0, TOLERANCE[dtype] if inexact else 0.0)
    off = _off(found, expected) if inexact else (found != expected).astype(float)
    place = tuple(int(k) for k in np.unravel_index(int(np.argmax(off)), off.shape))
    worst = float(off[place]) if inexact else float(off.sum())
    texts = (_short(found[place]), _short(expected[place]))
    return Deviation(
        name, expected.size, worst, TOLERANCE[dtype] if inexact else 0.0, place, *texts
    )


def _off(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return |found - expected| relative to |expected| + max |expected|; infinite where only one is
    a number.
    """
    expected = expected.astype(np.float64)
    found = found.astype(np.float64)
    finite = np.isfinite(expected)
    largest = float(np.abs(expected[finite]).max()) if finite.any() else 0.0
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(all="ignore"):
        off = np.abs(found - expected) / (np.abs(expected) + largest)
    number = finite & np.isfinite(found) & ~np.isnan(off)
    result: npt.NDArray[np.float64] = np.where(same, 0.0, np.where(number, off, np.inf))
    return result


def _short(value: Any) -> str:
    return f"{float(value):.6g}" if np.asarray(value).dtype.kind == "f" else str(value)
