"""Blocks of a program without wide inner shapes: a warp runs each, a thread a lane, so that a block
of threads runs as many at one time as it has warps.

What they add to the sums of their chunk, each warp leaves in a place of its own; the first thread
adds it up, in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.cuda.sums.chunk_sums import ChunkSum
from workbench.codegen.cuda.threads.sharing import shared_out
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Code,
    EachWarp,
    Everywhere,
    First,
    Lane,
    Memory,
    Points,
    Tile,
    Totals,
)
from workbench.codegen.cuda.threads.warps import NUMBER, WARP
from workbench.codegen.kernel_records import (
    KernelRecord,
    Load,
    Local,
    Loop,
    Scratch,
    Serves,
    Store,
    Update,
    Variable,
    leaves,
    reads,
    walk,
    writes,
)
from workbench.polyhedral.expression import Expression, expression, minimum, variable


@dataclass(frozen=True)
class BlocksOfWarps:
    """The blocks of a chunk, with the sums that a block of threads keeps for it, the lanes of their
    tiles, and the threads. `name` makes a name from a wish.
    """

    blocks: Loop
    sums: Sequence[ChunkSum]
    lanes: int
    threads: int
    name: Callable[[str], str]

    def codes(self, records: Sequence[KernelRecord], taken: set[str]) -> tuple[Code, ...] | None:
        """Return the code of all blocks, whose records these are, with names that are not `taken`;
        None where a warp cannot run one: where threads share more than lanes and sums over them, or
        it adds to something otherwise than once to each sum, of one number.
        """
        if self.threads % WARP or self.lanes > WARP or any(s.elements != 1 for s in self.sums):
            return None
        assert not self.blocks.begin and self.blocks.step is None, self.blocks
        places = {one.name: self.name(f"{one.name} by warp") for one in self.sums}
        by_warp, operations = _by_warp(records, places)
        if set(operations) != set(places) or _adds(by_warp, places):
            return None
        inside = shared_out(by_warp, self.lanes, WARP, taken)
        if not all(map(_is_narrow, inside)):
            return None
        warps, blocks = self.threads // WARP, self.blocks
        round_ = self.name(f"round of {blocks.variable}")
        first = blocks.lower + variable(round_) * warps
        here = first + variable(NUMBER)
        rounds = (blocks.upper - blocks.lower + warps - 1) // warps
        own = Around(replace(blocks, lower=here, upper=minimum(blocks.upper, here + 1)), inside)
        around = Loop(round_, expression(0), rounds, (blocks,))
        if not self.sums:
            return (EachWarp(warps, (Around(around, (own,)),), round_),)
        memory = (Scratch(places[one.name], one.dtype, expression(warps)) for one in self.sums)
        behind = minimum(blocks.upper - first, expression(warps))
        added = tuple(
            record
            for one in self.sums
            for record in self._added(one, places[one.name], operations[one.name], behind)
        )
        each = EachWarp(warps, (own,), blocks.variable)
        return (*map(Memory, memory), Around(around, (each, First(added))))

    def _added(
        self, one: ChunkSum, places: str, operation: str, behind: Expression
    ) -> Iterator[KernelRecord]:
        """Yield what adds up what so many warps left."""
        running, warp = self.name(f"running of {one.name}"), self.name(f"warp of {one.name}")
        yield Serves(one.statement)
        yield Variable(running, Load(one.name, expression(0), one.dtype))
        load = Load(places, variable(warp), one.dtype)
        yield Loop(warp, expression(0), behind, (Update(running, load, operation),))
        yield Store(one.name, expression(0), Local(running, one.dtype))


def _by_warp(
    records: Sequence[KernelRecord], places: Mapping[str, str]
) -> tuple[tuple[KernelRecord, ...], Mapping[str, str]]:
    """Return records that store what they first add to sums in their warp's places, and the
    operation of each sum.
    """
    done: list[KernelRecord] = []
    operations: dict[str, str] = {}
    for record in records:
        if (
            isinstance(record, Store)
            and record.operation
            and record.buffer in places
            and record.buffer not in operations
        ):
            operations[record.buffer] = record.operation
            record = Store(places[record.buffer], variable(NUMBER), record.value)
        done.append(record)
    return tuple(done), operations


def _adds(records: Sequence[KernelRecord], sums: Container[str]) -> bool:
    """Tell whether records add to something, or do more with sums."""
    inside = tuple(walk(tuple(records)))
    if any(isinstance(r, Store) and r.operation for r in inside):
        return True
    return any(name in sums for r in inside for name in (*reads(r), *writes(r)))


def _is_narrow(code: Code) -> bool:
    """Tell whether a warp runs code as well as a block does, whose other threads have no part."""
    if isinstance(code, (Around, Tile)):
        left = isinstance(code, Around) and leaves(code.record)
        return not left and all(map(_is_narrow, code.body))
    return isinstance(code, (Everywhere, First, Lane, Memory, Points, Totals))
