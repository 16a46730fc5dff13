"""A kernel of several statements: the loops of a region, with the instances inside them.

Statements that run over the same lanes and touch what the others write in their own lane only share
one loop of lanes: their values go from one to the next without memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from workbench.codegen.bodies.ended_zeros import ended_zeros
from workbench.codegen.bodies.open_lanes import LoopNeeds, OpenLanes, some_open
from workbench.codegen.emitter import Emitter, Index
from workbench.codegen.kernel_records import (
    KernelRecord,
    Loop,
    Position,
    Serves,
    Store,
    Variable,
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
from workbench.polyhedral.conditions import AffineComparison, negated
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.accumulating import owner


class RegionWriter:
    """The writer of the loops and instances of one kernel."""

    def __init__(self, out: Emitter, statements: KernelStatements) -> None:
        self.out = out
        self.statements = statements
        self._runs, self._run = "", expression(0)
        """The loop over blocks whose runs have a part each of what they add up, and the run."""
        self._zeros = frozenset[str]()
        """The statements that write zeros at steps at which they are left out."""

    def write_kernel(self, record: Launch | For) -> None:
        """Write all of a kernel."""
        sums, along = self.statements.sums, self.statements.along
        self._zeros = ended_zeros((record,), sums, self._needs, along)
        self.write((record,))

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
        elif record.apart:
            with self.out.around(record.variable, *record.range, record.backwards):
                self._gather_ahead(record)
                self.write(record.body)
        else:
            self._steps(record)

    # -- steps of episodes -------------------------------------------------------------------------

    def _steps(self, loop: For) -> None:
        """Write a loop, of whose steps those are left out that no open lane needs."""
        needs = self._needs(loop, self._zeros)
        lanes = needs.ending()
        if lanes is not None:
            self._leaving(needs, lanes)
            return
        with self.out.around(loop.variable, *loop.range, loop.backwards):
            for key, run in needs.runs(loop.body):
                self._open(needs, key, run)

    def _needs(self, loop: For, zeros: frozenset[str]) -> LoopNeeds:
        statements = self.statements
        return LoopNeeds(loop, self._writer, statements.stored, statements.along, zeros)

    def _leaving(self, needs: LoopNeeds, lanes: OpenLanes) -> None:
        """Write a loop that ends where no lane is open any more, and backwards begins where one is.
        What has to follow is in a loop of its own: the local `left` has the first of its turns, or
        backwards of those at which a lane is open.
        """
        loop, opened, closed = needs.loop, lanes.step, replace(lanes.step, closed=True)
        around, turn = (loop.variable, *loop.range, loop.backwards), variable(loop.variable)
        left = ""
        if loop.backwards or needs.follows(loop.body, lanes):
            left = self.out.name(f"left {loop.variable}")
            behind = loop.lower - 1 if loop.backwards else loop.upper
            self.out.add(Variable(left, Position(behind, "int64")))
        whole, rest = partial(self._whole, needs, lanes), partial(self._rest, needs, lanes)
        first, second = ((closed, rest), (opened, whole))[:: 1 if loop.backwards else -1]
        with self.out.around(*around, step=first[0]):
            some = self._some_open(needs, lanes, loop.body)
            self.out.leave(some if loop.backwards else negated(some), turn, left)
            first[1](loop.body)
        if left:
            with self.out.around(*around, step=second[0], begin=left):
                second[1](loop.body)

    def _whole(self, needs: LoopNeeds, lanes: OpenLanes, body: Sequence[Record]) -> None:
        """Write the body of a loop at whose steps one of the lanes is open."""
        for key, run in needs.runs(body, but=lanes):
            self._open(needs, key, run)

    def _rest(self, needs: LoopNeeds, lanes: OpenLanes, body: Sequence[Record]) -> None:
        """Write what is left of a body at a step at which none of the lanes is open."""
        for key, run in needs.runs(body):
            if key == lanes:
                self._close(needs, run)
            elif key is not None:
                self._open(needs, key, run)
            else:
                self._follow(needs, lanes, run)

    def _follow(self, needs: LoopNeeds, lanes: OpenLanes, run: Sequence[Record]) -> None:
        """Write what is left of records that run at other steps too."""
        for under, records in groupby(run, lambda record: isinstance(record, If)):
            if not under:
                self.write(list(records))
                continue
            for record in records:
                if isinstance(record, If) and needs.follows(record.body, lanes):
                    with self.out.where(record.condition):
                        self._rest(needs, lanes, record.body)

    def _open(self, needs: LoopNeeds, lanes: OpenLanes | None, run: Sequence[Record]) -> None:
        """Write records, where some of the lanes must be open for them: if one is."""
        if lanes is None:
            self.write(run)
            return
        some = self._some_open(needs, lanes, run)
        with self.out.where(some, lanes.step):
            self.write(run)
        if any(map(needs.closes, run)):
            with self.out.where(negated(some), replace(lanes.step, closed=True)):
                self._close(needs, run)

    def _some_open(
        self, needs: LoopNeeds, lanes: OpenLanes, run: Sequence[Record]
    ) -> AffineComparison:
        """Write whether some lane is open for records that need it; return that one is."""
        place = needs.asking(run, lanes).place
        return some_open(self.out, needs.stored[lanes.array], place, lanes)

    def _close(self, needs: LoopNeeds, run: Sequence[Record]) -> None:
        """Write that nothing is open at the next step, and zeros."""
        for record in filter(needs.closes, run):
            if isinstance(record, If):
                with self.out.where(record.condition):
                    self._close(needs, record.body)
            elif isinstance(record, Launch):
                writer = self._writer(record)
                self._serve(writer)
                writer.write_zeros()

    # -- instances ---------------------------------------------------------------------------------

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
