"""Barriers between two pieces of code: none where one thread touches what the other did, one of
warps where all that do are in one warp, else one of the block. By enumeration of who runs what.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workbench.codegen.cuda.threads.barriers import Barriers
from workbench.codegen.cuda.threads.product_pieces import ONE
from workbench.codegen.cuda.threads.thread_accesses import Block
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
    Code,
    Elements,
    Everywhere,
    First,
    Lane,
    Points,
    Rows,
    Tile,
    Together,
)
from workbench.codegen.cuda.threads.warps import WARP
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Load,
    Loop,
    Number,
    Store,
)
from workbench.polyhedral.expression import Expression, expression, minimum, size, variable

THREADS, PARTS = 128, 16
BARRIER, OF_WARPS = Barrier(), Barrier(of_warps=True)
n, lane, row, block = map(variable, ("n", "b", "r", "block"))


def writes(at: Expression) -> KernelRecord:
    return Store("x", at, Number(1.0, "float32"))


def reads(at: Expression) -> KernelRecord:
    return Let("value", Load("x", at, "float32"))


def elements(count: int, record: KernelRecord) -> Code:
    return Elements(Loop("n", expression(0), expression(count), (record,), lanes=True))


def points(count: int, record: KernelRecord) -> Code:
    return Points(Loop("n", expression(0), expression(count), (record,), lanes=True))


def tile(lanes: int, body: Code) -> Code:
    """The lanes of a block, of which there may be less at the end."""
    upper = minimum(size("B"), lanes * block + lanes)
    return Tile(Loop("b", lanes * block, upper, (), lanes=True), (body,))


def lanes(count: int, record: KernelRecord) -> Code:
    return tile(count, Lane((record,), by_all=False))


def rows(count: int, record: KernelRecord, lanes: int) -> Code:
    return tile(lanes, Rows(Loop("r", expression(0), expression(count), (record,))))


def product(rows: int, columns: int, step: int, piece: tuple[int, int]) -> Code:
    """With so many places from row to row."""
    at, (high, wide) = expression(0), piece
    options = {"rows": rows, "columns": columns, "out_step": step, "times": 3, "into": False}
    options |= {"high": high, "wide": wide}
    return Together(Invoke("product", ("x", at), (("y", at), ("z", at)), tuple(options.items())))


def barriers(codes: tuple[Code, ...], tile_lanes: int = 16) -> list[Barrier]:
    """The barriers in code, from front to back."""

    def found(codes: tuple[Code, ...]) -> Iterator[Barrier]:
        for code in codes:
            if isinstance(code, Barrier):
                yield code
            elif isinstance(code, (Around, Tile)):
                yield from found(code.body)

    known = Block(THREADS, tile_lanes, frozenset(), {}, {})
    return list(found(Barriers(str.__eq__, str.__eq__).of(codes, known)))


def needed(pairs: set[tuple[int, int]]) -> list[Barrier]:
    """The barrier between threads that meet."""
    if all(one == other for one, other in pairs):
        return []
    apart = any(one // WARP != other // WARP for one, other in pairs)
    return [BARRIER if apart else OF_WARPS]


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 200])
def test_elements_that_others_read(count: int) -> None:
    """Turn n is of thread n, which writes the element that the last but n reads."""
    codes = elements(count, writes(n)), elements(count, reads(count - 1 - n))
    dealt = {(n % THREADS, (count - 1 - n) % THREADS) for n in range(count)}
    assert barriers(codes) == needed(dealt)


@pytest.mark.parametrize("count", [1, 7, 32, 33])
def test_points_that_elements_wrote(count: int) -> None:
    codes = elements(count, writes(n)), points(count, reads(n))
    assert barriers(codes, 8) == needed({(k, k % PARTS) for k in range(count)})


@pytest.mark.parametrize("count", [8, 16, 24, 32, 64])
def test_points_that_lanes_wrote(count: int) -> None:
    """Lanes of a tile, the first thread of each, and sixteen threads that add them up."""
    codes = lanes(count, writes(lane - count * block)), points(count, reads(n))
    assert barriers(codes, count) == needed({(k, k % PARTS) for k in range(count)})


@pytest.mark.parametrize("lanes_of_tile", [8, 16, 32])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_rows_that_a_lane_reads(count: int, lanes_of_tile: int) -> None:
    """The last row of a lane, which its first thread looks at."""
    at = lane - lanes_of_tile * block
    codes = (
        rows(count, writes(at + lanes_of_tile * row), lanes_of_tile),
        lanes(lanes_of_tile, reads(at + (count - 1) * lanes_of_tile)),
    )
    dealt = {((count - 1) * lanes_of_tile + k, k) for k in range(lanes_of_tile)}
    assert barriers(codes, lanes_of_tile) == needed(dealt)


@pytest.mark.parametrize(
    ("sides", "piece", "pieces"),
    [
        ((1, 16), (4, 4), 4),
        ((2, 128), (4, 4), 32),
        ((5, 64), (4, 4), 32),
        ((9, 44), (4, 4), 33),
        ((5, 36), (2, 4), 27),
        ((5, 44), (2, 4), 33),
    ],
)
def test_a_product_whose_pieces_others_read(
    sides: tuple[int, int], piece: tuple[int, int], pieces: int
) -> None:
    """A thread sums some rows and columns."""
    codes = product(*sides, sides[1], piece), points(16, reads(n))
    assert barriers(codes) == [OF_WARPS if pieces <= WARP else BARRIER]


@pytest.mark.parametrize("side_by_side", [True, False])
@pytest.mark.parametrize("sides", [(1, 24), (4, 9), (3, 64)])
def test_a_product_that_is_summed_one_by_one(sides: tuple[int, int], side_by_side: bool) -> None:
    """Place n of a result without gaps is of thread n; of one with gaps others may be."""
    count = sides[0] * sides[1]
    step = sides[1] + (not side_by_side)
    of_thread = product(*sides, step, ONE), elements(count, reads(n))
    one_row = sides[0] == 1
    assert (barriers(of_thread) == []) is (side_by_side or one_row)
    codes = product(*sides, step, ONE), elements(count, reads(count - 1 - n))
    dealt = {(n % THREADS, (count - 1 - n) % THREADS) for n in range(count)}
    if side_by_side or one_row:
        assert barriers(codes) == needed(dealt)


@pytest.mark.parametrize("count", [1, 2])
def test_a_row_that_is_summed_one_by_one_for_lanes(count: int) -> None:
    """Its number n is of thread n, as lane n is; the second row's is of another thread."""
    at = lane - 16 * block
    codes = product(count, 16, 16, ONE), lanes(16, reads(at + 16 * (count - 1)))
    assert barriers(codes) == ([] if count == 1 else [OF_WARPS])


