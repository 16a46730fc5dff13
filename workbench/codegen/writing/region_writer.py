"""A kernel of several statements: the loops of a region, with the instances inside them.

Statements that run over the same lanes and touch what the others write in their own lane only share
one loop of lanes: their values go from one to the next without memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from workbench.codegen.bodies.open_lanes import (
    OpenLanes,
    closes,
    open_lanes,
    runs,
    some_open,
)
from workbench.codegen.emitter import Emitter, Index
from workbench.codegen.kernel_records import (
    KernelRecord,
    Loop,
    Serves,
    Store,
    Where,
    reads,
    walk,
)
from workbench.codegen.writing.block_gathers import gather_ahead, take_gathered
from workbench.codegen.writing.instance_writer import InstanceWriter, Lanes
from workbench.codegen.writing.kernel_statements import KernelStatements
from workbench.codegen.writing.matrix_products import give_back_products
from workbench.lowering.loops.records import For, If, Launch, Record
from workbench.lowering.loops.records import walk as walk_records
from workbench.polyhedral.conditions import negated
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.accumulating import owner


class RegionWriter:
    """The writer of the loops and instances of one kernel."""

    def __init__(self, out: Emitter, statements: KernelStatements) -> None:
        self.out = out
        self.statements = statements
        self._runs, self._run = "", expression(0)
        """The loop over blocks whose runs have a part each of what they add up, and the run."""

    def write(self, body: Sequence[Record]) -> None:
        """Write the loops and instances of a body; memory is there already."""
        together: list[Launch] = []
        for record in body:
            if isinstance(record, Launch) and record.more:
                self._in_a_row((record, *record.more))
            elif isinstance(record, Launch):
                together.append(record)
            elif isinstance(record, (For, If)):
                self._instances(together)
                together = []
                self._around(record)
        self._instances(together)

    def deal(self, runs: str, chunk: str, chunks: Expression, begins: Sequence[Launch]) -> None:
        """Let each thread run one of the chunks at a time, whose variable is `chunk`: a run of the
        blocks of the loop `runs`. Write what a chunk begins before it adds to it.
        """
        self._runs, self._run = runs, variable(chunk)
        if not begins:
            return
        with self.out.around(chunk, expression(0), chunks, backwards=False):
            for launch in begins:
                writer = self.statements.writer(self.out, launch)
                self._serve(writer)
                writer.write_part(self._run)

    def _around(self, record: For | If) -> None:
        if isinstance(record, If):
            with self.out.where(record.condition):
                self.write(record.body)
            return
        with self.out.around(record.variable, *record.range, record.backwards):
            if record.apart:
                self._gather_ahead(record)
                self.write(record.body)
            else:
                self._steps(record)

    def _steps(self, loop: For) -> None:
        """Write the body of a loop, of whose steps those are left out that no open lane needs."""
        needed = {k: self._needed(r, loop.variable) for k, r in enumerate(loop.body)}
        for lanes, run in runs(loop.body, needed):
            launches = [r for r in run if isinstance(r, Launch)]
            if lanes is None:
                self.write(run)
                continue
            writer = self._writer(launches[0])
            some = some_open(self.out, writer.stored[lanes.array], writer.place, lanes)
            with self.out.where(some, lanes.step):
                self.write(run)
            closing = [r for r in launches if closes(r, self.statements.of(r))]
            if closing:
                with self.out.where(negated(some), replace(lanes.step, closed=True)):
                    self.write(closing)

    def _needed(self, record: Record, step: str) -> OpenLanes | None:
        """Return the lanes of which one must be open at a step for a launch to be needed."""
        if not isinstance(record, Launch):
            return None
        writers = map(self._writer, (record, *record.more))
        first, *others = (
            open_lanes(w.statement, w.place, w.blocks, self.statements.opens) for w in writers
        )
        if first is None or any(other != first for other in others):
            return None
        return first if any(step in e.variables for e in first.index) else None

    def _writer(self, launch: Launch) -> InstanceWriter:
        writer = self.statements.writer(self.out, launch)
        if writer.chunks is not None and writer.chunks.loop == self._runs:
            writer.run = self._run
        return writer

    def _gather_ahead(self, blocks: For) -> None:
        """Look up what the statements of one block gather, that stand in no loop inside."""
        inside = [r for r in blocks.body if isinstance(r, Launch)]
        everywhere = (r for r in walk_records(blocks.body) if isinstance(r, Launch))
        written = frozenset(name for launch in everywhere for name in launch.writes)
        gather_ahead(self.out, [self._writer(r) for r in inside], written)

    def _in_a_row(self, launches: Sequence[Launch]) -> None:
        """Write instances over the same elements in a row in one loop."""
        writers = [self._writer(launch) for launch in launches]
        bodies = []
        for writer in writers:
            self._serve(writer)
            writer.in_a_row()
            bodies.append(writer.bodies(""))
            bodies[-1].prepare()

        def element(index: Index) -> None:
            for writer, own in zip(writers, bodies, strict=True):
                self._serve(writer)
                writer.store(index, own.value(writer.statement.body, index))

        self.out.each(writers[0].shape, element, lanes=True)

    def _instances(self, launches: Sequence[Launch]) -> None:
        """Write neighbouring instances, those that can in common loops of lanes, or in a row."""
        for in_line, some in groupby(map(self._writer, launches), lambda w: w.in_line):
            if in_line:
                with self.out.row():
                    self._write_group(list(some), None)
            else:
                self._in_common_lanes(some)

    def _in_common_lanes(self, writers: Iterable[InstanceWriter]) -> None:
        """Write instances, neighbours that can in one loop of lanes."""
        group: list[InstanceWriter] = []
        key: Lanes | None = None
        for writer in writers:
            own = writer.common_lanes()
            if group and (own is None or own != key or not self._joins(group, writer)):
                self._write_group(group, key)
                group = []
            key = own
            group.append(writer)
        if group:
            self._write_group(group, key)

    def _joins(self, group: Sequence[InstanceWriter], writer: InstanceWriter) -> bool:
        """Tell whether a statement and those of a group touch each other in their own lane only."""
        return all(
            before.touches_by_lane(writer)
            and writer.touches_by_lane(before)
            and not writer.needs_whole(before)
            for before in group
        )

    def _write_group(self, group: Sequence[InstanceWriter], lanes: Lanes | None) -> None:
        if lanes is None:
            for writer in group:
                self._serve(writer)
                writer.write()
            return
        for writer in group:
            if writer.products:
                self._serve(writer)
                writer.write_products(lanes, self._replaces(group, writer))
        with self.out.loop(lanes.dim, lanes.lower, lanes.upper, lanes=True) as lane:
            for writer in group:
                self._serve(writer)
                take_gathered(writer)
                writer.write_in(lanes.dim, lane)
        for writer in group:
            give_back_products(writer)

    def _replaces(self, group: Sequence[InstanceWriter], writer: InstanceWriter) -> bool:
        """Tell whether nothing is needed of what is in the memory of a result before a loop of
        lanes: of other arrays that share it, and in lanes where the statement does not run.
        """
        result = writer.statement.array
        beside, written = self.statements.place[writer.statement.name].beside, False
        if beside is None:
            return False
        for other in group:
            touched = {r.array for r in other.statement.reads}
            if other is writer:
                written = True
            else:
                touched.add(other.statement.array)
                if written:
                    touched.discard(result)
            if touched & beside:
                return False
        return True

    def _serve(self, writer: InstanceWriter) -> None:
        self.out.add(Serves(owner(writer.statement)))


def without_unread(
    records: tuple[KernelRecord, ...], private: frozenset[str]
) -> tuple[KernelRecord, ...]:
    """Return the records without the stores to memory of one block that nothing loads."""
    read = {buffer for record in walk(records) for buffer in reads(record)}
    return _without_stores(records, private - read)


def _without_stores(
    records: tuple[KernelRecord, ...], buffers: frozenset[str]
) -> tuple[KernelRecord, ...]:
    kept: list[KernelRecord] = []
    for record in records:
        if isinstance(record, Store) and record.buffer in buffers:
            continue
        if isinstance(record, (Loop, Where)):
            record = replace(record, body=_without_stores(record.body, buffers))
        kept.append(record)
    return tuple(kept)
