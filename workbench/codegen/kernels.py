"""The kernels of a program: one for each place in the loop program where a statement is launched.

A kernel's records are made once, whatever the dtype. Checks and external calls are numbered through
the whole program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.codegen.bodies.addresses import apart
from workbench.codegen.emitter import Emitter
from workbench.codegen.joined_launches import joined
from workbench.codegen.kernel_records import (
    LANES,
    Invoke,
    KernelRecord,
    Loop,
    Require,
    Table,
    Where,
)
from workbench.codegen.writing.region_writer import RegionWriter, Statements, without_unread
from workbench.collection import without_collection
from workbench.identity import remembered
from workbench.lowering.launches import launches
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, Buffer, For, If, Launch, Record, walk
from workbench.lowering.memory.tiles import TileStored
from workbench.polyhedral.conditions import names_in
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.tree import loops_above, standing
from workbench.program.accumulating import Adding, derived
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program


@dataclass(frozen=True)
class Dealing:
    """How the blocks of a kernel are dealt to threads: `blocks` of them from number `first` on, to
    so many `chunks` of consecutive ones. One thread runs the blocks of a chunk, in their order.
    """

    first: Expression
    blocks: Expression
    chunks: Expression


@dataclass(frozen=True)
class KernelRecords:
    """A kernel: its statements, the buffers that it touches, records and constant tables, and the
    variables of the loops around that it needs, in order.

    Where blocks run in any order its only record is their loop. `dealing` says how they are dealt
    to threads, and each thread has `own` buffers.
    """

    statements: tuple[str, ...]
    buffers: tuple[str, ...]
    records: tuple[KernelRecord, ...] = field(repr=False)
    tables: tuple[Table, ...] = field(repr=False)
    variables: tuple[str, ...]
    ranges: Mapping[str, tuple[Expression, Expression]] = field(repr=False)
    """The least and greatest value of the variables of all loops around."""
    dealing: Dealing | None = None
    body: tuple[Record, ...] = field(default=(), repr=False)
    """The records of the loop program that one block runs."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The buffers of one block, each with the one whose memory it is in: itself, or one that is
    dead by then.
    """


@dataclass(frozen=True)
class ProgramKernels:
    """The kernels of a loop program in text order, its checks and external calls by their numbers.

    Checks are numbered from 1.
    """

    program: Program
    loops: LoopProgram
    kernels: tuple[KernelRecords, ...]
    checks: tuple[Require, ...]
    calls: tuple[Invoke, ...]
    given: Mapping[str, tuple[str, ...]]
    """The names of values from outside, in order, each with the sizes by which its neighbours along
    a dimension are apart.
    """

    @cached_property
    def padded(self) -> frozenset[str]:
        """The buffers of one block that hold whole groups of lanes."""
        stored = (s for s in self.loops.stored.values() if isinstance(s, TileStored))
        return frozenset(s.buffer.name for s in stored if s.block and s.block.size % LANES == 0)

    @cached_property
    def buffers(self) -> Mapping[str, Buffer]:
        """The buffers by name, in the order in which they are allocated first."""
        records = (r for r in walk(self.loops.body) if isinstance(r, Allocate))
        return {record.buffer.name: record.buffer for record in records}


@remembered(8)
@without_collection()
def program_kernels(program: Program) -> ProgramKernels:
    """Return a program's kernels. The last few are kept: a recipe counts what is run then.

    Where a sum's points are added up, the statements are those of the derived program.
    """
    loops = launches(program)
    program = derived(program)
    statements = Statements.of(program, loops.stored)
    loops = joined(program, loops, statements.axes)
    numbering = _Numbering()
    written = _Writing(statements, loops, numbering)
    kernels = tuple(written.kernels(loops.body, {}))
    given = {
        str(call.options["name"]): apart(call)
        for statement in program.statements
        for call in statement.calls
        if OPERATIONS[call.operation].given
    }
    checks, calls = tuple(numbering.checks), tuple(numbering.calls)
    return ProgramKernels(program, loops, kernels, checks, calls, given)


class _Numbering:
    """The checks and the external calls of a program, in text order."""

    def __init__(self) -> None:
        self.checks: list[Require] = []
        self.calls: list[Invoke] = []

    def numbered(self, body: Sequence[KernelRecord]) -> tuple[KernelRecord, ...]:
        """Return the records of a kernel with its checks and calls numbered."""
        return tuple(self._record(record) for record in body)

    def _record(self, record: KernelRecord) -> KernelRecord:
        if isinstance(record, (Loop, Where)):
            return replace(record, body=self.numbered(record.body))
        if isinstance(record, Require):
            record = replace(record, number=len(self.checks) + 1)
            self.checks.append(record)
        elif isinstance(record, Invoke) and record.function == "external":
            record = replace(record, options=(*record.options, ("site", len(self.calls))))
            self.calls.append(record)
        return record


class _Writing:
    """The context in which all kernels of a program are written."""

    def __init__(self, statements: Statements, loops: LoopProgram, numbering: _Numbering) -> None:
        self.statements = statements
        self.loops = loops
        self.numbering = numbering
        self._taken = {p.name for p in statements.program.parameters}
        for record in walk(loops.body):
            if isinstance(record, For):
                self._taken.add(record.variable)
            elif isinstance(record, Allocate):
                self._taken.add(record.buffer.name)

    def kernels(
        self, body: Sequence[Record], around: Mapping[str, tuple[Expression, Expression]]
    ) -> Iterator[KernelRecords]:
        """Yield the kernels of a body, inside loops whose variables have these ranges."""
        for record in body:
            if isinstance(record, Launch) or (isinstance(record, For) and record.apart):
                yield self._kernel(record, around)
            elif isinstance(record, For):
                inside = {**around, record.variable: (record.lower, record.upper - 1)}
                yield from self.kernels(record.body, inside)
            elif isinstance(record, If):
                yield from self.kernels(record.body, around)

    def _kernel(
        self, record: Launch | For, around: Mapping[str, tuple[Expression, Expression]]
    ) -> KernelRecords:
        inside = (r for r in walk((record,)) if isinstance(r, Launch))
        launches = [one for r in inside for one in (r, *r.more)]
        out = Emitter(set(self._taken))
        RegionWriter(out, self.statements).write((record,))
        needed = set[str]()
        for launch in launches:
            needed.update(*(e.variables for _, e in launch.values))
        for part in walk((record,)):
            if isinstance(part, For):
                needed |= part.lower.variables | part.upper.variables
            elif isinstance(part, If):
                needed |= names_in(part.condition)
        buffers = dict.fromkeys(name for r in launches for name in (*r.reads, *r.writes))
        dealing = self._dealing(record, launches) if isinstance(record, For) else None
        if dealing is not None:
            needed |= dealing.first.variables | dealing.blocks.variables
        return KernelRecords(
            tuple(dict.fromkeys(r.statement for r in launches)),
            tuple(buffers),
            self.numbering.numbered(without_unread(out.records, self.statements.tiles)),
            tuple(out.tables),
            tuple(v for v in around if v in needed),
            dict(around),
            dealing,
            record.body if isinstance(record, For) else (),
            self._own(record, buffers),
        )

    def _own(self, record: Launch | For, buffers: Iterable[str]) -> dict[str, str]:
        """Return the buffers of one block. Some are allocated outside of the loop over blocks, as
        where isl writes that loop twice.
        """
        memory = {name: name for name in buffers if name in self.loops.own}
        for inside in walk((record,)):
            if isinstance(inside, Allocate):
                name = inside.buffer.name
                assert name in self.loops.own, f"{name} is in a block, and not its own"
                memory[name] = memory.get(inside.source or "", name)
        return memory

    def _dealing(self, blocks: For, launches: Sequence[Launch]) -> Dealing:
        """Return how blocks are dealt: to the chunks of what they add up, or each by itself."""
        number = blocks.upper - blocks.lower
        chunks: set[tuple[Expression, Expression, Expression]] = set()
        for launch in launches:
            statement = self.statements.program.statement[launch.statement]
            if not isinstance(statement, Adding):
                continue
            path = self.statements.paths[statement.name]
            loop = next(loop for loop in loops_above(path) if loop.apart)
            stands = standing(loop, statement.name, statement.dims)
            if statement.dims[stands.position] in statement.over:
                dealt = statement.chunks
                assert dealt is not None and dealt.loop == loop.name, "blocks add to one element"
                chunks.add((dealt.first, dealt.blocks, dealt.runs))
        if not chunks:
            return Dealing(blocks.lower, number, number)
        if len(chunks) > 1:  # a chunk of one sum has parts of two of another's
            return Dealing(blocks.lower, number, expression(1))
        return Dealing(*chunks.pop())
