"""The copies of slices in a loop program of launches.

A slice is the piece of an array in host memory that a launch touches at one iteration of the loops
around it. One that is written is copied to the host behind its launch, one that is read is fetched
in front of its first reader in the loop's body. With `Swap(prefetch=n)` slices lie in rings of
n + 1: those that are fetched come n iterations early (`prefetching`), and those that are written
may still be on their way to the host while the next are computed.

Where a launch touches elements anywhere, or blocks of a kernel run in any order, nothing is copied:
they read and write host memory itself, as the GPU reaches it. What the blocks of a kernel wait for,
others hide. Such an array is late, as is a slice that is not there early enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from workbench.codegen.cuda.slices.pieces import Piece
from workbench.codegen.cuda.slices.touched import Use, uses
from workbench.codegen.writing.kernel_statements import Statements
from workbench.lowering.instances.swapping import TO_DEVICE, TO_HOST
from workbench.lowering.loops.records import (
    WHOLE,
    Apply,
    AtOnce,
    Buffer,
    Enter,
    For,
    If,
    Index,
    Launch,
    Record,
    View,
    walk,
)
from workbench.lowering.memory.prefetching import Late
from workbench.lowering.values.scope import Workspace
from workbench.polyhedral.expression import expression, variable


@dataclass(frozen=True)
class Slice:
    """A piece of an array on the device, under a name of its own."""

    name: str
    piece: Piece


@dataclass(frozen=True)
class Taken:
    """The slices that a launch reads and writes instead of an array in host memory."""

    host: str
    read: Slice | None
    written: Slice | None


@dataclass
class Copying:
    """A walk over a loop program. `ahead` are the iterations that slices of an array are early."""

    statements: Statements
    ahead: Mapping[str, int]
    workspace: Workspace
    taken: dict[int, list[Taken]] = field(default_factory=dict)
    """What launches take instead of arrays, by their numbers in text order."""
    late: list[Late] = field(default_factory=list)
    _held: dict[str, list[Slice]] = field(default_factory=dict)
    """The slices on the device with the contents that the host has."""
    _numbers: Iterator[int] = field(default_factory=count)

    def body(self, records: Sequence[Record], around: tuple[For, ...] = ()) -> list[Record]:
        """Return the records of a body in loops, with copies, and with slices in launches."""
        done: list[Record] = []
        for record in records:
            if isinstance(record, (Launch, AtOnce)):
                launches = record.body if isinstance(record, AtOnce) else (record,)
                before, behind = list[Record](), list[Record]()
                sliced = [self._launch(one, around, before, behind) for one in launches]
                done += before
                done += [AtOnce(tuple(sliced))] if isinstance(record, AtOnce) else sliced
                done += behind
            elif isinstance(record, For) and record.apart:
                next(self._numbers)
                self._stay(record)
                done.append(record)
            elif isinstance(record, (For, If)):
                repeated = isinstance(record, For)
                with self._inside(self._written((record,)), repeated):
                    loops = (*around, record) if isinstance(record, For) else around
                    done.append(replace(record, body=tuple(self.body(record.body, loops))))
            else:
                done.append(record)
        return done

    @contextmanager
    def _inside(self, written: frozenset[str], repeated: bool) -> Iterator[None]:
        """Enter the body of a loop (`repeated`) or of a condition that writes some arrays."""
        outside = self._without(written)
        self._held = self._without(written if repeated else frozenset())
        yield
        self._held = outside

    def _without(self, arrays: Iterable[str]) -> dict[str, list[Slice]]:
        return {a: list(slices) for a, slices in self._held.items() if a not in arrays}

    # -- launches ----------------------------------------------------------------------------------

    def _launch(
        self, launch: Launch, around: tuple[For, ...], before: list[Record], behind: list[Record]
    ) -> Launch:
        """Return a launch that works on slices. What is copied for it comes before or behind."""
        number, taken = next(self._numbers), list[Taken]()
        if not self._arrays((*launch.reads, *launch.writes)):
            return launch
        ranges = {loop.variable: (loop.lower, loop.upper - 1) for loop in around}
        for array, use in uses(self.statements, launch, ranges).items():
            host = self.statements.stored[array].buffer.name
            if use is None:
                self._touch(array, host, launch, around)
                continue
            read = written = None
            at_one = use.read and use.written and use.read.same(use.written)
            if use.read is not None and not (at_one and use.filled):
                read = self._reading(array, use.read, launch.statement, before)
            if use.written is not None:
                written = read if at_one and read else self._writing(array, use, around, before)
                if not (use.filled or at_one):
                    before += self._copy(written, TO_DEVICE, launch.statement)
                behind += self._copy(written, TO_HOST, launch.statement)
                self._held[array] = [written]
            taken.append(Taken(host, read, written))
        if not taken:
            return launch
        self.taken[number] = taken
        reads = {t.host: one.name for t in taken if (one := t.read or t.written)}
        writes = {t.host: t.written.name for t in taken if t.written}
        return renamed(launch, reads, writes)

    def _reading(self, array: str, piece: Piece, statement: str, before: list[Record]) -> Slice:
        """Return the slice with a piece, fetched if it is not there."""
        for one in self._held.get(array, ()):
            if one.piece.same(piece):
                return one
        fetched = self._slice(array, piece, None, before)
        before += self._copy(fetched, TO_DEVICE, statement)
        self._held.setdefault(array, []).append(fetched)
        return fetched

    def _writing(
        self, array: str, use: Use, around: tuple[For, ...], before: list[Record]
    ) -> Slice:
        """Return the slice with a piece that is written: of a ring, where nothing has to be there
        before.
        """
        assert use.written is not None
        ring = around[-1] if around and use.filled and self.ahead[array] else None
        return self._slice(array, use.written, ring, before)

    def _slice(self, array: str, piece: Piece, loop: For | None, before: list[Record]) -> Slice:
        """Return a new slice on the device: of a ring, if a loop is given whose iterations have
        one each.
        """
        workspace, host = self.workspace, piece.stored.buffer
        one = Slice(workspace.fresh("slice", of=host.name), piece)
        if loop is None or loop.variable not in piece.variables:
            workspace.reserve(Buffer(one.name, host.dtype, piece.shape))
            return one
        slots = expression(self.ahead[array] + 1)
        ring = Buffer(workspace.fresh("slices", of=host.name), host.dtype, (slots, *piece.shape))
        workspace.reserve(ring)
        slot = variable(loop.variable) % slots
        whole = [WHOLE] * len(piece.shape)
        before.append(View(one.name, ring.name, Index((slot, *whole))))
        return one

    def _copy(self, one: Slice, function: str, statement: str) -> list[Record]:
        """Return the records that copy a slice between the spaces, for a statement."""
        host, piece, fresh = one.piece.stored.buffer.name, one.piece, self.workspace.fresh
        there = View(fresh("v", of=host), host, Index(piece.there))
        views, here = [there], one.name
        if any(entry != WHOLE for entry in piece.here):
            views.append(View(fresh("v", of=one.name), one.name, Index(piece.here)))
            here = views[-1].name
        comes = function == TO_DEVICE
        source, target = (there.name, here) if comes else (here, there.name)
        text = f"{piece.stored.array.name}, {'from' if comes else 'to'} the host"
        return [Enter(statement, text), *views, Apply(function, (source,), target)]

    # -- what stays in host memory -----------------------------------------------------------------

    def _touch(self, array: str, host: str, launch: Launch, around: Sequence[For]) -> None:
        """Let a launch touch an array where it is."""
        if host in launch.writes:
            self._held.pop(array, None)
        if self.ahead[array] and around:
            for one in (launch, *launch.more):
                read = self.statements.program.statement[one.statement].reads
                if any(access.array == array for access in read):
                    self.late.append(Late(array, one.statement, around[-1].dim, "same"))

    def _stay(self, blocks: For) -> None:
        """Let the blocks of a kernel touch arrays where they are."""
        for launch in _launches((blocks,)):
            for array in self._arrays(launch.reads):
                if self.ahead[array]:
                    self.late.append(Late(array, launch.statement, blocks.dim, "order"))
        self._held = self._without(self._written((blocks,)))

    def _written(self, records: tuple[Record, ...]) -> frozenset[str]:
        """Return the arrays in host memory that launches write."""
        written = (name for launch in _launches(records) for name in launch.writes)
        return frozenset(self._arrays(written))

    def _arrays(self, buffers: Iterable[str]) -> list[str]:
        return [self._by_buffer[name] for name in buffers if name in self._by_buffer]

    @cached_property
    def _by_buffer(self) -> Mapping[str, str]:
        return {self.statements.stored[array].buffer.name: array for array in self.ahead}


def renamed(launch: Launch, reads: Mapping[str, str], writes: Mapping[str, str]) -> Launch:
    """Return a launch that reads and writes other buffers."""
    return replace(
        launch,
        reads=tuple(dict.fromkeys(reads.get(name, name) for name in launch.reads)),
        writes=tuple(dict.fromkeys(writes.get(name, name) for name in launch.writes)),
        more=tuple(renamed(one, reads, writes) for one in launch.more),
    )


def _launches(records: tuple[Record, ...]) -> Iterator[Launch]:
    return (record for record in walk(records) if isinstance(record, Launch))
