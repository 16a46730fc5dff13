"""Memory used in turn, executed by hand: who finds another element in the place of its own.

An array of which a dimension is folded keeps elements by their index modulo a number of slots;
arrays that share memory keep theirs in the same places. Everything else has a place of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.soundness.order import Point, accessed, given_of, operations, run_at
from workbench.program.accumulating import Adding
from workbench.program.sizes import resolve
from workbench.program.values import Program

Folds = Mapping[tuple[str, int], int]
"""The number of slots of an array along a dimension."""


@dataclass(frozen=True)
class Clobbered:
    """An instance that needs an element in whose place another is, or is just being written."""

    statement: str
    instance: Point
    array: str
    element: Point
    by: tuple[str, Point]


@dataclass(frozen=True)
class Shared:
    """How arrays lie in memory: folded dimensions, and those that have one piece of it."""

    program: Program
    sizes: Mapping[str, int]
    folds: Folds
    together: frozenset[str] = frozenset()

    def place(self, array: str, element: Point) -> tuple[str, object]:
        """Where an element lies: counted through the piece of memory where arrays share one."""
        record = self.program.array[array]
        slots, lengths = [], []
        for k, (index, (lower, upper)) in enumerate(zip(element, record.extent, strict=True)):
            first = lower.evaluate(self.sizes)
            fold = self.folds.get((array, k))
            slots.append(index - first if fold is None else index % fold)
            lengths.append(upper.evaluate(self.sizes) - first if fold is None else fold)
        if array not in self.together:
            return array, tuple(slots)
        position = 0
        for slot, length in zip(slots, lengths, strict=True):
            position = position * length + slot
        return "", position


def clobbered(shared: Shared) -> Clobbered | None:
    """The first such instance under the program's order; None where all is well."""
    program = shared.program
    known = resolve(program.equations, given_of(program, shared.sizes))
    watched = shared.together | {array for array, _ in shared.folds}
    held: dict[object, tuple[str, Point]] = {}
    for name, points in operations(program.schedule, program, run_at(program, known)):
        statement = program.statement[name]
        reads, writes = [], {}
        for point in points:
            found = accessed(program, statement, point, known)
            reads += [(point, *read) for read in found.reads if read[0] in watched]
            if statement.array in watched:
                writes[shared.place(*found.written)] = (point, found.written)
        for point, array, element in reads:
            place = shared.place(array, element)
            if held.get(place) != (array, element):
                return Clobbered(name, point, array, element, held.get(place, ("", ())))
            if isinstance(statement, Adding) and array == statement.array:
                continue
            if place in writes and (writes[place][0] != point or not _elementwise(program, name)):
                return Clobbered(name, point, array, element, writes[place][1])
        for place, (_, written) in writes.items():
            held[place] = written
    return None


def _elementwise(program: Program, name: str) -> bool:
    """Whether an instance is done with what it reads once it writes: one scalar, no range."""
    statement = program.statement[name]
    return statement.combiner is None and not program.array[statement.array].shape
