"""The statements of a program as kernels are written from, and those of one kernel.

A kernel depends on its statements, on their places and on how what they touch is stored, and on
nothing else of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from workbench.codegen.emitter import Emitter
from workbench.codegen.writing.instance_writer import InstanceWriter
from workbench.identity import Same
from workbench.lowering.instances.guards import is_zero_elsewhere
from workbench.lowering.loops.records import Launch
from workbench.lowering.memory.takeover import Ownership, memory_of
from workbench.lowering.memory.tiles import TileStored
from workbench.lowering.values.stored import Stored, memory_order
from workbench.polyhedral.loops.axis_blocks import AxisBlock, axis_blocks
from workbench.polyhedral.tree import Path, axis_dims, paths
from workbench.program.accumulating import summands
from workbench.program.episodes.speculation import sums_of_products
from workbench.program.values import End, Program, Statement


@dataclass(frozen=True)
class StatementPlace:
    """The place of a statement: its axes, and the loops over blocks of them.

    `beside` are the arrays that share the memory of its result, that array itself included; None
    where what is in that memory before is needed: by other writers, or where nothing is written.
    `overwritten` are those that it reads where it may write. `sums` take its result as a factor,
    even that of an instance which is not executed: 0.
    """

    axes: tuple[str, ...]
    blocks: tuple[AxisBlock, ...]
    beside: frozenset[str] | None
    overwritten: frozenset[str]
    sums: tuple[str, ...] = ()


class Used(NamedTuple):
    """The arrays that statements touch, and their dimensions."""

    arrays: tuple[str, ...]
    dims: frozenset[str]


@lru_cache(maxsize=4096)
def _used(of: Same) -> Used:
    statements = of.objects
    arrays = (array for s in statements for array in s.touched)
    dims = frozenset(d for s in statements for d in (*s.dims, *s.reduction_dims))
    return Used(tuple(dict.fromkeys(arrays)), dims)


@dataclass(frozen=True)
class Statements:
    """The statements of a program with their axes, their paths in the schedule and storage."""

    program: Program
    axes: Mapping[str, tuple[str, ...]]
    paths: Mapping[str, Path]
    order: tuple[str, ...]
    """The dimensions as they lie in memory."""
    stored: Mapping[str, Stored]

    @classmethod
    def of(cls, program: Program, stored: Mapping[str, Stored]) -> Statements:
        """Return the statements of a program."""
        order = memory_order(program)
        return cls(program, axis_dims(program.schedule), paths(program.schedule), order, stored)

    def of_kernel(self, launches: Iterable[Launch]) -> KernelStatements:
        """Return those of one kernel."""
        names = dict.fromkeys(launch.statement for launch in launches)
        statements = tuple(self.program.statement[name] for name in names)
        used = _used(Same(*statements))
        memory = memory_of(self.program)
        return KernelStatements(
            statements,
            tuple(self.stored[array] for array in used.arrays),
            tuple(self._place(s, used.arrays, memory) for s in statements),
            tuple(dim for dim in self.order if dim in used.dims),
            tuple(end for end in self.program.equations.ends if end.open in used.arrays),
        )

    def _place(
        self, statement: Statement, touched: Sequence[str], memory: Ownership
    ) -> StatementPlace:
        result = statement.array
        needed = len(self.program.writers[result]) > 1 or result in memory.masked
        path, donated = self.paths[statement.name], self.program.storage.donated
        return StatementPlace(
            self.axes[statement.name],
            axis_blocks(statement.name, statement.dims, path),
            None if needed else memory.together(result).intersection(touched),
            frozenset(read.array for read in statement.reads if (read.array, result) in donated),
            self._sums.get(result, ()) if is_zero_elsewhere(statement) else (),
        )

    @cached_property
    def _sums(self) -> Mapping[str, tuple[str, ...]]:
        equations = self.program.equations
        return sums_of_products(equations, summands(equations))


@dataclass(frozen=True)
class KernelStatements:
    """The statements of one kernel, with the storage of the arrays that they touch, their places,
    their dimensions as they lie in memory, and the ends of the episodes that they are of.
    """

    statements: tuple[Statement, ...]
    storage: tuple[Stored, ...]
    places: tuple[StatementPlace, ...]
    order: tuple[str, ...]
    ends: tuple[End, ...]

    @cached_property
    def place(self) -> Mapping[str, StatementPlace]:
        """The places by the statements' names."""
        return {s.name: place for s, place in zip(self.statements, self.places, strict=True)}

    @cached_property
    def tiles(self) -> frozenset[str]:
        """The buffers that live inside one block."""
        return frozenset(s.buffer.name for s in self.storage if isinstance(s, TileStored))

    def writer(self, out: Emitter, launch: Launch) -> InstanceWriter:
        """Return the writer of a statement's instance."""
        statement, place = self._statement[launch.statement], self.place[launch.statement]
        values = dict(launch.values)
        return InstanceWriter(out, statement, place, values, self.stored, self._ranks)

    @cached_property
    def along(self) -> Mapping[str, int]:
        """The arrays that say whether an instance is executed, with the place of the steps among
        the dims of each.
        """
        return {e.open: self.stored[e.open].array.dims.index(e.dim) for e in self.ends}

    @cached_property
    def sums(self) -> Mapping[str, tuple[str, ...]]:
        """The sums that take what is 0 where an instance is not executed, by its statement."""
        return {name: place.sums for name, place in self.place.items() if place.sums}

    @cached_property
    def _statement(self) -> Mapping[str, Statement]:
        return {statement.name: statement for statement in self.statements}

    @cached_property
    def stored(self) -> Mapping[str, Stored]:
        """The storage by the arrays' names."""
        return {stored.array.name: stored for stored in self.storage}

    @cached_property
    def _ranks(self) -> Mapping[str, int]:
        return {dim: rank for rank, dim in enumerate(self.order)}
