"""The kernels of a program: one for each place in the loop program where a statement is launched.

A kernel's records are made once, whatever the dtype. Checks and external calls are numbered through
the whole program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from workbench.codegen.bodies.addresses import apart
from workbench.codegen.dealing import Dealing, begun_by_runs, dealing_of
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
from workbench.codegen.kernel_records import walk as walk_records
from workbench.codegen.launches_at_once import together
from workbench.codegen.writing.kernel_statements import (
    KernelStatements,
    StatementPlace,
    Statements,
)
from workbench.codegen.writing.region_writer import RegionWriter, without_unread
from workbench.collection import without_collection
from workbench.coming import Coming
from workbench.identity import Same, remembered
from workbench.lowering.launches import launches
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import (
    Allocate,
    AtOnce,
    Buffer,
    For,
    If,
    Launch,
    Record,
    walk,
)
from workbench.lowering.memory.tiles import TileStored
from workbench.polyhedral.conditions import names_in
from workbench.polyhedral.expression import Expression
from workbench.program.accumulating import derived
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import End, Program

KEPT = 1024
"""The most kernels that are kept: those of some variants of a large program."""


@dataclass(frozen=True)
class KernelRecords:
    """A kernel: its statements, the buffers that it touches, records and constant tables, and the
    variables of the loops around that it needs, in order.

    Where blocks run in any order its last record is their loop. `dealing` says how they are dealt
    to threads, and each thread has `own` buffers. What the chunks begin stands in a loop over these
    in front.
    """

    statements: tuple[str, ...]
    buffers: tuple[str, ...]
    records: tuple[KernelRecord, ...] = field(repr=False)
    tables: tuple[Table, ...] = field(repr=False)
    variables: tuple[str, ...]
    ranges: Mapping[str, tuple[Expression, Expression]] = field(repr=False)
    """The least and greatest value of the variables of all loops around."""
    dealing: Dealing | None = None
    chunk: str = ""
    """The variable of the chunk that a thread runs."""
    body: tuple[Record, ...] = field(default=(), repr=False)
    """The records of the loop program that one block runs."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The buffers of one block, each with the one whose memory it is in: itself, or one that is
    dead by then.
    """
    slices: Mapping[str, tuple[Expression, Expression]] = field(default_factory=dict)
    """The buffers of which it touches neighbouring elements only: the first, and how many."""


@dataclass(frozen=True)
class Numbered:
    """Checks and external calls, in text order."""

    checks: list[Require] = field(default_factory=list)
    calls: list[Invoke] = field(default_factory=list)


@dataclass(frozen=True)
class ProgramKernels:
    """The kernels of a loop program in text order, each made when it is first asked for."""

    program: Program
    loops: LoopProgram
    kernels: Sequence[KernelRecords]
    given: Mapping[str, tuple[str, ...]]
    """The names of values from outside, in order, each with the sizes by which its neighbours along
    a dimension are apart.
    """
    numbered: Numbered
    """The checks and external calls of the kernels that are made."""
    in_blocks: Sequence[KernelRecords] = field(repr=False, compare=False)
    """The kernels whose blocks run in any order, made without the others; checks and calls have no
    numbers of a program in them.
    """

    @property
    def checks(self) -> Sequence[Require]:
        """The checks of all kernels by their numbers, which count from 1."""
        return self.numbered.checks if len(self.kernels) else ()

    @property
    def calls(self) -> Sequence[Invoke]:
        """The external calls of all kernels by their numbers, which count from 0."""
        return self.numbered.calls if len(self.kernels) else ()

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
    """Return a program's kernels. The last few are kept: a recipe counts what is run then. What
    has no C is an error once it is asked for.

    Where a sum's points are added up, the statements are those of the derived program.
    """
    loops = launches(program)
    program = derived(program)
    statements = Statements.of(program, loops.stored)
    loops = begun_by_runs(statements, joined(program, loops, statements.axes))
    loops = together(program, loops, statements.axes)
    numbered = Numbered()

    def written() -> Iterator[KernelRecords]:
        numbered.checks.clear()
        numbered.calls.clear()
        return _Writing(statements, loops, numbered).kernels(loops.body, {})

    def in_blocks() -> Iterator[KernelRecords]:
        return _Writing(statements, loops, Numbered()).kernels(loops.body, {}, launched=False)

    given = {
        str(call.options["name"]): apart(call)
        for statement in program.statements
        for call in statement.calls
        if OPERATIONS[call.operation].given
    }
    return ProgramKernels(program, loops, Coming(written), given, numbered, Coming(in_blocks))


def numbered_records(body: Sequence[KernelRecord], numbered: Numbered) -> tuple[KernelRecord, ...]:
    """Return records with their checks and external calls numbered; add these to those before."""
    return tuple(_numbered(record, numbered) for record in body)


def _is_numbered(record: KernelRecord) -> bool:
    return isinstance(record, Require) or (
        isinstance(record, Invoke) and record.function == "external"
    )


def _numbered(record: KernelRecord, numbered: Numbered) -> KernelRecord:
    if isinstance(record, (Loop, Where)):
        return replace(record, body=numbered_records(record.body, numbered))
    if not _is_numbered(record):
        return record
    if isinstance(record, Require):
        record = replace(record, number=len(numbered.checks) + 1)
        numbered.checks.append(record)
    elif isinstance(record, Invoke):
        record = replace(record, options=(*record.options, ("site", len(numbered.calls))))
        numbered.calls.append(record)
    return record


class _Writing:
    """The context in which all kernels of a program are written."""

    def __init__(self, statements: Statements, loops: LoopProgram, numbered: Numbered) -> None:
        self.statements = statements
        self.loops = loops
        self.numbered = numbered
        taken = {p.name for p in statements.program.parameters}
        for record in walk(loops.body):
            if isinstance(record, For):
                taken.add(record.variable)
            elif isinstance(record, Allocate):
                taken.add(record.buffer.name)
        self._taken = frozenset(taken)

    def kernels(
        self,
        body: Sequence[Record],
        around: Mapping[str, tuple[Expression, Expression]],
        launched: bool = True,
    ) -> Iterator[KernelRecords]:
        """Yield the kernels of a body, inside loops whose variables have these ranges: those of
        loops over blocks that run in any order, and those that are launched by themselves.
        """
        for record in body:
            if isinstance(record, Launch):
                if launched:
                    yield self._kernel(record, around)
            elif isinstance(record, For) and record.apart:
                yield self._kernel(record, around)
            elif isinstance(record, For):
                inside = {**around, record.variable: _values(record.lower, record.upper)}
                yield from self.kernels(record.body, inside, launched)
            elif isinstance(record, (If, AtOnce)):
                yield from self.kernels(record.body, around, launched)

    def _kernel(
        self, record: Launch | For, around: Mapping[str, tuple[Expression, Expression]]
    ) -> KernelRecords:
        placed = self.statements.of_kernel(_all_launches(record))
        given = _Given(
            Same(*placed.statements, *placed.storage),
            len(placed.statements),
            placed.places,
            placed.order,
            placed.ends,
            record,
            dealing_of(self.statements, record) if isinstance(record, For) else None,
            tuple(self._own(record).items()),
        )
        kept = _kept(given)
        for written in kept:
            if written.asked & self._taken == written.taken:
                break
        else:
            written = _written(given, self._taken)
            kept.append(written)
        kernel = written.inside(around)
        if not written.is_numbered:
            return kernel
        return replace(kernel, records=numbered_records(kernel.records, self.numbered))

    def _own(self, record: Launch | For) -> dict[str, str]:
        """Return the buffers of one block. Some are allocated outside of the loop over blocks, as
        where isl writes that loop twice.
        """
        memory = {name: name for name in _touched(record) if name in self.loops.own}
        for inside in walk((record,)):
            if isinstance(inside, Allocate):
                name = inside.buffer.name
                assert name in self.loops.own, f"{name} is in a block, and not its own"
                memory[name] = memory.get(inside.source or "", name)
        return memory


Around = tuple[tuple[str, tuple[Expression, Expression]], ...]
"""Variables of loops around a kernel, each with its least and greatest value."""


@lru_cache(maxsize=4096)
def _values(lower: Expression, upper: Expression) -> tuple[Expression, Expression]:
    """Return the least and the greatest value of a loop's variable, one object for equal ones."""
    return lower, upper - 1


