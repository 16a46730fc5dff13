"""A program computed from its events and the slots in them alone, by the reference's operations.

Memory is slots with values. Which element lies in one is not looked at: who reads a slot too late
gets what another has written there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tests.truth import truth
from workbench.backends.reference.equations import Equation
from workbench.lowering.execution.events import Event, Execution, Instance, Touch, execution
from workbench.polyhedral.expression import expression
from workbench.program.accumulating import Adding
from workbench.program.bodies import Read
from workbench.program.operations.table import COMBINES
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.variants.variant import Variant

Point = tuple[int, ...]
Slot = tuple[int, int]
Sizes = Mapping[str, int]
SEED = 5


class Torn(Exception):
    """An element's slots hold no value, or parts of several."""


class Executed:
    """The memory after all events."""

    def __init__(self, execution: Execution, seed: int) -> None:
        self.program, self.sizes = execution.program, dict(execution.sizes)
        self._piece = {
            array: number
            for number, piece in enumerate(execution.memory.pieces)
            for array in piece.arrays
        }
        self._equations = {
            s.name: Equation(s, self.program.array[s.array], self.sizes, seed)
            for s in self.program.statements
        }
        self._held: dict[Slot, tuple[int, Any]] = {}
        self._writes = 0
        self._last: dict[tuple[str, Point], Touch] = {}
        with np.errstate(all="ignore"):
            for event in execution.events:
                self._run(event)

    def output(self, array: str, defined: Any) -> Any:
        """What the slots of an array's written elements hold, as one array over its extent."""
        record = self.program.array[array]
        lower = [low.evaluate(self.sizes) for low, _ in record.extent]
        equation = self._equations[self.program.writers[array][0].name]
        empty = np.nan if record.dtype == "float" else 0
        result = np.full(defined.shape + equation.shape, empty, equation.dtype)
        for position in np.argwhere(defined):
            element = tuple(int(p) + low for p, low in zip(position, lower, strict=True))
            result[tuple(position)] = self._load(self._last[array, element])
        return result

    def _run(self, event: Event) -> None:
        """All instances read before any writes; those that add do so one after the other."""
        statement = self.program.statement[event.statement]
        if isinstance(statement, Adding):
            for instance in event.instances:
                self._store(instance.write, self._added(statement, instance))
            return
        values = [self._value(event.statement, instance) for instance in event.instances]
        for instance, value in zip(event.instances, values, strict=True):
            self._store(instance.write, value)

    def _added(self, statement: Adding, instance: Instance) -> Any:
        """The accumulator with an instance's value in it, in the partial result of its run."""
        add = getattr(np, COMBINES[statement.by])
        value, total = self._value(statement.name, instance), self._load(instance.write)
        if statement.chunks is None:
            return add(total, value)
        at = {d: expression(c) for d, c in zip(statement.dims, instance.point, strict=True)}
        run = statement.chunks.run_of(at).evaluate(self.sizes)
        total = total.copy()
        total[run] = add(total[run], value)
        return total

    def _value(self, statement: str, instance: Instance) -> Any:
        equation = self._equations[statement]
        slots = {(touch.array, touch.element): touch for touch in instance.reads}
        if equation.statement.combiner is None:
            return equation.finished(self._body(equation, [instance.point], False, slots))
        points = equation.points(instance.point)
        if not points:
            assert equation.statement.combiner == "sum"
            return equation.finished(np.zeros(equation.shape))
        block = self._body(equation, points, True, slots)
        return equation.finished(equation.combined(None, block, points))

    def _body(
        self,
        equation: Equation,
        at: Sequence[Point],
        block: bool,
        slots: Mapping[tuple[str, Point], Touch],
    ) -> Any:
        """The body's value at a point or several; what it reads is among the slots of its event."""
        values: list[Any] = []
        for step in equation.steps:
            if step.value is not None:
                values.append(step.value(values, at, block))
                continue
            assert isinstance(step.body, Read)
            assert step.index is not None
            found = []
            for k, point in enumerate(at):
                element = step.index(point)
                for axis, source in step.gathered:
                    position = values[source][k] if block else values[source]
                    element = (*element[:axis], int(position), *element[axis + 1 :])
                found.append(self._load(slots[step.body.array, element]))
            values.append(np.stack(found) if block else found[0])
        return values[-1]

    def _store(self, touch: Touch, value: Any) -> None:
        self._writes += 1
        self._last[touch.array, touch.element] = touch
        for part, slot in enumerate(touch.slots):
            self._held[self._piece[touch.array], slot] = (self._writes, (part, value))

    def _load(self, touch: Touch) -> Any:
        held = [self._held.get((self._piece[touch.array], slot)) for slot in touch.slots]
        if held[0] is None or any(
            own is None or own[0] != held[0][0] or own[1][0] != part
            for part, own in enumerate(held)
        ):
            raise Torn(f"{touch.array}{list(touch.element)} in slots {touch.slots}")
        return held[0][1][1]


