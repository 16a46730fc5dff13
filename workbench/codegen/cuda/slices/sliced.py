"""The kernels of a program on a GPU, with slices of arrays in host memory instead of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.cuda.slices.allocated import allocated, with_copies
from workbench.codegen.cuda.slices.copied import Copying, Slice, Taken, renamed
from workbench.codegen.cuda.slices.moved import Elsewhere, Moving
from workbench.codegen.kernel_records import (
    Draw,
    KernelRecord,
    Let,
    Loop,
    Scratch,
    Total,
    Variable,
)
from workbench.codegen.kernel_records import walk as walk_kernel
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.codegen.writing.kernel_statements import Statements
from workbench.lowering.loops.records import (
    Allocate,
    AtOnce,
    For,
    If,
    Index,
    Launch,
    Record,
    View,
    walk,
)
from workbench.lowering.memory.bodies import needed, used
from workbench.lowering.memory.prefetching import prefetched
from workbench.lowering.values.scope import FreshNames, Workspace
from workbench.polyhedral.expression import Expression, expression


def sliced(made: ProgramKernels) -> ProgramKernels:
    """Return the kernels of a program that work on slices, with the copies of these between."""
    program, loops = made.program, made.loops
    ahead = dict(program.storage.swapped)
    if not ahead:
        return made
    workspace = Workspace(FreshNames(set(_names(made))))
    copying = Copying(Statements.of(program, loops.stored), ahead, workspace)
    records, late = prefetched(program, loops.stored, workspace, copying.body(loops.body))
    slots = _Slots({r.name: r for r in walk(tuple(records)) if isinstance(r, View)})
    records = slots.records(records)
    records = needed(records, used(records))
    body = allocated(with_copies(records), workspace.buffers, slots.rings)
    kernels = [
        slots.kernel(kernel, copying.taken.get(number, ()))
        for number, kernel in enumerate(made.kernels)
    ]
    late = tuple(dict.fromkeys((*copying.late, *late)))
    return replace(made, loops=replace(loops, body=body, late=late), kernels=kernels)


@dataclass(frozen=True)
class _Slots:
    """The places of slices: buffers of their own, or slots of rings, of which they are views."""

    views: Mapping[str, View]

    @property
    def rings(self) -> frozenset[str]:
        """The buffers that hold several slices."""
        return frozenset(
            view.source
            for view in self.views.values()
            if isinstance(view.how, Index) and isinstance(view.how.entries[0], Expression)
        )

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Return records with the buffers of slices in launches."""
        done: list[Record] = []
        for record in records:
            if isinstance(record, Launch):
                record = self._launch(record)
            elif isinstance(record, AtOnce):
                record = AtOnce(tuple(map(self._launch, record.body)))
            elif isinstance(record, (For, If)) and not (isinstance(record, For) and record.apart):
                record = replace(record, body=tuple(self.records(record.body)))
            done.append(record)
        return done

    def _launch(self, launch: Launch) -> Launch:
        names = {n: self._buffer(n) for n in (*launch.reads, *launch.writes) if n in self.views}
        return renamed(launch, names, names) if names else launch

    def _buffer(self, name: str) -> str:
        return self.views[name].source if name in self.views else name

    def _begin(self, one: Slice) -> Expression:
        """Return the place of a slice's first element in its buffer."""
        if one.name not in self.views:
            return expression(0)
        how = self.views[one.name].how
        assert isinstance(how, Index) and isinstance(how.entries[0], Expression)
        return how.entries[0] * one.piece.elements

    def kernel(self, kernel: KernelRecords, taken: Sequence[Taken]) -> KernelRecords:
        """Return a kernel that works on the slices that it takes."""
        if not taken:
            return kernel
        moving = Moving(
            {t.host: self._elsewhere(one) for t in taken if (one := t.read or t.written)},
            {t.host: self._elsewhere(t.written) for t in taken if t.written},
        )
        ends = [one for t in taken for one in (t.read, t.written) if one is not None]
        slices = {self._buffer(one.name): (self._begin(one), one.piece.elements) for one in ends}
        hosts = {one.host for one in taken}
        variables = frozenset[str]().union(
            kernel.variables,
            *(one.piece.variables for one in ends),
            *(begin.variables for begin, _ in slices.values()),
        )
        return replace(
            kernel,
            buffers=(*(name for name in kernel.buffers if name not in hosts), *slices),
            records=moving.records(kernel.records),
            variables=tuple(name for name in kernel.ranges if name in variables),
            slices=slices,
        )

    def _elsewhere(self, one: Slice) -> Elsewhere:
        return Elsewhere(self._buffer(one.name), self._begin(one) - one.piece.begin)


def _names(made: ProgramKernels) -> Iterator[str]:
    """Yield the names that a program's kernels use."""
    yield from (p.name for p in made.program.parameters)
    for record in walk(made.loops.body):
        if isinstance(record, For):
            yield record.variable
        elif isinstance(record, Allocate):
            yield record.buffer.name
    for kernel in made.kernels:
        yield from (kernel.chunk, *(table.name for table in kernel.tables))
        for inside in walk_kernel(kernel.records):
            yield from _names_of(inside)


def _names_of(record: KernelRecord) -> tuple[str, ...]:
    if isinstance(record, Draw):
        return record.names
    if isinstance(record, Loop):
        return (record.variable,)
    return (record.name,) if isinstance(record, (Let, Variable, Total, Scratch)) else ()
