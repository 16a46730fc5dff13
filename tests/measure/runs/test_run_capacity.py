"""Runs of a program under a capacity: the automatic recipe keeps to it, or says that it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.transforms import Swap


@wb.program
def there_and_back(B: int = 64, T: int = 50) -> dict[str, Any]:
    """What is drawn on the way there is needed on the way back."""
    b, t = wb.dims(b=B, t=T)
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 0.0
    s[b, t + 1] = wb.tanh(s) + wb.normal(over=(b, t))
    g = wb.recurrent("g", (), over=(b, t))
    g[b, T] = s[b, T]
    g[b, t] = 0.5 * g[b, t + 1] + wb.cos(s)
    return {"g": g[b, 0]}


def test_program_of_which_only_other_variants_than_the_fastest_fit_runs() -> None:
    free = wb.run(there_and_back(), progress=False, backend="numpy")
    half = free.peak_bytes // 2
    for capacity in (half, {"device": np.int64(half)}):
        found = wb.run(there_and_back(), capacity=capacity, progress=False, backend="numpy")
        assert found.peak_bytes <= half
        np.testing.assert_array_equal(found["g"], free["g"])
    with pytest.raises(WorkbenchError, match="device out of memory"):
        wb.run(free.variant, capacity=half, progress=False, backend="numpy")


def test_program_that_fits_from_the_host_only_runs() -> None:
    found = wb.run(there_and_back(), capacity=4_000, progress=False, backend="numpy")
    assert found.peak["device"] <= 4_000 < found.peak["device"] + found.peak["host"]
    assert any(isinstance(step, Swap) for step in found.variant.steps)
    np.testing.assert_array_equal(
        found["g"], wb.run(there_and_back(), progress=False, backend="numpy")["g"]
    )


def test_program_that_fits_runs_as_without_a_capacity() -> None:
    free = wb.run(there_and_back(), progress=False, backend="numpy")
    found = wb.run(there_and_back(), capacity=free.peak_bytes, progress=False, backend="numpy")
    assert found.variant.key == free.variant.key


def test_program_that_nothing_makes_fit_is_refused_with_the_least_that_was_found() -> None:
    message = "there_and_back does not fit into 1 kB: the least that was found is 2.32 kB on the"
    with pytest.raises(WorkbenchError, match=message):
        wb.run(there_and_back(), capacity=1000, progress=False, backend="numpy")


def test_what_is_no_capacity_is_refused_before_anything_is_looked_for() -> None:
    with pytest.raises(WorkbenchError, match="unknown memory space 'gpu'"):
        wb.run(there_and_back(), capacity={"gpu": 1}, progress=False, backend="numpy")