@pytest.mark.parametrize("lanes_of_tile", [16, 64])
def test_a_product_in_lanes_that_is_summed_one_by_one(lanes_of_tile: int) -> None:
    """A lane's row is of the thread of that lane and row."""
    at = lane - lanes_of_tile * block
    codes = (
        product(5, lanes_of_tile, lanes_of_tile, ONE),
        rows(5, reads(at + lanes_of_tile * row), lanes_of_tile),
    )
    assert barriers(codes, lanes_of_tile) == []
    codes = (
        product(5, lanes_of_tile, lanes_of_tile, ONE),
        rows(5, reads(at + lanes_of_tile * (4 - row)), lanes_of_tile),
    )
    assert barriers(codes, lanes_of_tile) == [BARRIER]


@pytest.mark.parametrize(("step", "apart"), [(2, 1), (3, 2), (2, 2), (3, 6)])
def test_elements_side_by_side_of_which_a_thread_has_some(step: int, apart: int) -> None:
    codes = elements(40, writes(step * n)), elements(40, reads(step * n + apart))
    dealt = {
        (k, (step * k - apart) // step)
        for k in range(40)
        if (step * k - apart) % step == 0 and step * k >= apart
    }
    assert barriers(codes) == needed(dealt)


@pytest.mark.parametrize("coincides", [True, False])
def test_arrays_one_of_which_takes_over_the_memory_of_the_other(coincides: bool) -> None:
    """Then a thread finds its own elements; those of another size, or further on, may be others."""
    codes = elements(40, writes(n)), elements(40, Let("value", Load("y", n, "float32")))
    block = Block(THREADS, PARTS, frozenset(), {}, {})
    found = tuple(Barriers(lambda *_: True, lambda *_: coincides).of(codes, block))
    assert (BARRIER in found) is not coincides


@pytest.mark.parametrize("count", [8, 16])
@pytest.mark.parametrize("begin", [0, 20, 24, 32, 39, 40, 100])
def test_elements_some_of_which_others_read(begin: int, count: int) -> None:
    """Turn n is of thread n; so many in a row are read by the first threads."""
    codes = elements(40, writes(n)), points(count, reads(n + begin))
    dealt = {(k + begin, k) for k in range(count) if k + begin < 40}
    assert barriers(codes) == needed(dealt)


@pytest.mark.parametrize(("at", "step"), [(31, 1), (32, 1), (63, 2), (64, 2), (200, 1)])
def test_an_element_that_the_first_thread_reads(at: int, step: int) -> None:
    codes = elements(80, writes(step * n)), First((reads(expression(at)),))
    dealt = {(at // step, 0)} if at % step == 0 and at < 80 * step else set()
    assert barriers(codes) == needed(dealt) or at % step


def test_what_all_threads_read_or_the_first_alone() -> None:
    first, alone = First((writes(expression(0)),)), First((reads(expression(0)),))
    assert barriers((first, alone)) == []
    assert barriers((first, Everywhere((reads(expression(0)),)))) == [BARRIER]
    assert barriers((elements(1, writes(n)), alone)) == []


def test_a_barrier_of_warps_leaves_what_other_warps_read() -> None:
    """The block waits for the first code only where its other threads read what that wrote."""
    codes = lanes(32, writes(lane - 32 * block)), points(32, reads(n)), elements(64, reads(63 - n))
    assert barriers(codes, 32) == [OF_WARPS, BARRIER]
    assert barriers((codes[0], codes[2], codes[1]), 32) == [BARRIER]


def test_turns_of_a_loop_wait_for_each_other_in_a_warp() -> None:
    """What is read in a turn is written in the next, behind a loop that is not left before."""
    body = lanes(32, writes(lane - 32 * block)), points(32, reads(n))
    loop = Loop("t", expression(0), size("T"), (Store("x", expression(0), Number(1.0, "float32")),))
    assert barriers((Around(loop, body),), 32) == [OF_WARPS, OF_WARPS]
    behind = elements(64, writes(63 - n))
    assert barriers((Around(loop, body), behind), 32) == [OF_WARPS, OF_WARPS, BARRIER]


def test_a_barrier_of_the_block_between_turns_takes_the_place_of_one_of_warps() -> None:
    """Lanes wait for the points of their warp, and for all who read in the turn before."""
    loop = Loop("t", expression(0), size("T"), (Store("x", expression(0), Number(1.0, "float32")),))
    body = (
        points(32, Store("y", n, Number(1.0, "float32"))),
        lanes(32, Store("x", lane - 32 * block, Load("y", expression(0), "float32"))),
        elements(64, Let("value", Load("y", 63 - n, "float32"))),
    )
    assert barriers((Around(loop, body),), 32).count(OF_WARPS) == 1
