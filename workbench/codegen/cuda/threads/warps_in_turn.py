"""Warps of a block for kernels in a row: those that do not wait for each other have different ones,
so that the block runs them at one time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from workbench.codegen.cuda.threads.barriers import Barriers
from workbench.codegen.cuda.threads.independent_turns import width
from workbench.codegen.cuda.threads.thread_accesses import Block
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
    Code,
    Elements,
    Everywhere,
    First,
    Memory,
    Points,
    Totals,
)
from workbench.codegen.cuda.threads.warps import WARP
from workbench.codegen.kernel_records import LANES, Serves, reads, walk, writes


@dataclass(frozen=True)
class Placed:
    """The code of a kernel with its barriers, whose thread k is thread `begin` + k of the block,
    and behind its last one from 0 on. Where `threads` is a number, only the first so many come
    there, those of whole warps: behind a barrier that the code may begin with, and that is the only
    one of the block.
    """

    codes: tuple[Code, ...]
    begin: int = 0
    threads: int | None = None


class WarpsInTurn:
    """The warps of a block of so many threads, in turn."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.next = 0
        """The first thread of the next warp."""

    def placed(self, codes: Sequence[Code], block: Block, barriers: Barriers) -> Placed:
        """Return a kernel's code with barriers: where it needs none behind what it waits for, in
        the same warp, else in the next warps. A kernel for more than half of the threads begins
        with the first of all.
        """
        wanted = -(-most_threads(codes, self.threads) // WARP) * WARP
        if wanted > self.threads // 2:
            return Placed(barriers.of(codes, block))
        found = self._without_barrier(codes, block, barriers, wanted)
        if found is None:
            begin = self._next(wanted)
            placed = _waiting_first(barriers.of(codes, replace(block, begin=begin)))
        else:
            begin, placed = found
        waits = placed[:1] == (Barrier(),)
        apart = _computes_for_all(placed) and not _has_barrier(placed[waits:])
        return Placed(placed, begin, wanted if apart else None)

    def _without_barrier(
        self, codes: Sequence[Code], block: Block, barriers: Barriers, wanted: int
    ) -> tuple[int, tuple[Code, ...]] | None:
        """Return the first thread of the kernel that code waits for, and the code for so many
        threads from there on, where it then needs no barrier in front.
        """
        waits_for = barriers.awaited(codes, block)
        if len(waits_for) != 1:
            return None
        (begin,) = waits_for
        if begin + wanted > self.threads:
            return None
        tried = barriers.copy()
        placed = tried.of(codes, replace(block, begin=begin))
        if any(code == Barrier() for code in placed):
            return None
        barriers.become(tried)
        return begin, placed

    def _next(self, wanted: int) -> int:
        begin = self.next if self.next + wanted <= self.threads else 0
        self.next = begin + wanted
        return begin


def _waiting_first(codes: tuple[Code, ...]) -> tuple[Code, ...]:
    """Return code with the first barrier in front of values that need no memory."""
    for place, code in enumerate(codes):
        if code == Barrier():
            return (code, *codes[:place], *codes[place + 1 :])
        if not isinstance(code, (Everywhere, Memory)) or _touches(code):
            break
    return codes


def _computes_for_all(codes: Iterable[Code]) -> bool:
    """Tell whether every thread of a kernel computes a value for itself."""
    return any(
        _computes_for_all(code.body)
        if isinstance(code, Around)
        else isinstance(code, Everywhere) and not all(isinstance(r, Serves) for r in code.records)
        for code in codes
    )


def _touches(code: Everywhere | Memory) -> bool:
    """Tell whether code reads or writes memory."""
    records = walk(code.records) if isinstance(code, Everywhere) else ()
    return any(name for r in records for name in (*reads(r), *writes(r)))


def _has_barrier(codes: Iterable[Code]) -> bool:
    """Tell whether all threads of the block wait for each other in code."""
    return any(
        code == Barrier() or (isinstance(code, Around) and _has_barrier(code.body))
        for code in codes
    )


def most_threads(codes: Iterable[Code], threads: int) -> int:
    """Return how many threads of a block run code: all that it has, unless less are known to."""
    return max(_each(codes, threads), default=1)


def _each(codes: Iterable[Code], threads: int) -> Iterator[int]:
    for code in codes:
        if isinstance(code, Around):
            yield from _each(code.body, threads)
        elif isinstance(code, (Points, Totals)):
            yield LANES
        elif isinstance(code, Elements):
            turns = [width(loop) for loop in (code.loop, code.inside) if loop is not None]
            yield threads if None in turns else prod(n for n in turns if n is not None)
        elif not isinstance(code, (Barrier, Everywhere, First, Memory)):
            yield threads
