"""Partial sums in registers: which threads can keep, in which pieces, and which they keep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.codegen.cuda.sums.chunk_sums import ChunkRecords, ChunkSum
from workbench.codegen.cuda.sums.kept_sums import (
    KEPT,
    WRITTEN,
    KeptSum,
    kept_for_room,
    kept_sums,
    most_kept,
    with_kept_sums,
)
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Number,
    Scratch,
    Store,
    walk,
    writes,
)
from workbench.polyhedral.expression import expression, variable

K, THREADS = variable("k"), 128


def added(rows: int, columns: int, function: str = "product", **more: int) -> Invoke:
    """What a block adds to the sum."""
    steps = {"out_step": columns, "into": 1} | ({} if function == "product" else {"next": 1})
    options = {"rows": rows, "columns": columns, "times": 32, **steps, **more}
    operands = (("left", expression(0)), ("right", expression(0)))
    return Invoke(function, ("sum", expression(0)), operands, tuple(options.items()))


def records(elements: int, *block: KernelRecord, first: float = 0.0) -> ChunkRecords:
    """A chunk that begins a sum, and adds to it."""
    store = Store("sum", K, Number(first, "float"))
    begun = Loop("k", expression(0), expression(elements), (store,), lanes=True)
    written = Store("sums", K, Load("sum", K, "float"))
    behind = Loop("k", expression(0), expression(elements), (written,), lanes=True)
    memory = Scratch("sum", "float", expression(elements))
    return ChunkRecords((memory, begun), block, (behind,))


def found(elements: int, *block: KernelRecord, first: float = 0.0) -> list[KeptSum]:
    one = ChunkSum("sums", elements, "float", "gradient", "sum")
    return kept_sums(records(elements, *block, first=first), [one], THREADS)


@pytest.mark.parametrize(
    ("record", "pieces"),
    [
        (added(64, 64), (64, 64, 4, 4, 2)),
        (added(46, 50), (46, 50, 4, 4, 2)),
        (added(4, 64), (4, 64, 1, 2, 1)),
        (added(1, 64), (1, 64, 1, 1, 1)),
        (added(3, 100), (3, 100, 1, 2, 2)),
        (added(2, 200, "lane_sums"), (1, 400, 1, 1, 4)),
        (added(2, 200, "lane_sums", out_step=1, next=2), (1, 400, 1, 1, 4)),
        (added(1, 64, "lane_sums", out_step=1), (1, 64, 1, 1, 1)),
    ],
)
def test_a_thread_has_pieces_of_a_sum(record: Invoke, pieces: tuple[int, ...]) -> None:
    option = record.option
    (one,) = found(option["rows"] * option["columns"], record)
    assert (one.rows, one.columns, one.high, one.wide, one.each) == pieces
    across = -(-one.columns // one.wide)
    assert one.each == -(-(-(-one.rows // one.high) * across) // THREADS)


READ = Let("x", Load("sum", K, "float"))
OTHER = Store("sum", K, Local("x", "float"), "add")


@pytest.mark.parametrize(
    "block",
    [
        (added(8, 8), added(4, 16)),
        (added(8, 8), READ),
        (added(8, 8), OTHER),
        (added(8, 4),),
        (added(8, 8, out_step=9),),
        (added(8, 8, into=0),),
        (added(8, 8, "lane_sums", out_step=2, next=8),),
        (replace(added(8, 8), out=("sum", expression(1))),),
        (replace(added(8, 8), function="turned"),),
        (replace(added(8, 8), operands=(("sum", expression(0)), ("y", expression(0)))),),
        (Loop("t", expression(0), variable("T"), (added(8, 8),)),),
    ],
    ids=[
        "other elements for a thread", "read", "added to by others", "a part", "gaps",
        "written over", "other places", "elsewhere", "no sum", "a factor", "in turns",
    ],
)  # fmt: skip
def test_other_sums_stay_in_memory(block: tuple[KernelRecord, ...]) -> None:
    assert not found(64, *block)


@pytest.mark.parametrize("first", [1.0, -0.0])
def test_a_sum_that_begins_with_another_number_stays_in_memory(first: float) -> None:
    assert not found(64, added(8, 8), first=first)


def kept(name: str, elements: int, numbers: int) -> KeptSum:
    one = ChunkSum(name, elements, "float", "gradient", name)
    return KeptSum(one, 1, elements, 1, 1, numbers)


@pytest.mark.parametrize(
    ("room", "numbers", "names"),
    [
        (30, 99, ""),
        (29, 99, "a"),
        (20, 99, "a"),
        (19, 99, "ab"),
        (19, 5, "a"),
        (19, 3, "b"),
        (9, 99, "a"),
        (0, 99, "ab"),
    ],
)
def test_the_largest_sums_are_kept_where_there_is_no_room(
    room: int, numbers: int, names: str
) -> None:
    """Of two sums, of 10 and of 8 bytes, and an array of 12."""
    sums = [kept("a", 10, 4), kept("b", 8, 3)]
    chosen = kept_for_room(sums, {"a": 10, "b": 8, "array": 12}, room, numbers)
    assert "".join(one.sum.name for one in chosen) == names


def test_a_thread_keeps_a_third_of_its_registers() -> None:
    assert [most_kept(threads, 4) for threads in (128, 512, 1024)] == [85, 42, 21]
    assert most_kept(128, 8) == 21


def test_records_write_a_kept_sum_once() -> None:
    before = records(4096, added(64, 64))
    made = with_kept_sums(before, "chunk", found(4096, added(64, 64)))
    assert not made.begun
    (inside,) = made.block
    assert isinstance(inside, Invoke) and inside.function == f"{KEPT}product"
    (behind,) = (r for r in walk(made.behind) if "sums" in writes(r))
    assert isinstance(behind, Invoke) and behind.function == WRITTEN
    assert behind.out == ("sums", 4096 * variable("chunk"))
    assert {"high": 4, "wide": 4, "each": 2}.items() <= behind.option.items()
