"""Arrays that a block has in shared memory: it reads all of each; others are elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest

from workbench.codegen.cuda.sums.chunk_sums import ChunkRecords
from workbench.codegen.cuda.whole_arrays import arrays_of, with_arrays_on_chip
from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Let,
    Load,
    Local,
    Loop,
    Serves,
    Store,
    loads,
    reads,
    walk,
)
from workbench.codegen.kernels import KernelRecords
from workbench.lowering.loops.records import Buffer
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression, size, variable

B, ROW = variable("b"), variable("row")


def buffer(name: str, elements: Expression | int) -> Buffer:
    return Buffer(name, "float", (expression(elements),))


BUFFERS = {
    "w": buffer("w", 64),
    "same": buffer("same", 64),
    "large": buffer("large", 4096),
    "sized": buffer("sized", size("N")),
}
MEMORY = {"same": "w"}


def found(*records: KernelRecord, apart: tuple[str, ...] = ()) -> Mapping[str, tuple[str, int]]:
    kernel = KernelRecords((), tuple(BUFFERS), (), (), (), {})
    name = partial(unique, taken=set[str]())
    of = arrays_of(kernel, ChunkRecords((), records), BUFFERS, MEMORY, apart, name)
    return {one.array: (one.statement, one.elements) for one in of}


def over_lanes(*records: KernelRecord, times: int = 8) -> Loop:
    inside = Loop("row", expression(0), expression(times), records)
    return Loop("b", 16 * variable("n"), 16 * variable("n") + 16, (inside,), lanes=True)


def read(name: str) -> Let:
    return Let("x", Load(name, ROW, "float"))


def product(left: str, right: str) -> Invoke:
    sides = (("rows", 64), ("columns", 16), ("times", 64))
    operands = (left, expression(0)), (right, expression(0))
    return Invoke("product", ("out", expression(0)), operands, sides)


def test_an_array_that_lanes_read_all_of_is_found_with_its_first_statement() -> None:
    records = (Serves("first"), over_lanes(read("w")), Serves("other"), over_lanes(read("w")))
    assert found(*records) == {"w": ("first", 64)}


def test_a_factor_of_a_product_is_found() -> None:
    assert found(product("large", "tile")) == {"large": ("", 4096)}


STORED = Store("same", B + 0, Local("x", "float"))


@pytest.mark.parametrize(
    "records",
    [
        (over_lanes(read("large")),),
        (over_lanes(read("sized"), times=1000),),
        (over_lanes(read("w")), over_lanes(STORED)),
        (over_lanes(read("w")), Invoke("sorted", ("out", B + 0), (("w", expression(0)),))),
        (over_lanes(read("unknown")),),
    ],
    ids=["few are read", "a size of a run", "written", "given to a function", "from outside"],
)
def test_other_arrays_stay_where_they_are(records: tuple[KernelRecord, ...]) -> None:
    assert found(*records) == {}


def test_what_lies_in_shared_memory_already_stays_there() -> None:
    assert found(over_lanes(read("w")), apart=("w",)) == {}


def test_a_block_reads_the_copy() -> None:
    kernel = KernelRecords((), tuple(BUFFERS), (), (), (), {})
    records = ChunkRecords((), (over_lanes(read("w")), product("large", "tile")))
    name = partial(unique, taken=set[str]())
    arrays = arrays_of(kernel, records, BUFFERS, MEMORY, (), name)
    made = with_arrays_on_chip(records, arrays)
    copied = {load.buffer for record in walk(made.begun) for load in loads(record)}
    assert copied == {"w", "large"}
    now = {name for record in walk(made.block) for name in reads(record)}
    assert now == {"w of block", "large of block", "tile"}
