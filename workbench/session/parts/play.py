"""A variant's schedule, played at small sizes: what runs at once, and where in memory it reads and
writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise, zip_longest
from math import prod
from typing import Any

from workbench.lowering.execution.events import Execution, Instance
from workbench.lowering.execution.slots import Piece
from workbench.measure.play import Played, TooLargeToPlay, play_nearby
from workbench.measure.play import play as played
from workbench.polyhedral.expression import Expression
from workbench.program.accumulating import Start, owner
from workbench.program.values import Array, Statement
from workbench.session.picture.snapshot import title
from workbench.session.picture.storing import storage_text
from workbench.variants.variant import Variant

MOST_TEXT = 60_000
"""The most characters that a whole program is sent with."""

Point = tuple[int, ...]


@dataclass(frozen=True)
class PlayedStatement:
    """A statement and its instances, in the order in which they run.

    `statement` is the program's to which it belongs, `origin` the same in all variants. A point of
    `dims` is a place in the box that begins at `lower` and has `lengths`, counted through with the
    last dimension fastest. `writes` are elements by number (`PlayedArray.first`), `reads` those of
    each instance. Of all three only the difference from the instance before is told; of reads from
    the one in the same place, or from 0 where there is none. `anywhere` are arrays of which one of
    several elements is read, which the data say.
    """

    statement: str
    title: str
    origin: str
    dims: tuple[str, ...]
    lower: tuple[int, ...]
    lengths: tuple[int, ...]
    array: int
    points: tuple[int, ...]
    writes: tuple[int, ...]
    reads: tuple[tuple[int, ...], ...]
    anywhere: tuple[str, ...]


@dataclass(frozen=True)
class PlayedArray:
    """An array. Its elements, those of a box as points are, have numbers from `first` on; `slots`
    are those of each in the piece of memory that is `memory`. `output`: it is read at the end.
    """

    name: str
    dims: tuple[str, ...]
    lower: tuple[int, ...]
    lengths: tuple[int, ...]
    first: int
    memory: int
    slots: tuple[tuple[int, ...], ...]
    output: bool


@dataclass(frozen=True)
class PlayedMemory:
    """A piece of memory, of `slots` slots: a box of these `lengths` `along` these dimensions, the
    last one fastest; without a dimension where arrays share it that are arranged otherwise. `kept`
    says how much of each dimension there is a slot for, "" if all.
    """

    arrays: tuple[int, ...]
    slots: int
    along: tuple[str, ...]
    lengths: tuple[int, ...]
    kept: str
    storage: str


@dataclass(frozen=True)
class PlayView:
    """A variant's execution. Event n is the next `at_once[n]` instances of statement `order[n]`;
    all of them read before any writes. `whole`: all statements are played; `remark` says what is
    not as one might expect, "" if nothing.

    Nothing is played where `too_large` says why not. `smaller` are sizes, none of them derived, at
    which more is played, null where there are none.
    """

    sizes: Mapping[str, int]
    statements: tuple[PlayedStatement, ...]
    arrays: tuple[PlayedArray, ...]
    memories: tuple[PlayedMemory, ...]
    order: tuple[int, ...]
    at_once: tuple[int, ...]
    whole: bool
    remark: str
    too_large: str
    smaller: Mapping[str, int] | None


def play(variant: Variant, arguments: Mapping[str, Any]) -> PlayView:
    """Return the execution of a variant at `sizes`, as small as possible by default; of a program
    that is too large that of `statement` with its neighbours (null for an output).

    Raises WorkbenchError for an unknown statement, SizeError for sizes that the program does not
    take.
    """
    sizes, statement = arguments["sizes"], arguments["statement"]
    try:
        found = view(played(variant, sizes, statement))
        if len(json.dumps(asdict(found), ensure_ascii=False, separators=(",", ":"))) <= MOST_TEXT:
            return found
        return view(play_nearby(variant, sizes, statement))
    except TooLargeToPlay as refusal:
        return _nothing(refusal)


def _nothing(refusal: TooLargeToPlay) -> PlayView:
    """Return an execution of which nothing is played."""
    return PlayView(
        sizes=refusal.sizes,
        statements=(),
        arrays=(),
        memories=(),
        order=(),
        at_once=(),
        whole=False,
        remark="",
        too_large=refusal.message,
        smaller=refusal.smaller,
    )


def view(found: Played) -> PlayView:
    """Return an execution as a value that views draw."""
    run = found.execution
    numbering = _Numbering(run)
    together = _by_statement(run)
    number = {name: n for n, name in enumerate(together)}
    return PlayView(
        sizes=run.sizes,
        statements=tuple(
            _statement(run.program.statement[name], instances, numbering)
            for name, instances in together.items()
        ),
        arrays=tuple(numbering.view(array) for array in numbering.arrays),
        memories=tuple(_memory(found, piece, numbering) for piece in numbering.pieces),
        order=tuple(number[event.statement] for event in run.events),
        at_once=tuple(len(event.instances) for event in run.events),
        whole=found.whole,
        remark=found.remark,
        too_large="",
        smaller=found.smaller,
    )


class _Numbering:
    """The arrays that an execution touches, their pieces of memory, and numbers for elements."""

    def __init__(self, run: Execution) -> None:
        self._run = run
        touched = {
            touch.array
            for event in run.events
            for instance in event.instances
            for touch in (*instance.reads, instance.write)
        }
        self.arrays = [array for array in run.program.arrays if array.name in touched]
        self.pieces = [p for p in run.memory.pieces if not touched.isdisjoint(p.arrays)]
        self.number = {array.name: number for number, array in enumerate(self.arrays)}
        self._boxes = [self._box(array) for array in self.arrays]
        sizes = (prod(lengths) for _, lengths in self._boxes)
        self._first = [0, *accumulate(sizes)]

    def _box(self, array: Array) -> tuple[Point, Point]:
        bounds = [[e.evaluate(self._run.sizes) for e in pair] for pair in array.extent]
        return tuple(low for low, _ in bounds), tuple(high - low for low, high in bounds)

    def element(self, array: str, element: Point) -> int:
        """Return the number of an element."""
        number = self.number[array]
        return self._first[number] + place(element, *self._boxes[number])

    def view(self, array: Array) -> PlayedArray:
        """Return an array with the slots of all its elements."""
        number = self.number[array.name]
        lower, lengths = self._boxes[number]
        memory = next(k for k, piece in enumerate(self.pieces) if array.name in piece.arrays)
        return PlayedArray(
            name=array.name,
            dims=array.dims,
            lower=lower,
            lengths=lengths,
            first=self._first[number],
            memory=memory,
            slots=tuple(
                self._run.memory.slots(array.name, element) for element in points(lower, lengths)
            ),
            output=any(output.array == array.name for output in self._run.program.outputs),
        )


def place(point: Point, lower: Point, lengths: Point) -> int:
    """Return the place of a point in a box, counted with the last dimension fastest."""
    found = 0
    for at, low, length in zip(point, lower, lengths, strict=True):
        found = found * length + at - low
    return found


def points(lower: Point, lengths: Point) -> list[Point]:
    """Return the points of a box, in the order of their places."""
    found: list[Point] = [()]
    for low, length in zip(lower, lengths, strict=True):
        found = [(*point, low + at) for point in found for at in range(length)]
    return found


def _by_statement(run: Execution) -> dict[str, list[Instance]]:
    """Return the instances of each statement in their order, as the program is written."""
    found: dict[str, list[Instance]] = {s.name: [] for s in run.program.statements}
    for event in run.events:
        found[event.statement] += event.instances
    return {name: instances for name, instances in found.items() if instances}


def _statement(
    statement: Statement, instances: Sequence[Instance], numbering: _Numbering
) -> PlayedStatement:
    along = list(zip(*(instance.point for instance in instances), strict=True))
    lower = tuple(min(values) for values in along)
    lengths = tuple(max(values) - low + 1 for values, low in zip(along, lower, strict=True))
    starts = isinstance(statement, Start)
    return PlayedStatement(
        statement=owner(statement),
        title=title(replace(statement, scope=())) + (" starts" if starts else ""),
        origin=statement.origin + (" starts" if starts else ""),
        dims=statement.dims,
        lower=lower,
        lengths=lengths,
        array=numbering.number[statement.array],
        points=_differences([place(i.point, lower, lengths) for i in instances]),
        writes=_differences([numbering.element(i.write.array, i.write.element) for i in instances]),
        reads=_from_before(
            [[numbering.element(read.array, read.element) for read in i.reads] for i in instances]
        ),
        anywhere=_anywhere(statement),
    )


def _anywhere(statement: Statement) -> tuple[str, ...]:
    """Return the arrays that a statement reads at data-dependent indices."""
    accesses = (read.access for read in statement.reads)
    return tuple(
        dict.fromkeys(
            access.array
            for access in accesses
            if any(not isinstance(e, Expression) for e in access.index)
        )
    )


def _differences(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(after - before for before, after in pairwise([0, *numbers]))


def _from_before(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return each number as its difference from that in the same place of the row before."""
    return tuple(
        tuple(n - m for n, m in zip_longest(row, before[: len(row)], fillvalue=0))
        for before, row in pairwise([[], *rows])
    )


def _memory(found: Played, piece: Piece, numbering: _Numbering) -> PlayedMemory:
    run = found.execution
    first = piece.arrays[0]
    record, stored = run.program.array[first], run.memory.stored(first)
    whole = prod(piece.lengths) == piece.slots
    return PlayedMemory(
        arrays=tuple(numbering.number[name] for name in piece.arrays if name in numbering.number),
        slots=piece.slots,
        along=tuple(record.dims[position] for position in stored.order) if whole else (),
        lengths=piece.lengths if whole else (piece.slots,),
        kept=", ".join(_kept(run, array) for array in piece.arrays if _kept(run, array)),
        storage=storage_text(found.program, first),
    )


def _kept(run: Execution, array: str) -> str:
    """Say of how many slices of each dimension an array keeps how many: `t: 2 of 4`."""
    record = run.program.array[array]
    windows = run.memory.stored(array).windows
    parts = []
    for dim, window, (lower, upper) in zip(record.dims, windows, record.extent, strict=True):
        if window is not None:
            kept, length = (e.evaluate(run.sizes) for e in (window, upper - lower))
            if kept != length:
                parts.append(f"{dim}: {kept} of {length}")
    return ", ".join(parts)
