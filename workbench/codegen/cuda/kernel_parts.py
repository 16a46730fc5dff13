"""Kernels as the parts of a function: the code of a block's threads for each, and its memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.codegen.cuda.memory.block_places import (
    BlockPlaces,
    Piece,
    is_other,
    of_warps,
    rounded,
)
from workbench.codegen.cuda.small_kernels import left_by
from workbench.codegen.cuda.sums.chunk_sums import (
    ChunkRecords,
    ChunkSum,
    chunk_records,
    sums_of,
    with_sums_on_chip,
)
from workbench.codegen.cuda.sums.kept_sums import (
    KeptSum,
    kept_for_room,
    kept_sums,
    most_kept,
    with_kept_sums,
)
from workbench.codegen.cuda.threads.barriers import Barriers, Steps, passed
from workbench.codegen.cuda.threads.block_of_warp import BlocksOfWarps
from workbench.codegen.cuda.threads.sharing import shared_out
from workbench.codegen.cuda.threads.thread_accesses import Block
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
    Code,
    Elements,
    Everywhere,
    Memory,
    memory_of,
)
from workbench.codegen.cuda.threads.warps_in_turn import Placed, WarpsInTurn
from workbench.codegen.cuda.turns.carried_slices import with_slices
from workbench.codegen.cuda.turns.kept_slices import KeptSlices, for_room, kept_slices_of
from workbench.codegen.cuda.turns.slice_rings import with_kept_slices
from workbench.codegen.cuda.whole_arrays import WholeArray, arrays_of, with_arrays_on_chip
from workbench.codegen.dealing import Dealing
from workbench.codegen.joined_launches import memory_in
from workbench.codegen.kernel_records import (
    KernelRecord,
    Let,
    Loop,
    Prefetch,
    Scratch,
    Serves,
    Variable,
)
from workbench.codegen.kernel_work import BYTES
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import Buffer
from workbench.names import unique
from workbench.polyhedral.expression import Expression, expression, variable

BLOCKS = ("first_block", "behind_blocks")
"""The names of the first block of a chunk, and of that behind its last."""
SIDE_BY_SIDE_BLOCKS = 2
"""The blocks of a multiprocessor that have room side by side: while the threads of one wait, the
other runs.
"""
SIDE_BY_SIDE = (164 * 1024) // SIDE_BY_SIDE_BLOCKS - 1024
"""The bytes of shared memory with which an A100 has two blocks on a multiprocessor."""

MOST_OF_WARP = 4 * 1024
"""The most bytes of what a block of the program has for itself, where a warp runs it."""
BESIDE = 32 * 1024
"""The bytes of shared memory in which kernels in a row, which run at the same time, have theirs
side by side. One that has no room there has it at the beginning again.
"""


@dataclass(frozen=True)
class OnChip:
    """The partial sums that a block has in shared memory or its threads keep in registers, and the
    arrays and the slices that it has in shared memory.
    """

    sums: Sequence[ChunkSum] = ()
    kept: Sequence[KeptSum] = ()
    arrays: Sequence[WholeArray] = ()
    slices: Sequence[KeptSlices] = ()


_NOTHING = OnChip()


@dataclass(frozen=True)
class KernelPart:
    """A kernel in a function: its code, by which threads, and its memory."""

    kernel: KernelRecords
    placed: Placed
    places: BlockPlaces

    @property
    def codes(self) -> tuple[Code, ...]:
        """Its code."""
        return self.placed.codes

    @property
    def is_by_warps(self) -> bool:
        """Tell whether each warp runs blocks of the program."""
        return next(of_warps(self.codes), None) is not None

    @property
    def waits(self) -> bool:
        """Tell whether it begins with a barrier of the block."""
        return self.codes[:1] == (Barrier(),)

    @property
    def barriers(self) -> dict[Steps, Expression]:
        """About how many barriers a block passes, of its share of the blocks, if they are dealt, by
        the steps of episodes at which alone it passes them.
        """
        counts, dealing = passed(self.codes), self.kernel.dealing
        if dealing is None:
            return counts
        share = (dealing.blocks + dealing.chunks - 1) // dealing.chunks
        dealt = dict(zip(BLOCKS, (expression(0), share), strict=True))
        return {steps: count.substitute(dealt) for steps, count in counts.items()}

    @property
    def shared_elements(self) -> Elements | None:
        """The elements that are all that the kernel is about, outside of blocks of a program: any
        number of blocks of threads may share them.
        """
        if self.kernel.dealing is not None:
            return None
        shared = [code for code in self.codes if isinstance(code, Elements)]
        others = [c for c in self.codes if not isinstance(c, Elements) and not _is_of_threads(c)]
        plain = all(
            isinstance(code, Everywhere) and not any(map(_does_more, code.records))
            for code in others
        )
        return shared[0] if len(shared) == 1 and plain else None


class PartWriter:
    """A writer of kernels as parts of functions, for one dtype of floats. Parts use none of the
    names that are `taken`.
    """

    def __init__(self, made: ProgramKernels, dtype: str, taken: Collection[str]) -> None:
        self.made, self.dtype, self.taken = made, dtype, taken
        self.memory = memory_in(made.loops)

    def parts(
        self, kernels: Sequence[KernelRecords], lanes: int, threads: int, begin: int
    ) -> list[KernelPart]:
        """Return kernels that one block of so many threads runs one after the other, their shared
        memory from a byte on. Partial sums of the last are kept there, if there is room for them,
        then arrays that it only reads, and then slices of others.
        """
        parts = self._parts(kernels, lanes, threads, begin)
        if kernels[-1].dealing is None:
            return parts
        room = SIDE_BY_SIDE - max(part.places.shared_bytes for part in parts)
        on_chip = self._fitting(kernels, room, threads)
        if on_chip == _NOTHING:
            return parts
        return self._parts(kernels, lanes, threads, begin, on_chip)

    def _parts(
        self,
        kernels: Sequence[KernelRecords],
        lanes: int,
        threads: int,
        begin: int,
        on_chip: OnChip = _NOTHING,
    ) -> list[KernelPart]:
        """Return kernels that run one after the other, with barriers in them and between. The last
        has sums, arrays and slices `on_chip`.
        """
        scratch: dict[str, Piece] = {}
        elsewhere: dict[str, int] = {}  # which of the kernels has it, from the same byte on
        memory, buffers = dict(self.memory), dict(self.made.buffers)

        def meet(one: str, other: str) -> bool:
            if one in scratch and other in scratch:
                return scratch[one].meets(scratch[other])
            if one in elsewhere and other in elsewhere and elsewhere[one] != elsewhere[other]:
                return True
            return memory.get(one, one) == memory.get(other, other)

        def coincide(one: str, other: str) -> bool:
            if one == other or memory.get(one, one) != memory.get(other, other):
                return one == other
            known = one in buffers and other in buffers
            return known and self._item(buffers[one]) == self._item(buffers[other])

        barriers, parts = Barriers(meet, coincide), list[KernelPart]()
        warps, end = WarpsInTurn(threads), begin
        for number, kernel in enumerate(kernels):
            codes, places = self._laid_out(kernel, lanes, threads, begin, on_chip)
            if kernel.dealing is None and places.shared:
                if places.shared_bytes + end - begin <= BESIDE:
                    places = BlockPlaces.of(self.made, kernel, codes, self.dtype, rounded(end))
                end = places.shared_bytes
            names = {name: f"{name} of {number}" for name in (*places.shared, *places.other)}
            scratch |= {names[n]: piece for n, piece in places.shared.items()}
            elsewhere |= {names[n]: number for n in places.other}
            own = {n: first for n, first in kernel.own.items() if n in places.other}
            memory |= {names[n]: f"{first} of {number}" for n, first in own.items()}
            buffers |= {names[n]: self.made.buffers[n] for n in own}
            last, dealing = kernel.records[-1], kernel.dealing
            blocks = last if dealing is not None and isinstance(last, Loop) else None
            block = Block(
                threads,
                lanes,
                frozenset((*kernel.own, *names)),
                {name: piece.column(lanes) for name, piece in places.shared.items()},
                names,
                blocks.variable if blocks else "",
                blocks is not None and dealing is not None and _all_dealt(blocks, dealing),
            )
            if kernel.dealing is None:
                placed = warps.placed(codes, block, barriers)
            else:
                placed = Placed(barriers.of(codes, block))
            parts.append(KernelPart(kernel, placed, places))
        return parts

    def _laid_out(
        self, kernel: KernelRecords, lanes: int, threads: int, begin: int, on_chip: OnChip
    ) -> tuple[tuple[Code, ...], BlockPlaces]:
        """Return the code of a kernel's threads and its memory: of blocks by warps where they have
        room.
        """
        for by_warps in (True, False):
            codes = self._shared_out(kernel, lanes, threads, on_chip, by_warps)
            places = BlockPlaces.of(self.made, kernel, codes, self.dtype, rounded(begin))
            if next(of_warps(codes), None) is None or places.shared_bytes <= SIDE_BY_SIDE:
                break
        return codes, places

    def _fitting(self, kernels: Sequence[KernelRecords], room: int, threads: int) -> OnChip:
        """Return the partial sums of the last kernel, the arrays that it only reads, and the slices
        that it reads again, for which there is room in shared memory. Where there is none for all,
        threads keep sums.
        """
        kernel, apart = kernels[-1], left_by(self.made, kernels[:-1])
        taken = self._names(kernel)
        name = partial(unique, taken=taken)
        records = self._of_chunk(kernel, taken)
        sums = sums_of(records, kernel.chunk, kernel.own, name)
        arrays = arrays_of(kernel, records, self.made.buffers, self.memory, apart, name)
        wanted: list[ChunkSum | WholeArray] = [*sums, *arrays]
        asked = {one.name: self._bytes(one) for one in wanted}
        on_chip = with_sums_on_chip(records, kernel.chunk, sums)
        numbers = most_kept(threads, FLOAT_BYTES[self.dtype])
        kept = kept_for_room(kept_sums(on_chip, sums, threads), asked, room, numbers)
        in_registers = {one.sum.name for one in kept}

        def fits(one: ChunkSum | WholeArray) -> bool:
            nonlocal room
            there_is = one.name not in in_registers and asked[one.name] <= room
            room -= asked[one.name] * there_is
            return there_is

        shared = [one for one in sums if fits(one)]
        whole = [one for one in arrays if fits(one)]
        of_array = {one.array for one in whole}
        slices = kept_slices_of(records.block, self._outside(kernel))
        others = [one for one in slices if one.array not in of_array]
        return OnChip(shared, kept, whole, for_room(others, room, self._bytes))

    def _bytes(self, one: ChunkSum | WholeArray | KeptSlices) -> int:
        """Return the bytes of shared memory that a sum, an array or slices would have."""
        return rounded(one.elements * BYTES.get(one.dtype, FLOAT_BYTES[self.dtype]))

    def _item(self, buffer: Buffer) -> int:
        return BYTES.get(buffer.dtype, FLOAT_BYTES[self.dtype])

    def _shared_out(
        self, kernel: KernelRecords, lanes: int, threads: int, on_chip: OnChip, by_warps: bool
    ) -> tuple[Code, ...]:
        """Return the code of a kernel's threads: of one chunk, where its blocks are dealt, each run
        by a warp where that may be and they have no wide inner shapes.
        """
        names = self._names(kernel)
        share = partial(shared_out, lanes=lanes, threads=threads, taken=names)
        if kernel.dealing is None:
            return share(_without_hints(kernel.records))
        blocks, kept = kernel.records[-1], on_chip.kept
        sums = [*on_chip.sums, *(one.sum for one in kept)]
        assert isinstance(blocks, Loop)
        of_chunk = self._of_chunk(kernel, names)
        names |= {one.name for one in sums} | {one.name for one in on_chip.arrays}
        slices = with_kept_slices(of_chunk.block, on_chip.slices, partial(unique, taken=names))
        of_chunk = replace(of_chunk, block=slices)
        of_chunk = with_sums_on_chip(of_chunk, kernel.chunk, sums)
        of_chunk = with_arrays_on_chip(of_chunk, on_chip.arrays)
        of_chunk = with_kept_sums(of_chunk, kernel.chunk, kept)
        registers = tuple(
            Memory(Scratch(k.sum.name, k.sum.dtype, expression(k.numbers)), "registers")
            for k in kept
        )
        first, behind = map(variable, BLOCKS)
        blocks = replace(blocks, lower=first, upper=behind)
        begun, last = share(of_chunk.begun), share(of_chunk.behind)
        each = BlocksOfWarps(blocks, sums, lanes, threads, partial(unique, taken=names))
        inside = each.codes(of_chunk.block, names) if by_warps and not kept else None
        if inside is None or not self._fits_warps(kernel, inside):
            inside = (Around(blocks, share(of_chunk.block)),)
        return (*registers, *begun, *inside, *last)

    def _fits_warps(self, kernel: KernelRecords, codes: Sequence[Code]) -> bool:
        """Tell whether each warp of a block may have what a kernel has for a block, and its code
        has.
        """
        own = [self.made.buffers[name] for name in dict.fromkeys(kernel.own.values())]
        asked = [(one.elements, one.dtype) for one in own]
        asked += [(m.record.elements * m.times, m.record.dtype) for m in memory_of(codes)]
        if any(elements.terms for elements, _ in asked) or any(map(is_other, own)):
            return False
        real = FLOAT_BYTES[self.dtype]
        return sum(n.constant * BYTES.get(of, real) for n, of in asked) <= MOST_OF_WARP

    def _names(self, kernel: KernelRecords) -> set[str]:
        """Return the names that a kernel may not use beside its own."""
        return {*kernel.buffers, *self.taken, *(t.name for t in kernel.tables)}

    def _of_chunk(self, kernel: KernelRecords, taken: set[str]) -> ChunkRecords:
        """Return the records of a chunk, in which loops hand on slices in shared memory, under
        names that are `taken` then.
        """
        records = chunk_records(replace(kernel, records=_without_hints(kernel.records)))
        block = with_slices(records.block, self._outside(kernel), partial(unique, taken=taken))
        return replace(records, block=block)

    def _outside(self, kernel: KernelRecords) -> dict[str, str]:
        """Return the memory of each buffer of a kernel that does not lie in shared memory."""
        memory = {n: self.memory.get(n, n) for n in kernel.buffers if n not in kernel.own}
        return memory | {n: m for n, m in kernel.own.items() if is_other(self.made.buffers[m])}


def _all_dealt(blocks: Loop, dealing: Dealing) -> bool:
    """Tell whether all blocks that are dealt are those of a loop: then each chunk has one."""
    return blocks.range == (dealing.first, dealing.first + dealing.blocks)


def _is_of_threads(code: Code) -> bool:
    """Tell whether code is memory of which each thread has its own."""
    return isinstance(code, Memory) and code.each == "thread"


def _does_more(record: KernelRecord) -> bool:
    """Tell whether a record does more than to name a value."""
    return not isinstance(record, (Let, Serves, Variable))


def _without_hints(records: Sequence[KernelRecord]) -> tuple[KernelRecord, ...]:
    """Return records without loops that ask for what is read soon: while a block waits, others of
    the same multiprocessor run.
    """
    kept: list[KernelRecord] = []
    for record in records:
        if isinstance(record, Loop):
            if any(isinstance(inside, Prefetch) for inside in record.body):
                continue
            record = replace(record, body=_without_hints(record.body))
        kept.append(record)
    return tuple(kept)