@dataclass(frozen=True)
class _Written:
    """A kernel without loops around, its checks and external calls not numbered yet, if it has
    some. Of the names that were `asked` for, those `taken` were not to be had.
    """

    kernel: KernelRecords
    needed: frozenset[str]
    """The names in it, variables of loops around among them."""
    is_numbered: bool
    asked: frozenset[str]
    taken: frozenset[str]

    @cached_property
    def _places(self) -> dict[Around, KernelRecords]:
        return {}

    def inside(self, around: Mapping[str, tuple[Expression, Expression]]) -> KernelRecords:
        """Return the kernel inside loops whose variables have these ranges, one object for equal
        ones.
        """
        loops = tuple(around.items())
        kernel = self._places.get(loops)
        if kernel is None:
            variables = tuple(v for v in around if v in self.needed)
            kernel = replace(self.kernel, variables=variables, ranges=dict(around))
            self._places[loops] = kernel
        return kernel


@dataclass(frozen=True)
class _Given:
    """All that a kernel is written from but the names that are taken. The first `statements`
    objects are its statements, the others the storage of arrays.
    """

    objects: Same
    statements: int
    places: tuple[StatementPlace, ...]
    order: tuple[str, ...]
    ends: tuple[End, ...]
    record: Launch | For
    dealing: Dealing | None
    own: tuple[tuple[str, str], ...]

    @property
    def placed(self) -> KernelStatements:
        """The statements with their storage and places."""
        objects, count = self.objects.objects, self.statements
        return KernelStatements(
            objects[:count], objects[count:], self.places, self.order, self.ends
        )


