"""The one meaning of a program: its equations evaluated on demand, by element, in float64.

It knows neither schedule nor storage. The write is solved for an element's statement and instance.
The instance's reads are evaluated first, on an explicit stack (a recurrence of ten thousand steps
is ten thousand entries there, not ten thousand Python calls), and every element is kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends import philox
from workbench.backends.externals import Externals
from workbench.backends.reference.equations import (
    DTYPES,
    Equation,
    OperationListener,
    Tables,
    concrete,
)
from workbench.backends.reference.indices import Point
from workbench.backends.reference.user_names import meaning
from workbench.errors import ProgramError
from workbench.program.bodies import Call, Read
from workbench.program.episodes.held import opens_of
from workbench.program.sizes import resolve, settable
from workbench.program.values import Array, Equations
from workbench.program.wellformed import sentences
from workbench.program.wellformed.index_ranges import check_indices

Override = Callable[[Point], Any]
NOT_EXECUTED = object()
"""The value of an element that does not exist: the episode of its instance ended before."""
BLOCK = 256
"""Reduction points evaluated at a time."""


@dataclass(frozen=True)
class Wanted:
    """An element and who asks for it: a read of an equation at a point, or the user (None)."""

    array: str
    element: Point
    equation: Equation | None = None
    read: Read | None = None
    point: Point = ()


@dataclass(frozen=True)
class Frame:
    """An instance in progress."""

    wanted: Wanted
    equation: Equation
    work: Generator[Wanted, None, Any]


@dataclass(frozen=True)
class Input:
    """An element that an instance read directly."""

    read: Read
    element: Point
    value: Any


class Reference:
    """A program's elements at given sizes and seed.

    `given` overrides elements of arrays by name: a function from an element's coordinates to its
    value, or to None where the equations decide. `watch` is told of every operation evaluated.
    `data` are the values from outside by name, over their dims, then the inner shape. Returned
    arrays are read-only.
    """

    def __init__(
        self,
        equations: Equations,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        given: Mapping[str, Override] | None = None,
        watch: OperationListener | None = None,
        data: Tables | None = None,
    ) -> None:
        self.equations = equations
        self.watch = watch
        self.data = {} if data is None else data
        self.sizes = resolve(equations, sizes)
        check_indices(equations, self.sizes)
        self.seed = philox.checked_seed(seed)
        self._opens = opens_of(equations)
        self._given = {self.resolve(name): f for name, f in (given or {}).items()}
        self._known: dict[str, dict[Point, Any]] = {a.name: {} for a in equations.arrays}
        self._equations: dict[str, list[Equation]] = {}
        self._externals: Externals | None = None
        self._answers: dict[tuple[str, Point], Any] = {}
        self._extents = {
            a.name: [(lo.evaluate(self.sizes), up.evaluate(self.sizes)) for lo, up in a.extent]
            for a in equations.arrays
        }

    def overridden(self, given: Mapping[str, Override]) -> Reference:
        """Return the same program at the same sizes and seed with other elements given.

        Its statements are prepared once for all.
        """
        sizes = settable(self.equations, self.sizes)
        other = Reference(self.equations, sizes, self.seed, given, self.watch, self.data)
        other._equations = self._equations
        return other

    def element(self, array: str, coordinates: Sequence[int]) -> npt.NDArray[Any]:
        """Return the value of one element, of the array's inner shape."""
        name = self.resolve(array)
        element = tuple(int(c) for c in coordinates)
        if len(element) != len(self.equations.array[name].dims):
            raise ProgramError(sentences.arity(self.equations.array[name], array, element))
        value = self._settled(name, element)
        if value is NOT_EXECUTED:
            raise self._failure(
                sentences.unexecuted, self.equations.array[name], Wanted(name, element)
            )
        known: npt.NDArray[Any] = value
        return known

    def _settled(self, name: str, element: Point) -> Any:
        if element not in self._known[name]:
            self._settle(Wanted(name, element))
        return self._known[name][element]

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return the whole extent; elements that do not exist are NaN, or 0 where not float."""
        record = self.equations.array[self.resolve(name)]
        extent = self._extents[record.name]
        shape = tuple(upper - lower for lower, upper in extent) + concrete(record.shape, self.sizes)
        empty = np.nan if record.dtype == "float" else 0
        result = np.full(shape, empty, DTYPES[record.dtype])
        for element in self._elements(record):
            value = self._settled(record.name, element)
            if value is not NOT_EXECUTED:
                result[self._position(record, element)] = value
        return result

    def mask(self, name: str) -> npt.NDArray[np.bool_]:
        """Return the mask of the whole extent's defined elements."""
        record = self.equations.array[self.resolve(name)]
        result = np.zeros([upper - lower for lower, upper in self._extents[record.name]], np.bool_)
        guarded = any(w.guards for w in self.equations.writers[record.name])
        for element in self._elements(record):
            exists = not guarded or self._settled(record.name, element) is not NOT_EXECUTED
            result[self._position(record, element)] = exists
        return result

    def outputs(self) -> dict[str, npt.NDArray[Any]]:
        """Return every output by name, over its array's whole extent."""
        return {output.name: self.array(output.array) for output in self.equations.outputs}

    def defining(self, array: str, coordinates: Sequence[int]) -> tuple[Equation, Point] | None:
        """Return the (prepared) statement and instance of an element, or None if it is given."""
        name, element = self.resolve(array), tuple(int(c) for c in coordinates)
        return None if self._override(name, element) is not None else self._writer(name, element)

    def computed(self, array: str, coordinates: Sequence[int]) -> npt.NDArray[Any]:
        """Compute an element by its equation, even if the element is given.

        Raises ProgramError where nothing writes it.
        """
        name, element = self.resolve(array), tuple(int(c) for c in coordinates)
        writer = self._writer(name, element)
        if writer is None:
            raise self._failure(
                sentences.undefined, self.equations.array[name], Wanted(name, element)
            )
        work = self._evaluate(*writer)
        while True:
            try:
                needed = next(work)
            except StopIteration as finished:
                if finished.value is NOT_EXECUTED:
                    record, wanted = self.equations.array[name], Wanted(name, element)
                    raise self._failure(sentences.unexecuted, record, wanted) from None
                value: npt.NDArray[Any] = finished.value
                return value
            self._settle(needed)

    def inputs(self, array: str, coordinates: Sequence[int]) -> list[Input]:
        """Return the elements that the defining instance reads directly, with values, in order."""
        self.element(array, coordinates)
        defining = self.defining(array, coordinates)
        record: list[Input] = []
        if defining is not None:
            with np.errstate(all="ignore"):
                for _ in self._evaluate(*defining, record):
                    raise AssertionError("an input of a known element is unknown")
        return record

    def resolve(self, name: str) -> str:
        """Return the array that the user's `name` stands for, element by element."""
        found = meaning(self.equations, name)
        if not found.is_whole:
            raise ProgramError(f"{name} is {found.place}: ask for {found.array}")
        return found.array

    # -- evaluation -----------------------------------------------------------------------------

    def _settle(self, first: Wanted) -> None:
        """Evaluate an element and all that it needs."""
        stack: list[Frame] = []
        active: dict[tuple[str, Point], None] = {}
        pending: Wanted | None = first
        with np.errstate(all="ignore"):
            while stack or pending is not None:
                if pending is not None:
                    if (pending.array, pending.element) in active:
                        raise self._cycle(stack, pending)
                    frame = self._begun(pending)
                    if frame is not None:
                        stack.append(frame)
                        active[pending.array, pending.element] = None
                    pending = None
                    continue
                frame = stack[-1]
                try:
                    pending = next(frame.work)
                except StopIteration as finished:
                    wanted = frame.wanted
                    self._known[wanted.array][wanted.element] = finished.value
                    del active[wanted.array, wanted.element]
                    stack.pop()

    def _begun(self, wanted: Wanted) -> Frame | None:
        """Return the instance that computes an element, or None where the element is given."""
        record = self.equations.array[wanted.array]
        extent = self._extents[wanted.array]
        for position, (lower, upper) in zip(wanted.element, extent, strict=True):
            if not lower <= position < upper:
                raise self._failure(sentences.outside, record, wanted, extent)
        value = self._override(wanted.array, wanted.element)
        if value is not None:
            shape = concrete(record.shape, self.sizes)
            value = np.broadcast_to(np.array(value, DTYPES[record.dtype]), shape)
            self._known[wanted.array][wanted.element] = value
            return None
        writer = self._writer(wanted.array, wanted.element)
        if writer is None:
            raise self._failure(sentences.undefined, record, wanted)
        return Frame(wanted, writer[0], self._evaluate(*writer))

    def _evaluate(
        self, equation: Equation, instance: Point, record: list[Input] | None = None
    ) -> Generator[Wanted, None, Any]:
        """Compute an instance's value; yield each element that it still needs."""
        for guard, index in equation.guards:
            place = index(instance)
            if place not in self._known[guard.array]:
                yield Wanted(guard.array, place, equation, guard, instance)
            if not self._known[guard.array][place]:
                closed = equation.statement.array == guard.array  # it stays so
                return np.False_ if closed else NOT_EXECUTED
        if equation.statement.combiner is None:
            value = yield from self._body(equation, [instance], False, record)
            return equation.finished(value)
        points, state = equation.points(instance), None
        for first in range(0, len(points), BLOCK):
            at = points[first : first + BLOCK]
            values = yield from self._body(equation, at, True, record)
            state = equation.combined(state, values, at)
        if state is not None:
            return equation.finished(state)
        if equation.statement.combiner != "sum":
            statement = equation.statement
            text = sentences.empty(statement, self.equations, instance, self.sizes)
            raise ProgramError(text, statement.line)
        return equation.finished(np.zeros(equation.shape))

    def _body(
        self, equation: Equation, at: Sequence[Point], block: bool, record: list[Input] | None
    ) -> Generator[Wanted, None, Any]:
        if equation.chooses:
            one_by_one = []
            for point in at:
                value = yield from self._chosen(equation, point, record)
                one_by_one.append(value)
            return np.stack(one_by_one) if block else one_by_one[0]
        values: list[Any] = []
        for step in equation.steps:
            if step.value is not None:
                values.append(step.value(values, at, block))
                continue
            if isinstance(step.body, Call):
                operands = [values[k] for k in step.operands]
                values.append(self._answer(equation, step.body, operands, at[0]))
                continue
            assert isinstance(step.body, Read)
            assert step.index is not None
            read, known, results = step.body, self._known[step.body.array], []
            for k, point in enumerate(at if step.varies else at[:1]):
                element = step.index(point)
                for axis, source in step.gathered:
                    position = values[source][k] if block else values[source]
                    element = (*element[:axis], int(position), *element[axis + 1 :])
                yield from self._needed(Wanted(read.array, element, equation, read, point))
                results.append(known[element])
                if record is not None:
                    record.append(Input(read, element, known[element]))
            if not block:
                values.append(results[0])
            elif step.varies:
                values.append(np.stack(results))
            else:
                values.append(np.broadcast_to(results[0], (len(at), *results[0].shape)))
        return values[-1]

    def _needed(self, wanted: Wanted) -> Generator[Wanted, None, None]:
        """Yield an element that is not known yet; refuse one that does not exist."""
        known = self._known[wanted.array]
        if wanted.element not in known:
            yield wanted
        if known[wanted.element] is NOT_EXECUTED:
            raise self._failure(sentences.unexecuted, self.equations.array[wanted.array], wanted)

    def _chosen(
        self, equation: Equation, point: Point, record: list[Input] | None
    ) -> Generator[Wanted, None, Any]:
        """Compute a body at a point, of each `where` on what is open the chosen side only."""
        values: dict[int, Any] = {}

        def value(k: int) -> Generator[Wanted, None, None]:
            step = equation.steps[k]
            if k in values:
                return
            if step.chooses:
                condition, *sides = step.operands
                yield from value(condition)
                chosen = sides[0 if values[condition] else 1]
                yield from value(chosen)
                both = {condition: values[condition], **dict.fromkeys(sides, values[chosen])}
                assert step.value is not None
                shape = concrete(step.body.shape, self.sizes)
                values[k] = np.broadcast_to(step.value(both, [point], False), shape)
                return
            for operand in (*step.operands, *(source for _, source in step.gathered)):
                yield from value(operand)
            if step.value is not None:
                values[k] = step.value(values, [point], False)
            elif isinstance(step.body, Call):
                operands = [values[n] for n in step.operands]
                values[k] = self._answer(equation, step.body, operands, point)
            else:
                assert isinstance(step.body, Read)
                assert step.index is not None
                element = step.index(point)
                for axis, source in step.gathered:
                    element = (*element[:axis], int(values[source]), *element[axis + 1 :])
                read = step.body
                yield from self._needed(Wanted(read.array, element, equation, read, point))
                values[k] = self._known[read.array][element]
                if record is not None:
                    record.append(Input(read, element, values[k]))

        last = len(equation.steps) - 1
        yield from value(last)
        return values[last]

    def _answer(
        self, equation: Equation, call: Call, operands: Sequence[Any], instance: Point
    ) -> Any:
        """Return an external object's answer, asked once: its state changes."""
        key = (equation.statement.name, instance)
        if key not in self._answers:
            if self._externals is None:
                self._externals = Externals(self.equations, self.sizes, self.seed)
                weakref.finalize(self, self._externals.close)
            out = np.empty(concrete(call.shape, self.sizes), DTYPES[call.dtype])
            at = tuple(zip(equation.statement.dims, instance, strict=True))
            name, method = call.options["name"], call.options["method"]
            self._externals.call(name, method, equation.statement.name, at, out, *operands)
            self._answers[key] = out
        return self._answers[key]

    def _writer(self, array: str, element: Point) -> tuple[Equation, Point] | None:
        for equation in self._writers(array):
            instance = equation.instance(element)
            if instance is not None:
                return equation, instance
        return None

    def _writers(self, array: str) -> list[Equation]:
        if array not in self._equations:
            record = self.equations.array[array]
            self._equations[array] = [
                Equation(
                    statement, record, self.sizes, self.seed, self.watch, self.data, self._opens
                )
                for statement in self.equations.writers[array]
            ]
        return self._equations[array]

    def _elements(self, record: Array) -> Iterator[Point]:
        """Yield the defined elements: written by some instance, or given."""
        seen = set()
        for equation in self._writers(record.name):
            for instance in equation.instances():
                seen.add(equation.write(instance))
        if record.name in self._given:
            everything = product(*(range(lo, up) for lo, up in self._extents[record.name]))
            seen.update(e for e in everything if self._override(record.name, e) is not None)
        return iter(sorted(seen))

    def _override(self, array: str, element: Point) -> Any:
        return self._given[array](element) if array in self._given else None

    def _position(self, record: Array, element: Point) -> Point:
        extent = self._extents[record.name]
        return tuple(e - lower for e, (lower, _) in zip(element, extent, strict=True))

    # -- refusals -------------------------------------------------------------------------------

    def _failure(
        self, sentence: Callable[..., str], record: Array, wanted: Wanted, *more: Any
    ) -> ProgramError:
        reader, read = wanted.equation, wanted.read
        own = None if reader is None else reader.statement.line
        line = own if read is None else read.line or own
        where = None if reader is None else (wanted.read, reader.dims, wanted.point)
        return ProgramError(sentence(record, wanted.element, where, self.sizes, *more), line)

    def _cycle(self, stack: Sequence[Frame], again: Wanted) -> ProgramError:
        elements = [(f.wanted.array, f.wanted.element) for f in stack]
        start = elements.index((again.array, again.element))
        statements = [f.equation.statement for f in stack[start:]]
        text = sentences.cycle(statements, self.equations, elements[start:], self.sizes)
        return ProgramError(text, statements[0].line)
