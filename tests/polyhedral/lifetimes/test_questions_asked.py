"""How much is asked to find lifetimes: blocks ask nothing new, and no question comes twice."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import islpy as isl
import pytest

import workbench as wb
from workbench.algorithms import ppo
from workbench.polyhedral.expression import expression, size
from workbench.polyhedral.lifetimes import folding
from workbench.polyhedral.lifetimes.conflicts import Conflict
from workbench.polyhedral.lifetimes.windows import together
from workbench.transforms import Tile
from workbench.variants.variant import Variant


def conflicts_of(found: Variant) -> dict[str, tuple[Conflict, ...]]:
    program = found.program
    extents = {a.name: a.extent for a in program.arrays}
    instances = {s.name: s.instances for s in program.statements}
    found_together = together(extents, program.schedule, instances)
    return {array: life.conflicts for array, life in found_together.items()}


def test_blocks_right_around_their_loops_ask_nothing_new() -> None:
    root = wb.variant(ppo(B=2, I=2, T=3, E=2, M=2, hidden=(3,) * 3, layers="dim"))
    tiled = root
    for block in (4, 2):
        for dim in root.program.dims:
            tiled = tiled.apply(Tile(dim.name, block))
    assert tiled.schedule != root.schedule
    assert conflicts_of(tiled) == conflicts_of(root)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The windows that are asked: of which distances, of which dimension."""
    asked: list[tuple[str, int]] = []
    window = folding._window

    def counted(distances: isl.Set, position: int, *rest: Any) -> Any:
        asked.append((str(distances), position))
        return window(distances, position, *rest)

    monkeypatch.setattr(folding, "_window", counted)
    return asked


def test_window_is_asked_once_for_what_came_before(asked: list[tuple[str, int]]) -> None:
    names = [f"x{k}" for k in range(5)]
    limits = " and ".join(f"-{k + 1} <= {x} <= {k + 1}" for k, x in enumerate(names))
    distances = isl.Set(f"{{ [{', '.join(names)}] : {limits} }}")
    extent = tuple((expression(0), size("N")) for _ in names)
    orders = folding._Folding(distances, extent, {}, {})
    first, *others = (orders.in_order(order) for order in permutations(range(5)))
    assert first == tuple(map(expression, (2, 3, 4, 5, 6)))
    assert set(others) == {None}  # none takes fewer slots
    assert len(asked) == len(set(asked)) == 5 * 2**4


def test_order_that_takes_more_slots_is_left_early(asked: list[tuple[str, int]]) -> None:
    distances = isl.Set("{ [x, y] : y = 9 x and -1 <= x <= 1 }")
    orders = folding._Folding(distances, ((expression(0), size("N")),) * 2, {}, {})
    assert orders.in_order((0, 1)) == (expression(2), expression(1))
    assert orders.in_order((1, 0)) is None
    assert [position for _, position in asked] == [0, 1, 1]
    assert orders.fewest == 2
