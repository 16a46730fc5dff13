"""Barriers of a block's threads: in front of code that touches what others wrote, or writes what
others touched, since the last one.

Who touches what is known by the way code is shared out. Code over the same lanes, rows or elements
needs no barrier between if each thread touches its own; where only the first threads of a kernel,
of one warp, touch anything, they alone wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import TypeAlias

from workbench.codegen.cuda.permutations import DEALT, SORTED
from workbench.codegen.cuda.threads.independent_turns import are_independent, has_turns, width
from workbench.codegen.cuda.threads.local_names import made_in
from workbench.codegen.cuda.threads.thread_accesses import LANE, ROW, Access, Block, ThreadAccesses
from workbench.codegen.cuda.threads.thread_code import (
    Around,
    Barrier,
    Code,
    EachWarp,
    Memory,
    Tile,
    Together,
    WarpTurns,
)
from workbench.codegen.cuda.threads.warps import WARP
from workbench.codegen.kernel_records import Invoke, Loop, Store, leaves, walk
from workbench.lowering.instances.guards import OpenStep
from workbench.lowering.values.intervals import greatest
from workbench.polyhedral.expression import Expression, expression


class Barriers:
    """The barriers of a function, of whose kernels a block runs one after the other. `meet` tells
    whether two buffers may have memory in common, `coincide` whether they then have all of it:
    elements of one size, from the same address on.
    """

    def __init__(
        self, meet: Callable[[str, str], bool], coincide: Callable[[str, str], bool]
    ) -> None:
        self.meet, self.coincide = meet, coincide
        self.pending: dict[Access, bool] = {}
        """The accesses since the last barrier of the block, True where no barrier of their warps
        stands behind them.
        """
        self.leaving: dict[Access, bool] = {}
        """Those where the loop around may be left."""

    def copy(self) -> Barriers:
        """Return barriers that stand behind the same kernels."""
        other = Barriers(self.meet, self.coincide)
        other.become(self)
        return other

    def become(self, other: Barriers) -> None:
        """Stand behind the kernels that others stand behind."""
        self.pending, self.leaving = dict(other.pending), dict(other.leaving)

    def awaited(self, codes: Sequence[Code], block: Block) -> frozenset[int]:
        """Return the first threads of the kernels that code waits for, since the last barrier."""
        found = dict.fromkeys(ThreadAccesses(block).all(codes))
        return frozenset(
            old.begin for old in self.pending if any(self._waits(old, new) for new in found)
        )

    def of(self, codes: Sequence[Code], block: Block) -> tuple[Code, ...]:
        """Return the code of the next kernel with the barriers that it needs."""
        self.block, self.accesses = block, ThreadAccesses(block)
        return tuple(self.body(codes))

    def body(self, codes: Sequence[Code], tile: Loop | None = None) -> Iterator[Code]:
        """Yield code with its barriers: none of warps in front of one of the block."""
        return _without_double(self._placed(codes, tile))

    def _placed(self, codes: Sequence[Code], tile: Loop | None) -> Iterator[Code]:
        for code in codes:
            if isinstance(code, Barrier):
                self._pass(code)
                yield code
            elif isinstance(code, (Around, Tile)):
                yield from self._around(code)
                if isinstance(code, Around) and leaves(code.record):
                    self.leaving = _merged((*self.leaving.items(), *self.pending.items()))
            else:
                if isinstance(code, Memory):
                    self.accesses.hold(code)
                found = dict.fromkeys(self.accesses.of(code, tile), True)
                yield from self._waited(found)
                self.pending |= found
                if isinstance(code, Together) and code.record.function == WAITING:
                    self.pending = found
                if isinstance(code, (EachWarp, WarpTurns)):
                    code = replace(code, body=self._of_warp(code))
                yield code

    def _of_warp(self, code: EachWarp | WarpTurns) -> tuple[Code, ...]:
        """Return code of one warp with its barriers, which no other passes."""
        block = replace(self.block, threads=WARP, runs=False)
        if isinstance(code, EachWarp):
            block = replace(block, variable=code.variable)
        return Barriers(self.meet, self.coincide).of(code.body, block)

    def _waited(self, found: Mapping[Access, bool]) -> Iterator[Barrier]:
        """Yield the barrier that stands in front of accesses, if they need one, and pass it."""
        if (barrier := self._needed(found)) is not None:
            self._pass(barrier)
            yield barrier

    def _needed(self, found: Mapping[Access, bool]) -> Barrier | None:
        """Return the barrier that accesses need: of the block where one of two is, or may be, by
        threads of other warps than the first one. True are those in front of which none of warps
        stands already.
        """
        of_warps = False
        for new, alone in found.items():
            for old, recent in self.pending.items():
                if self._conflict(old, new):
                    most = max(old.threads_at(new), new.threads_at(old))
                    if most > WARP or old.begin != new.begin:
                        return Barrier()
                    of_warps |= recent and alone
        return Barrier(of_warps=True) if of_warps else None

    def _pass(self, barrier: Barrier) -> None:
        """Stand behind a barrier: one of warps is passed by those of this kernel alone."""
        begin, pending = self.block.begin, self.pending if barrier.of_warps else {}
        self.pending = {a: recent and a.begin != begin for a, recent in pending.items()}

    def _around(self, code: Around | Tile) -> Iterator[Code]:
        """Yield a body with its barriers: of a loop, also between a turn and the next. For what is
        pending before it one stands in front. Where it may not run at all, that still is pending
        behind it, as is what is where a loop is left.
        """
        before, self.pending = self.pending, {}
        outside, self.leaving = self.leaving, {}
        tile = code.loop if isinstance(code, Tile) else None
        code = replace(code, body=tuple(self.body(code.body, tile)))
        record = code.record if isinstance(code, Around) else None
        loop = record if isinstance(record, Loop) else None
        if loop is not None and width(loop) != 1 and not are_independent(loop):
            changing = {loop.variable, *made_in(loop.body)}
            apart = loop.variable == self.block.variable
            held = self._held(loop) if apart else None
            self.pending = _merged(
                (self._outside(access, changing), recent)
                for access, recent in self.pending.items()
                if held is None or access.buffer in held
            )
            code = replace(code, body=tuple(self.body(code.body)))
        behind, self.pending = (*self.pending.items(), *self.leaving.items()), before
        self.leaving = outside
        yield from self._waited(_merged(self._first(code)))
        for barrier in self._passed(code):
            self._pass(barrier)
        self.pending = _merged((*self.pending.items(), *behind))
        yield code

    def _passed(self, code: Code) -> Iterator[Barrier]:
        """Yield the barriers that code has, and passes whatever the sizes."""
        if isinstance(code, Barrier):
            yield code
        elif isinstance(code, Around) and isinstance(code.record, Loop) and self._runs(code.record):
            for inside in code.body:
                yield from self._passed(inside)

    def _runs(self, loop: Loop) -> bool:
        """Tell whether a loop has a turn, whatever the sizes."""
        return has_turns(loop) or (self.block.runs and loop.variable == self.block.variable)

    def _first(self, code: Around | Tile) -> Iterator[tuple[Access, bool]]:
        """Yield the accesses of a body before its first barrier of the block, and whether none of
        warps stands in front of them.
        """
        tile, alone = code.loop if isinstance(code, Tile) else None, True
        for inside in code.body:
            if isinstance(inside, (Around, Tile)):
                yield from ((access, own and alone) for access, own in self._first(inside))
            elif not isinstance(inside, Barrier):
                yield from ((access, alone) for access in self.accesses.of(inside, tile))
            for barrier in self._passed(inside):
                if not barrier.of_warps:
                    return
                alone = False

    def _held(self, blocks: Loop) -> frozenset[str]:
        """Return the buffers that a block needs of the one before it, by names of the function."""
        held = self.block.own | _added_to(blocks)
        return frozenset(self.block.names.get(name, name) for name in held)

    def _outside(self, access: Access, changing: set[str]) -> Access:
        """Return an access as it is known in the next turn of a loop, in which names have other
        values.
        """
        if access.at is None or not access.at.variables & changing:
            return access
        return replace(access, at=None)

    def _apart(self, old: Access, new: Access) -> bool:
        """Tell whether two accesses are known to touch no place that both do."""
        if not (old.places and new.places and self.coincide(old.buffer, new.buffer)):
            return False
        return old.places[1] <= new.places[0] or new.places[1] <= old.places[0]

    def _waits(self, old: Access, new: Access) -> bool:
        """Tell whether one of two accesses may need the other, whichever threads they are by."""
        touched = (old.write or new.write) and self.meet(old.buffer, new.buffer)
        return touched and not self._apart(old, new)

    def _conflict(self, old: Access, new: Access) -> bool:
        """Tell whether one of two accesses, by different threads, may need the other."""
        if not self._waits(old, new):
            return False
        if old.begin != new.begin:
            return True
        if old.first == new.first == 1:
            return False
        if not old.threads or old.threads != new.threads:
            return True
        if old.columns and old.columns == new.columns:
            return False
        if old.at is None or new.at is None or not self.coincide(old.buffer, new.buffer):
            return True
        return _may_meet(old.at, new.at)


Steps: TypeAlias = tuple[OpenStep, ...]
"""Steps at all of which episodes are to be open, or closed."""

WAITING = "orthogonalize"
"""The function inside of which all threads wait for each other, whatever the sizes."""

INSIDE = {"permutation": 36, DEALT: 22, SORTED: 22, "orthogonalize": 100}
"""About how many barriers of all threads a function of a block has inside: sorting of some thousand
words, sums over 1,024 threads, QR of a few columns.
"""


def passed(codes: Sequence[Code]) -> dict[Steps, Expression]:
    """Return about how many barriers a block passes, but for those of warps: as if loops were as
    long as they can be, by the steps at which alone it passes them.
    """
    found: dict[Steps, Expression] = {(): expression(0)}
    for code in codes:
        if isinstance(code, Barrier):
            found[()] = found[()] + (not code.of_warps)
        elif isinstance(code, Together):
            found[()] = found[()] + INSIDE.get(code.record.function, 0)
        elif isinstance(code, (Around, Tile)):
            record = code.record if isinstance(code, Around) else None
            around = () if record is None or record.step is None else (record.step,)
            for steps, inside in passed(code.body).items():
                if isinstance(record, Loop):
                    ranges = {record.variable: (record.lower, record.upper - 1)}
                    inside = greatest(inside, ranges) * (record.upper - record.lower)
                at = tuple(dict.fromkeys((*around, *steps)))
                found[at] = found.get(at, expression(0)) + inside
    return found


def _added_to(loop: Loop) -> frozenset[str]:
    """Return the buffers to whose elements is added."""
    inside = tuple(walk(loop.body))
    stored = {r.buffer for r in inside if isinstance(r, Store) and r.operation}
    return frozenset(stored | {r.out[0] for r in inside if isinstance(r, Invoke)})


def _may_meet(at: Expression, other: Expression) -> bool:
    """Tell whether different threads, which have their own lanes and rows, may touch one place."""
    apart = at - other
    step = gcd(at.coefficient(LANE), at.coefficient(ROW))
    known = not apart.terms
    return not (known and (apart.constant == 0 or apart.constant % step))


def _merged(accesses: Iterable[tuple[Access, bool]]) -> dict[Access, bool]:
    """Return accesses, each True where it is so once."""
    found: dict[Access, bool] = {}
    for access, is_so in accesses:
        found[access] = is_so or found.get(access, False)
    return found


def _without_double(codes: Iterable[Code]) -> Iterator[Code]:
    """Yield code without the barriers of warps that stand directly in front of one of the block."""
    of_warps = Barrier(of_warps=True)
    waiting = False
    for code in codes:
        if waiting and code != Barrier():
            yield of_warps
        waiting = code == of_warps
        if not waiting:
            yield code
    if waiting:
        yield of_warps
