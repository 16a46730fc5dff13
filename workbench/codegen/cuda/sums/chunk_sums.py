"""Partial sums that a block keeps in shared memory while it goes through its blocks of the program:
it writes them where they belong once, behind the last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    loads_of,
    reads,
    values,
    walk,
    writes,
)
from workbench.codegen.kernels import KernelRecords
from workbench.lowering.values.intervals import Ranges, greatest, least
from workbench.polyhedral.expression import Expression, expression, variable


@dataclass(frozen=True)
class ChunkSum:
    """A partial sum of `elements` in a chunk: its array, dtype and statement, and its name in
    shared memory.
    """

    array: str
    elements: int
    dtype: str
    statement: str
    name: str


@dataclass(frozen=True)
class ChunkRecords:
    """The records that a block runs for a chunk: in front of its blocks, those of a block of the
    program, and behind the last.
    """

    begun: tuple[KernelRecord, ...]
    block: tuple[KernelRecord, ...]
    behind: tuple[KernelRecord, ...] = ()


def chunk_records(kernel: KernelRecords) -> ChunkRecords:
    """Return the records that a block runs for its chunk."""
    *before, blocks = kernel.records
    assert isinstance(blocks, Loop)
    begun: list[KernelRecord] = []
    for record in before:
        ours = isinstance(record, Loop) and record.variable == kernel.chunk
        begun += record.body if ours and isinstance(record, Loop) else [record]
    return ChunkRecords(tuple(begun), blocks.body)


def sums_of(
    records: ChunkRecords, chunk: str, own: Collection[str], name: Callable[[str], str]
) -> list[ChunkSum]:
    """Return the partial sums that a chunk could keep, the smallest first: those that it begins
    itself, and to whose elements it does nothing but add.
    """
    found: dict[str, ChunkSum] = {}
    for statement, store in _begun(records.begun):
        n = store.at.coefficient(chunk)
        if store.buffer not in own and n > 0:
            sum_ = ChunkSum(store.buffer, n, store.value.dtype, statement, "")
            found.setdefault(store.buffer, sum_)
    inside = tuple(walk((*records.begun, *records.block)))
    ranges = {r.variable: (r.lower, r.upper - 1) for r in inside if isinstance(r, Loop)}
    for record in inside:
        for value in values(record):
            for load in loads_of(value):
                found.pop(load.buffer, None)
        if isinstance(record, Invoke):
            for buffer, _ in record.operands:
                found.pop(buffer, None)
        for buffer, places in _written(record):
            n = found[buffer].elements if buffer in found else 0
            if n and not all(_is_of_chunk(at, chunk, n, ranges) for at in places):
                del found[buffer]
    adding = {b for r in walk(records.block) for b in writes(r) if b in reads(r)}
    added = (one for one in found.values() if one.array in adding)
    ordered = sorted(added, key=lambda one: one.elements)
    return [replace(one, name=name(f"{one.array} of chunk")) for one in ordered]


def with_sums_on_chip(records: ChunkRecords, chunk: str, sums: Sequence[ChunkSum]) -> ChunkRecords:
    """Return the records with sums in shared memory."""
    by_array = {one.array: one for one in sums}
    memory = (Scratch(one.name, one.dtype, expression(one.elements)) for one in sums)
    return ChunkRecords(
        (*memory, *_moved(records.begun, chunk, by_array)),
        tuple(_moved(records.block, chunk, by_array)),
        tuple(record for one in sums for record in _written_back(one, chunk)),
    )


def _begun(records: Sequence[KernelRecord]) -> Iterator[tuple[str, Store]]:
    """Yield what a chunk begins, with its statement."""
    statement = ""
    for record in walk(tuple(records)):
        if isinstance(record, Serves):
            statement = record.statement
        elif isinstance(record, Store):
            yield statement, record


def _written(record: KernelRecord) -> Iterator[tuple[str, tuple[Expression, ...]]]:
    """Yield the buffer that a record writes, with the first place there and the last: none where
    that is not known.
    """
    if isinstance(record, Store):
        yield record.buffer, (record.at,)
    elif isinstance(record, Invoke):
        (buffer, first), option = record.out, record.option
        if record.function in PRODUCTS:
            rows, columns = (expression(option[side]) - 1 for side in ("rows", "columns"))
            step = expression(option.get("next", 1))
            yield buffer, (first, first + rows * option["out_step"] + columns * step)
        else:
            yield buffer, (expression(-1),)


def _is_of_chunk(at: Expression, chunk: str, elements: int, ranges: Ranges) -> bool:
    """Tell whether a place is in what a chunk has of an array, wherever in its loops it is."""
    rest = at - variable(chunk) * elements
    low, high = least(rest, ranges), greatest(rest, ranges)
    known = not (low.terms or high.terms)
    return known and low.constant >= 0 and high.constant < elements


def _moved(
    records: Sequence[KernelRecord], chunk: str, sums: Mapping[str, ChunkSum]
) -> Iterator[KernelRecord]:
    for record in records:
        if isinstance(record, (Loop, Where)):
            yield replace(record, body=tuple(_moved(record.body, chunk, sums)))
        elif isinstance(record, Store) and record.buffer in sums:
            name, at = _place(sums[record.buffer], record.at, chunk)
            yield replace(record, buffer=name, at=at)
        elif isinstance(record, Invoke) and record.out[0] in sums:
            buffer, at = record.out
            yield replace(record, out=_place(sums[buffer], at, chunk))
        else:
            yield record


def _place(one: ChunkSum, at: Expression, chunk: str) -> tuple[str, Expression]:
    return one.name, at - variable(chunk) * one.elements


def _written_back(one: ChunkSum, chunk: str) -> Iterator[KernelRecord]:
    """Yield what writes a sum where it belongs: a single number by the thread that added it up."""
    name, first = f"element of {one.name}", variable(chunk) * one.elements
    k = expression(0) if one.elements == 1 else variable(name)
    store = Store(one.array, first + k, Load(one.name, k, one.dtype))
    yield Serves(one.statement)
    if one.elements == 1:
        yield store
    else:
        yield Loop(name, expression(0), expression(one.elements), (store,), lanes=True)
