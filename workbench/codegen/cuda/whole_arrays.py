"""Arrays that a block only reads, and all of: it copies each to shared memory once, in front of its
blocks of the program, so that what all lanes need does not come from other memory for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.cuda.slices.moved import Elsewhere, Moving
from workbench.codegen.cuda.sums.chunk_sums import ChunkRecords
from workbench.codegen.cuda.threads.independent_turns import most, width
from workbench.codegen.kernel_records import (
    PRODUCTS,
    Invoke,
    KernelRecord,
    Load,
    Loop,
    Scratch,
    Serves,
    Store,
    Where,
    loads,
    walk,
    writes,
)
from workbench.codegen.kernels import KernelRecords
from workbench.lowering.loops.records import Buffer
from workbench.polyhedral.expression import expression, variable


@dataclass(frozen=True)
class WholeArray:
    """An array of `elements` that a block only reads: its dtype, the first statement that reads it,
    and its name in shared memory.
    """

    array: str
    elements: int
    dtype: str
    statement: str
    name: str


def arrays_of(
    kernel: KernelRecords,
    records: ChunkRecords,
    buffers: Mapping[str, Buffer],
    memory: Mapping[str, str],
    apart: Collection[str],
    name: Callable[[str], str],
) -> list[WholeArray]:
    """Return the arrays that a block could have in shared memory, the smallest first: of a fixed
    size, written by nobody meanwhile, and of whose elements each is read in a block of the program,
    on average. Those that are `apart` lie there already.
    """
    everything = (*records.begun, *records.block, *records.behind)
    written = {memory.get(n, n) for record in walk(everything) for n in writes(record)}
    others = {n for record in walk(everything) for n in _given_otherwise(record)}
    found: list[WholeArray] = []
    for array, (statement, times) in _uses(records.block).items():
        if array in kernel.own or array in apart or array in others or array not in buffers:
            continue
        of = buffers[array]
        if of.elements.terms or memory.get(array, array) in written:
            continue
        if of.elements.constant <= times:
            wish = f"{array} of block"
            found.append(WholeArray(array, of.elements.constant, of.dtype, statement, name(wish)))
    return sorted(found, key=lambda one: one.elements)


def with_arrays_on_chip(records: ChunkRecords, arrays: Sequence[WholeArray]) -> ChunkRecords:
    """Return the records with arrays in shared memory."""
    moving = Moving({one.array: Elsewhere(one.name, expression(0)) for one in arrays}, {})
    memory = (Scratch(one.name, one.dtype, expression(one.elements)) for one in arrays)
    copies = (record for one in arrays for record in _copied(one))
    return replace(
        records, begun=(*memory, *copies, *records.begun), block=moving.records(records.block)
    )


def _copied(one: WholeArray) -> Iterator[KernelRecord]:
    """Yield what copies an array to shared memory."""
    name = f"element of {one.name}"
    k = variable(name)
    store = Store(one.name, k, Load(one.array, k, one.dtype))
    yield Serves(one.statement)
    yield Loop(name, expression(0), expression(one.elements), (store,), lanes=True)


def _given_otherwise(record: KernelRecord) -> Iterator[str]:
    """Yield the buffers that a function is given which does more than to sum products."""
    if isinstance(record, Invoke) and record.function not in PRODUCTS:
        yield from (buffer for buffer, _ in record.operands)


def _uses(records: Sequence[KernelRecord]) -> dict[str, tuple[str, int]]:
    """Return each buffer that records load, with the first statement that does, and about how many
    elements are loaded at least: a loop of which sizes of a run say how long it is counts once.
    """
    found: dict[str, tuple[str, int]] = {}
    statement = ""

    def count(body: Sequence[KernelRecord], times: int) -> None:
        nonlocal statement
        for record in body:
            if isinstance(record, Serves):
                statement = record.statement
            for buffer, elements in _loaded(record):
                first, before = found.get(buffer, (statement, 0))
                found[buffer] = first, before + times * elements
            if isinstance(record, Loop):
                count(record.body, times * (width(record) or 1))
            elif isinstance(record, Where):
                count(record.body, times)

    count(records, 1)
    return found


def _loaded(record: KernelRecord) -> Iterator[tuple[str, int]]:
    """Yield the buffers that a record loads, with about how many elements of each."""
    for load in loads(record):
        yield load.buffer, 1
    if isinstance(record, Invoke) and record.function in PRODUCTS:
        option = record.option
        rows, columns, times = (
            most(expression(option[side])) or 1 for side in ("rows", "columns", "times")
        )
        (left, _), (right, _) = record.operands
        yield left, rows * times
        yield right, times * columns