def early(execution: Execution) -> Iterator[Execution]:
    """The execution with one event moved in front of the last reader of what it writes over, as
    early as that: wherever all that it reads is there by then, so that nothing else is wrong.
    """
    events = execution.events
    for late, event in enumerate(events):
        for before in _readers_of_what_it_replaces(execution, late):
            ready = {i.write for other in events[:before] for i in other.instances}
            if all(touch in ready for i in event.instances for touch in i.reads):
                between = events[before:late]
                moved = (*events[:before], event, *between, *events[late + 1 :])
                yield replace(execution, events=moved)


def _readers_of_what_it_replaces(execution: Execution, late: int) -> set[int]:
    """The places of the last events that read from slots which the event at `late` writes."""
    piece = {
        array: number
        for number, each in enumerate(execution.memory.pieces)
        for array in each.arrays
    }
    written = {
        (piece[i.write.array], slot)
        for i in execution.events[late].instances
        for slot in i.write.slots
    }
    last: dict[tuple[int, int], int] = {}
    for place, event in enumerate(execution.events[:late]):
        for touch in (touch for i in event.instances for touch in i.reads):
            last |= {(piece[touch.array], slot): place for slot in touch.slots}
    return {last[slot] for slot in written if slot in last}


def with_fewer_slots(execution: Execution, array: str, slots: int) -> Execution:
    """The execution with an array's elements in so many slots, used in turn."""

    def turned(touch: Touch) -> Touch:
        if touch.array != array:
            return touch
        return replace(touch, slots=tuple(slot % slots for slot in touch.slots))

    def moved(event: Event) -> Event:
        instances = tuple(
            Instance(i.point, tuple(map(turned, i.reads)), turned(i.write)) for i in event.instances
        )
        return replace(event, instances=instances)

    return replace(execution, events=tuple(map(moved, execution.events)))


def run(program: Program, sizes: Sizes | None = None) -> Execution:
    """All of a program's events at given sizes."""
    return execution(program, resolve(program.equations, sizes))


def unlike(root: Program, program: Program, found: Execution, sizes: Sizes) -> str | None:
    """The first output that the events do not compute as the reference does; None where none is."""
    reference = truth(root, sizes, SEED)
    executed = Executed(found, SEED)
    arrays = {output.name: output.array for output in program.outputs}
    for output in root.outputs:
        wanted = reference.array(output.array)
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
        computed = executed.output(arrays[output.name], reference.mask(output.array))
        if not np.allclose(computed, wanted, 1e-9, 1e-9 * scale, equal_nan=True):
            return output.name
    return None


def computes(root: Program, variant: Variant, sizes: Sizes) -> bool:
    """Whether a variant's events and slots alone give what its root means."""
    return unlike(root, variant.program, run(variant.program, sizes), sizes) is None


def differs(root: Program, program: Program, other: Execution, sizes: Sizes) -> bool:
    """Whether other events give other outputs, or nothing that could be one."""
    try:
        return unlike(root, program, other, sizes) is not None
    except Torn:
        return True
