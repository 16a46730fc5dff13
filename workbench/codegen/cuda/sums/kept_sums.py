"""Partial sums in registers: of matrices to whose elements functions of all threads add. A thread
has the same elements each time: it keeps them itself, and writes them behind the last block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import copysign

from workbench.codegen.cuda.sums.chunk_sums import ChunkRecords, ChunkSum
from workbench.codegen.kernel_records import (
    PRODUCTS,
    Invoke,
    KernelRecord,
    Loop,
    Number,
    Scratch,
    Serves,
    Store,
    Where,
    reads,
    walk,
    writes,
)
from workbench.polyhedral.expression import expression, variable

KEPT = "kept "
"""What the name of a function begins with that adds to what its threads keep."""
WRITTEN = "kept written"
"""The function that writes what threads keep."""
REGISTERS = 64 * 1024
"""The registers of a multiprocessor, of which a thread has 255 at most."""
REGISTER = 4
"""The bytes of one."""


@dataclass(frozen=True)
class KeptSum:
    """A partial sum in registers. It has `rows` and `columns`, in pieces of `high` x `wide`, of
    which a thread has `each`.
    """

    sum: ChunkSum
    rows: int
    columns: int
    high: int
    wide: int
    each: int

    @property
    def numbers(self) -> int:
        """The numbers that a thread keeps."""
        return self.high * self.wide * self.each

    @property
    def pieces(self) -> tuple[tuple[str, int], ...]:
        """What functions are told of pieces."""
        return ("high", self.high), ("wide", self.wide), ("each", self.each)


def most_kept(threads: int, bytes: int) -> int:
    """Return how many numbers of so many bytes a thread may keep, of a block of so many threads: in
    a third of its registers, or less where the rest of its numbers take more than one each as well.
    """
    return min(255, REGISTERS // threads) // 3 * REGISTER**2 // bytes**2


def kept_sums(records: ChunkRecords, sums: Sequence[ChunkSum], threads: int) -> list[KeptSum]:
    """Return the sums that so many threads could keep, the largest first. The records have them in
    shared memory. There are none where a block has loops around what its threads share out: turns
    of these, as steps of a rollout, need the registers that they would be kept in.
    """
    if any(isinstance(r, Loop) and not r.lanes and _shares_out(r.body) for r in records.block):
        return []
    found = (_kept(records, one, threads) for one in sums)
    return sorted((one for one in found if one), key=lambda one: -one.sum.elements)


def kept_for_room(
    found: Sequence[KeptSum], asked: Mapping[str, int], room: int, numbers: int
) -> list[KeptSum]:
    """Return the sums that threads keep, so that there is room for the rest: shared memory has so
    many bytes of room, for which this is asked by name, and a thread keeps so many numbers at most.
    What is larger than the room alone takes none from others.
    """
    missing = sum(bytes for bytes in asked.values() if bytes <= room) - room
    kept: list[KeptSum] = []
    for one in found:
        bytes = asked[one.sum.name]
        if one.numbers > numbers or (missing <= 0 and bytes <= room):
            continue
        kept.append(one)
        numbers -= one.numbers
        missing -= bytes if bytes <= room else 0
    return kept


def with_kept_sums(records: ChunkRecords, chunk: str, kept: Sequence[KeptSum]) -> ChunkRecords:
    """Return the records with sums in registers that were in shared memory."""
    by_name = {one.sum.name: one for one in kept}

    def inside(body: Sequence[KernelRecord]) -> Iterator[KernelRecord]:
        for record in body:
            if any(name in by_name for name in (*writes(record), *reads(record))):
                if isinstance(record, Invoke):
                    one = by_name[record.out[0]]
                    options = (*record.options, *one.pieces)
                    yield replace(record, function=KEPT + record.function, options=options)
            elif isinstance(record, Scratch):
                if record.name not in by_name:
                    yield record
            elif isinstance(record, (Loop, Where)):
                rest = tuple(inside(record.body))
                if not all(isinstance(r, Serves) for r in rest):
                    yield replace(record, body=rest)
            else:
                yield record

    written = (record for one in kept for record in _written(one, chunk))
    return ChunkRecords(
        tuple(inside(records.begun)),
        tuple(inside(records.block)),
        (*inside(records.behind), *written),
    )


def _kept(records: ChunkRecords, one: ChunkSum, threads: int) -> KeptSum | None:
    """Return a sum in registers, None if it begins with another number than 0, or more is done to
    it in a block of the program than that one function adds to all of it.
    """
    begun = [r for r in walk(records.begun) if one.name in writes(r)]
    if not all(isinstance(r, Store) and _is_zero(r) for r in begun):
        return None
    touching = [r for r in walk(records.block) if one.name in (*writes(r), *reads(r))]
    shapes = {_shape(r, one) for r in touching}
    shape = shapes.pop() if len(shapes) == 1 else None
    return None if shape is None else _in_pieces(one, *shape, threads)


def _shares_out(body: tuple[KernelRecord, ...]) -> bool:
    """Tell whether records have lanes, or functions of all threads."""
    return any(isinstance(r, Invoke) or (isinstance(r, Loop) and r.lanes) for r in walk(body))


def _is_zero(record: Store) -> bool:
    value = record.value
    return isinstance(value, Number) and value.value == 0 and copysign(1, value.value) > 0


def _shape(record: KernelRecord, one: ChunkSum) -> tuple[int, int, bool] | None:
    """Return the rows and columns that a function adds to a sum, and whether it may add some of
    each at once; None where they are not all of it, side by side.
    """
    if not isinstance(record, Invoke) or record.function not in PRODUCTS:
        return None
    option, (buffer, at) = record.option, record.out
    rows, columns = (expression(option[side]) for side in ("rows", "columns"))
    if rows.terms or columns.terms or not option["into"] or at != 0 or buffer != one.name:
        return None
    if any(name == one.name for name, _ in record.operands):
        return None
    m, n = rows.constant, columns.constant
    if m * n != one.elements:
        return None
    if record.function == "product":
        return (m, n, True) if option["out_step"] == n or m == 1 else None
    down, across = option["out_step"], option["next"]
    by_rows = (n == 1 or across == 1) and (m == 1 or down == n)
    by_columns = (n == 1 or across == m) and (m == 1 or down == 1)
    return (1, m * n, False) if by_rows or by_columns else None


def _in_pieces(one: ChunkSum, rows: int, columns: int, by_pieces: bool, threads: int) -> KeptSum:
    """Return a sum in pieces of 4 x 4 elements, or of less where threads would have none else."""
    high, wide = (min(4, rows), min(4, columns)) if by_pieces else (1, 1)

    def pieces() -> int:
        return -(-rows // high) * -(-columns // wide)

    while pieces() < threads and high * wide > 1:
        if high >= wide:
            high = (high + 1) // 2
        else:
            wide = (wide + 1) // 2
    return KeptSum(one, rows, columns, high, wide, -(-pieces() // threads))


def _written(one: KeptSum, chunk: str) -> Iterator[KernelRecord]:
    """Yield what writes a sum where it belongs."""
    first = variable(chunk) * one.sum.elements
    yield Serves(one.sum.statement)
    options = (("rows", one.rows), ("columns", one.columns), *one.pieces)
    yield Invoke(WRITTEN, (one.sum.array, first), ((one.sum.name, expression(0)),), options)
