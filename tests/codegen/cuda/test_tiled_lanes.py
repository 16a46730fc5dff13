"""Lanes in tiles: each lane in one tile, and only lanes that share no more than their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest

from workbench.codegen.cuda.tiled_lanes import TILE, in_tiles
from workbench.codegen.dealing import Dealing
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Number,
    Scratch,
    Serves,
    Store,
    Update,
    Variable,
)
from workbench.codegen.kernels import KernelRecords
from workbench.polyhedral.expression import expression, size, variable

LANE = variable("b")
MEMORY = Scratch("held", "float", expression(8))


def rows(name: str = "row") -> Loop:
    row = variable(name)
    copied = Store("held", row, Load("x", 8 * LANE + row, "float"))
    return Loop(name, expression(0), expression(8), (copied,))


ROWS = rows()
STORED = Store("y", LANE, Load("held", expression(0), "float"))
SUM = (Variable("sum", Number(0.0, "float")), Update("sum", Local("sum", "float"), "add"))


def over_lanes(*body: KernelRecord, lanes: bool = True) -> Loop:
    return Loop("b", expression(2), size("B"), body, lanes=lanes)


def over_axes(inside: Loop, own: str = "y") -> Loop:
    """Two array axes around a loop over lanes, that of fewer values outside."""
    t = Loop("t", expression(1), size("T"), (Serves("one"), inside), own=own)
    return Loop("n", expression(0), size("N"), (t,), own=own)


def kernel(*records: KernelRecord) -> KernelRecords:
    return KernelRecords((), ("x", "y"), records, (), ("t",), {})


@pytest.mark.parametrize("last", [3, 2 + TILE - 1, 2 + TILE, 3 + TILE, 100])
def test_each_lane_is_in_one_tile(last: int) -> None:
    made = in_tiles(kernel(Serves("one"), over_lanes(MEMORY, ROWS)))
    before, blocks = made.records
    assert before == Serves("one") and isinstance(blocks, Loop) and made.dealing is not None
    (tile,) = blocks.body
    assert isinstance(tile, Loop) and tile.lanes and tile.body == (MEMORY, ROWS)
    assert blocks.range == (made.dealing.first, made.dealing.blocks)
    assert made.dealing.chunks == made.dealing.blocks
    found: list[int] = []
    for number in range(blocks.upper.evaluate({"B": last})):
        low, high = (e.evaluate({"B": last, blocks.variable: number}) for e in tile.range)
        assert low < high <= low + TILE
        found += range(low, high)
    assert found == list(range(2, last))


@pytest.mark.parametrize(("last", "steps"), [(3, 1), (40, 3), (70, 5)])
def test_each_lane_of_each_turn_of_axes_is_in_one_tile(last: int, steps: int) -> None:
    made = in_tiles(kernel(over_axes(over_lanes(MEMORY, ROWS, STORED))))
    (blocks,) = made.records
    assert isinstance(blocks, Loop) and made.dealing == Dealing(*blocks.range, blocks.upper)
    sizes = {"B": last, "T": steps, "N": 2}
    found: list[tuple[int, ...]] = []

    def visit(loop: Loop, at: Mapping[str, int]) -> None:
        low, high = (e.evaluate({**sizes, **at}) for e in loop.range)
        assert high == low + 1 or loop.variable in ("b", blocks.variable)
        (inside,) = (r for r in loop.body if isinstance(r, Loop)) if not loop.lanes else (None,)
        for turn in range(low, high):
            now = {**at, loop.variable: turn}
            if inside is None:
                found.append((now["n"], now["t"], now["b"]))
            else:
                visit(inside, now)

    visit(blocks, {})
    each = product(range(2), range(1, steps), range(2, last))
    assert sorted(found) == sorted(each) and len(found) == (steps - 1) * 2 * (last - 2)


def test_names_are_new() -> None:
    taken = over_lanes(MEMORY, rows("tile of b"))
    made = in_tiles(replace(kernel(over_axes(taken)), variables=("run of b", "block of b")))
    blocks = made.records[-1]
    assert isinstance(blocks, Loop)
    assert not {blocks.variable, made.chunk} & {"b", "tile of b", "run of b", "block of b", ""}


DEALT = replace(
    kernel(over_lanes(MEMORY, ROWS)), dealing=Dealing(expression(0), size("B"), size("B"))
)


@pytest.mark.parametrize(
    "other",
    [
        kernel(over_lanes(ROWS)),
        kernel(over_lanes(MEMORY, Let("y", Load("x", LANE, "float")))),
        kernel(over_lanes(MEMORY, ROWS, lanes=False)),
        kernel(SUM[0], over_lanes(MEMORY, ROWS, SUM[1])),
        kernel(Store("y", expression(0), Number(1.0, "float")), over_lanes(MEMORY, ROWS)),
        kernel(over_axes(over_lanes(MEMORY, ROWS, STORED), own="")),
        kernel(over_axes(over_lanes(MEMORY, ROWS, STORED), own="z")),
        kernel(over_axes(replace(over_lanes(MEMORY, ROWS, STORED), lower=variable("t")))),
        DEALT,
    ],
    ids=[
        "no memory",
        "no rows",
        "no lanes",
        "a sum",
        "more in front",
        "no axes",
        "axes of another",
        "lanes from t on",
        "blocks of a program",
    ],
)
def test_others_stay_as_they_are(other: KernelRecords) -> None:
    assert in_tiles(other) is other
