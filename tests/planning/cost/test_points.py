"""The iterations that are looked at of loops with too many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.planning.cost import points
from workbench.planning.cost.points import PointCounts, total
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import expression, size, variable

N = size("N")
T, S = variable("t"), variable("s")
NEEDED = frozenset({"t", "s"})


def turns(n: int) -> PointCounts:
    """Return the points of a loop over t from 0 to n."""
    return PointCounts({"N": n}).inside("t", expression(0), N, NEEDED)


@pytest.mark.parametrize("n", [1, 127, 65_536, 65_537, 70_000, 10**7, 10**7 + 1, 10**15 + 7])
def test_iterations_are_counted_exactly(n: int) -> None:
    found = turns(n)
    assert found.executions == n
    assert len(found.values["t"]) < 2 * points.AT_ONCE


@pytest.mark.parametrize("n", [65_537, 70_000, 123_457, 10**7])
def test_linear_amounts_add_up_exactly(n: int) -> None:
    found = turns(n)
    assert total(found.at(T), found.weight) == n * (n - 1) // 2


@pytest.mark.parametrize("n", [10**6, 10**9 + 3])
def test_first_and_last_iterations_stand_for_themselves(n: int) -> None:
    found = turns(n)
    for there in (expression(0), expression(1), N - 1):
        assert found.where(AffineComparison(T, "==", there)).executions == 1


@pytest.mark.parametrize("every", [2, 8, 10, 64, 100])
def test_condition_on_every_so_many_holds_at_its_share(every: int) -> None:
    n = 10**9
    found = turns(n).where(AffineComparison(T - T // every * every, "==", expression(0)))
    assert found.executions == pytest.approx(n / every, rel=0.01)


def test_loop_in_a_loop_is_looked_at_no_more_often() -> None:
    n = 10**9
    found = turns(n).inside("s", T, N, NEEDED)
    assert len(found.values["s"]) < 4 * points.AT_ONCE
    assert found.executions == pytest.approx(n * (n + 1) / 2)
    assert math.isfinite(float(np.sum(found.at(T + S))))
