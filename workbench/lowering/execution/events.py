"""The events of a program's execution at given sizes, in order.

An event is one array operation: a statement's instances that all loops around it bring at once, an
iteration of the loops or, of a dimension that is an axis, all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.lowering.execution.slots import Memory, Slots
from workbench.polyhedral.accesses import Access, AccessEntry, Between, Extent, Tied
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.loops.execution_order import Point, operations
from workbench.polyhedral.sets.counting import count
from workbench.polyhedral.sets.scanning import scanner
from workbench.polyhedral.tree import only
from workbench.program.accumulating import Adding, derived, owner
from workbench.program.values import Program, Statement

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Touch:
    """An element that is read or written, and the slots in its array's piece of memory where it
    lies.
    """

    array: str
    element: Point
    slots: Slots


@dataclass(frozen=True)
class Instance:
    """An instance, the elements that it reads at all of its reduction points, each once, and the
    one that it writes. Of a data-dependent index it reads one of the elements that it may be.
    """

    point: Point
    reads: tuple[Touch, ...]
    write: Touch


@dataclass(frozen=True)
class Event:
    """Instances of a statement that run at once: all read before any writes.

    The points of a sum that are added up add to their element one after the other.
    """

    time: int
    statement: str
    instances: tuple[Instance, ...]

    @property
    def touches(self) -> int:
        """The number of its reads and writes."""
        return sum(len(instance.reads) + 1 for instance in self.instances)


@dataclass(frozen=True, eq=False)
class Execution:
    """The events of some statements of a program, or of all.

    `program` is the derived one (`program/accumulating.py`), to which statements and arrays of the
    events belong. Blocks that are apart run one after the other here, the first one first.
    """

    program: Program
    sizes: Sizes
    memory: Memory
    events: tuple[Event, ...]

    @property
    def instances(self) -> int:
        """The number of all instances."""
        return sum(len(event.instances) for event in self.events)


class TooMuchTouched(Exception):
    """An execution has more reads and writes than it may have."""


def execution(
    program: Program,
    sizes: Sizes,
    statements: Collection[str] | None = None,
    most: int | None = None,
) -> Execution:
    """Return what runs at `sizes`, all of which are given: of `statements` of the program, or all.

    What starts a sum that is added up belongs to the statement of its points. Raises TooMuchTouched
    as soon as there are more than `most` reads and writes, TooLargeToShare where arrays share much
    memory.
    """
    program = derived(program)
    chosen = _chosen(program, statements)
    tree = only(program.schedule, [s.name for s in chosen])
    memory = Memory(program, sizes)
    if tree is None:
        return Execution(program, sizes, memory, ())
    points = {s.name: scanner(s.domain, sizes, 0)(()) for s in chosen}
    touching = {s.name: _Touching(s, memory) for s in chosen}
    run = operations(tree, {s.name: s.dims for s in chosen}, points)
    events: list[Event] = []
    touches = 0
    for time, (name, together) in enumerate(run):
        event = Event(time, name, tuple(touching[name].instance(point) for point in together))
        events.append(event)
        touches += event.touches
        if most is not None and touches > most:
            raise TooMuchTouched
    return Execution(program, sizes, memory, tuple(events))


def instances(program: Program, sizes: Sizes, statements: Collection[str] | None = None) -> int:
    """Return the number of instances that `execution` would have; lists none."""
    return sum(count(s.domain, sizes) for s in _chosen(derived(program), statements))


def _chosen(program: Program, statements: Collection[str] | None) -> list[Statement]:
    return [s for s in program.statements if statements is None or owner(s) in statements]


class _Touching:
    """The elements that the instances of a statement read and write."""

    def __init__(self, statement: Statement, memory: Memory) -> None:
        self._statement, self._memory = statement, memory
        self._accesses = [
            (access, memory.program.array[access.array].extent)
            for access in dict.fromkeys(read.access for read in statement.reads)
        ]
        if statement.reduction_dims:
            self._scan = scanner(statement.reduction, memory.sizes, len(statement.dims))

    def instance(self, point: Point) -> Instance:
        """Return the instance at a point of the domain."""
        statement = self._statement
        at = self._values(statement.dims, point)
        write = self._touch(statement.array, tuple(e.evaluate(at) for e in statement.write))
        reads = dict.fromkeys(self._reads(point))
        if isinstance(statement, Adding):
            reads[write] = None
        return Instance(point, tuple(reads), write)

    def _reads(self, point: Point) -> Iterator[Touch]:
        statement = self._statement
        dims, points = statement.dims, [point]
        if statement.reduction_dims:
            dims += statement.reduction_dims
            points = [point + rest for rest in self._scan(point)]
        for at in points:
            values = self._values(dims, at)
            for access, extent in self._accesses:
                for element in _elements(access, extent, values):
                    yield self._touch(access.array, element)

    def _touch(self, array: str, element: Point) -> Touch:
        return Touch(array, element, self._memory.slots(array, element))

    def _values(self, dims: Sequence[str], point: Point) -> Sizes:
        return {**self._memory.sizes, **dict(zip(dims, point, strict=True))}


def _elements(access: Access, extent: Extent, values: Sizes) -> Iterator[Point]:
    """Yield the elements that an access at given values may touch."""
    elements: list[Point] = [()]
    for e, bounds in zip(access.index, extent, strict=True):
        elements = [(*x, n) for x in elements for n in _indices(e, *bounds, values)]
    tied = [(k, e) for k, e in enumerate(access.index) if isinstance(e, Tied)]
    return (x for x in elements if all(_is_held(e, x[k], x, values) for k, e in tied))


def _indices(e: AccessEntry, lower: Expression, upper: Expression, values: Sizes) -> range:
    if isinstance(e, Expression):
        at = e.evaluate(values)
        return range(at, at + 1)
    if isinstance(e, Between):
        lower, upper = e.lower, e.upper
    return range(lower.evaluate(values), upper.evaluate(values))


def _is_held(e: Tied, index: int, element: Point, values: Sizes) -> bool:
    """Tell whether an index keeps to its bounds, given the element's other indices."""

    def there(at: tuple[Expression, ...]) -> bool:
        return all(element[p] == x.evaluate(values) for p, x in zip(e.at, at, strict=True))

    if e.lower is not None and there(e.lower[0]) and index < e.lower[1].evaluate(values):
        return False
    return e.upper is None or not there(e.upper[0]) or index < e.upper[1].evaluate(values)