@lru_cache(maxsize=KEPT)
def _kept(given: _Given) -> list[_Written]:
    """Return what `_written` has returned for this, whatever names were taken: a step changes few
    of a program's kernels.
    """
    return []


def _written(given: _Given, taken: frozenset[str]) -> _Written:
    """Write a kernel from what is given alone."""
    record, dealing, placed = given.record, given.dealing, given.placed
    out, chunk = Emitter(taken), ""
    begins: tuple[Launch, ...] = ()
    region = RegionWriter(out, placed)
    if isinstance(record, For):
        assert dealing is not None
        begins, chunk = record.begins, out.name("chunk")
        region.deal(dealing.runs, chunk, dealing.chunks, begins)
    region.write_kernel(record)
    needed = set[str]()
    for launch in _all_launches(record):
        needed.update(*(e.variables for _, e in launch.values))
    for part in walk((record,)):
        if isinstance(part, For):
            needed |= part.lower.variables | part.upper.variables
        elif isinstance(part, If):
            needed |= names_in(part.condition)
    if dealing is not None:
        needed |= dealing.first.variables | dealing.blocks.variables
    records = without_unread(out.records, placed.tiles)
    kernel = KernelRecords(
        tuple(dict.fromkeys(r.statement for r in _launches(record))),
        _touched(record),
        records,
        tuple(out.tables),
        (),
        {},
        dealing,
        chunk,
        record.body if isinstance(record, For) else (),
        dict(given.own),
    )
    asked = frozenset(out.taken.asked)
    is_numbered = any(_is_numbered(r) for r in walk_records(records))
    return _Written(kernel, frozenset(needed), is_numbered, asked, asked & taken)


def _launches(record: Launch | For) -> Sequence[Launch]:
    """Return what a kernel runs."""
    inside = (r for r in walk((record,)) if isinstance(r, Launch))
    return [one for r in inside for one in (r, *r.more)]


def _all_launches(record: Launch | For) -> Sequence[Launch]:
    """Return what a kernel runs, and what its chunks begin before."""
    begins = record.begins if isinstance(record, For) else ()
    return [*begins, *_launches(record)]


def _touched(record: Launch | For) -> tuple[str, ...]:
    """Return the buffers that a kernel touches."""
    return tuple(dict.fromkeys(b for r in _launches(record) for b in (*r.reads, *r.writes)))
