"""Launches of a loop program, one after the other, at sizes and with memory at addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.memory.device_memory import handed_bytes, handed_places
from workbench.codegen.cuda.memory.memory_parts import MemoryParts, Part, Touched
from workbench.codegen.cuda.small_kernels import small_in_a_row
from workbench.codegen.kernel_records import Invoke
from workbench.codegen.kernels import ProgramKernels
from workbench.lowering.instances.swapping import TO_HOST
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import (
    ITEM_BYTES,
    Allocate,
    Apply,
    AtOnce,
    For,
    If,
    Launch,
    Record,
)
from workbench.polyhedral.conditions import Condition, names_in
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class FunctionLaunch:
    """A launch of a function by name in so many blocks: the addresses and integers it is given, and
    the memory that it touches, where anything is copied between the spaces.
    """

    function: str
    blocks: int
    given: tuple[int, ...]
    touched: tuple[Touched, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Transfer:
    """A copy of a slice between the spaces: so many bytes between addresses, to the memory of the
    host or of the device.
    """

    to: int
    source: int
    count: int
    to_host: bool

    @property
    def touched(self) -> tuple[Touched, ...]:
        """The memory that it reads and writes."""
        return (
            Touched(self.source, self.source + self.count, False),
            Touched(self.to, self.to + self.count, True),
        )


@dataclass(frozen=True)
class ExternalCall:
    """A call of an external object by its number, with the variables of the loops around it: the
    addresses of its result and of its operands.
    """

    number: int
    variables: tuple[tuple[str, int], ...]
    out: int
    operands: tuple[int, ...]


OfDevice: TypeAlias = FunctionLaunch | Transfer
"""A step that the device does by itself."""

Step: TypeAlias = OfDevice | ExternalCall


@dataclass(frozen=True)
class Addresses:
    """The addresses of a run: its state, buffers and values from outside by name,
    and the memory that each function or call has for itself.
    """

    run: int
    arrays: Mapping[str, int]
    own: Sequence[int]


@dataclass(frozen=True)
class _Turns:
    loop: For
    body: tuple[_Node, ...]


@dataclass(frozen=True)
class _Branch:
    condition: Condition
    body: tuple[_Node, ...]


@dataclass(frozen=True)
class _Copy:
    source: Part
    to: Part
    to_host: bool


_Node: TypeAlias = int | _Turns | _Branch | _Copy | Allocate
"""A record of the loop program; the number of what is launched in the place of a kernel."""


class Launching:
    """The launches of a run. `numbers` are its sizes, and those by which neighbours of values from
    outside are apart.
    """

    def __init__(
        self,
        made: ProgramKernels,
        launched: Sequence[Function | Stages],
        numbers: Mapping[str, int],
        dtype: str,
        addresses: Addresses,
    ) -> None:
        self.launched, self.numbers, self.dtype = launched, numbers, dtype
        self.run, self.own = addresses.run, addresses.own
        self.places = addresses.arrays
        self.addresses = dict(addresses.arrays)
        """The address of each array now: a buffer may have taken over another's memory."""
        self.items = {
            name: ITEM_BYTES.get(buffer.dtype, FLOAT_BYTES[dtype])
            for name, buffer in made.buffers.items()
        }
        ends = {row[-1]: k for k, row in enumerate(small_in_a_row(made))}
        self._numbers, self._ends, self._of_blocks = count(), ends, made.loops.own
        self.parts = MemoryParts(made)
        before, main, behind = made.loops.parts
        self.begin = self._nodes(before)
        self.iteration = self._nodes(main.body if main else ())
        self.end = self._nodes(behind)
        self.variable = main.variable if main else ""
        self.varies = self._depends(self.iteration)
        """True if iterations of the main loop may launch other than each other."""

    def steps(self, body: Sequence[_Node], variables: Mapping[str, int]) -> Iterator[Step]:
        """Yield what a body launches, inside loops with these variables."""
        values = {**self.numbers, **variables}
        for node in body:
            if isinstance(node, int):
                yield from self._at(self.launched[node], self.own[node], variables)
            elif isinstance(node, _Turns):
                low, high = (bound.evaluate(values) for bound in node.loop.range)
                turns = range(low, high)
                for value in reversed(turns) if node.loop.backwards else turns:
                    yield from self.steps(node.body, {**variables, node.loop.variable: value})
            elif isinstance(node, _Branch):
                if node.condition.holds(lambda e: e.evaluate(values)):
                    yield from self.steps(node.body, variables)
            elif isinstance(node, _Copy):
                yield self._transfer(node, values)
            else:
                name, taken = node.buffer.name, node.source
                self.addresses[name] = self.places[name] if taken is None else self.addresses[taken]

    def _at(self, one: Function | Stages, own: int, variables: Mapping[str, int]) -> Iterator[Step]:
        """Yield what is launched in one place."""
        if isinstance(one, Function):
            yield self._launch(one, own, self.addresses, variables, own)
            return
        places = handed_places(one, self.numbers, self.dtype)
        arrays = {**self.addresses, **{name: own + at for name, at in places.items()}}
        behind_them = own + handed_bytes(one, self.numbers, self.dtype)
        items = {name: self.item(dtype) for name, (dtype, _) in one.memory.items()}
        for stage in one.stages:
            if isinstance(stage, Function):
                yield self._launch(stage, behind_them, arrays, variables, own)
            else:
                yield self._call(stage, arrays, self.items | items, variables)

    def _call(
        self,
        invoke: Invoke,
        arrays: Mapping[str, int],
        items: Mapping[str, int],
        variables: Mapping[str, int],
    ) -> ExternalCall:
        values = {**self.numbers, **variables}
        out, *operands = (
            arrays[name] + at.evaluate(values) * items[name]
            for name, at in (invoke.out, *invoke.operands)
        )
        return ExternalCall(invoke.option["site"], tuple(variables.items()), out, tuple(operands))

    def _launch(
        self,
        function: Function,
        own: int,
        arrays: Mapping[str, int],
        variables: Mapping[str, int],
        begin: int,
    ) -> FunctionLaunch:
        """Return the launch of a function with memory for itself, which begins with what is handed
        on to others.
        """
        values = {**self.numbers, **variables}
        own_bytes = function.own_bytes.evaluate(values)
        given = (
            *(arrays[name] for name in function.arrays),
            *(values[name] for name in (*function.sizes, *function.variables)),
        )
        blocks = function.blocks.evaluate(values)
        touched: list[Touched] = []
        if self.parts.any_copied:
            touched.append(Touched(begin, own + own_bytes * max(blocks, 0), True))
            for part, written in self.parts.uses(function):
                touched.append(Touched(*self._bytes(arrays, part, values), written))
        given = (self.run, own, own_bytes, *given)
        return FunctionLaunch(function.name, blocks, given, tuple(touched))

    def _transfer(self, node: _Copy, values: Mapping[str, int]) -> Transfer:
        """Return the copy of a slice."""
        begin, end = self._bytes(self.addresses, node.source, values)
        to, _ = self._bytes(self.addresses, node.to, values)
        return Transfer(to, begin, end - begin, node.to_host)

    def _bytes(
        self, arrays: Mapping[str, int], part: Part, values: Mapping[str, int]
    ) -> tuple[int, int]:
        """Return the address of the first byte of elements, and that behind the last."""
        item = self.items[part.buffer]
        begin = arrays[part.buffer] + part.first.evaluate(values) * item
        return begin, begin + part.elements.evaluate(values) * item

    def item(self, dtype: str) -> int:
        """Return the bytes of an element."""
        return ITEM_BYTES.get(dtype, FLOAT_BYTES[self.dtype])

    # -- the loop program --------------------------------------------------------------------------

    def _nodes(self, body: Sequence[Record]) -> tuple[_Node, ...]:
        return tuple(node for record in body for node in self._nodes_of(record))

    def _nodes_of(self, record: Record) -> Iterator[_Node]:
        """Yield the nodes of a record; none of a kernel that another function runs."""
        if isinstance(record, Launch) or (isinstance(record, For) and record.apart):
            number = next(self._numbers)
            if number in self._ends:
                yield self._ends[number]
        elif isinstance(record, For):
            yield _Turns(record, self._nodes(record.body))
        elif isinstance(record, If):
            yield _Branch(record.condition, self._nodes(record.body))
        elif isinstance(record, AtOnce):
            yield from self._nodes(record.body)
        elif isinstance(record, Apply):
            source, to = self.parts.of(record.inputs[0]), self.parts.of(record.out)
            yield _Copy(source, to, record.function == TO_HOST)
        elif isinstance(record, Allocate) and record.buffer.name not in self._of_blocks:
            yield record

    def _depends(self, body: Sequence[_Node]) -> bool:
        """Tell whether what a body launches depends on the main loop's variable."""
        for node in body:
            if isinstance(node, int):
                if any(self.variable in e.variables for e in _numbers_of(self.launched[node])):
                    return True
            elif isinstance(node, _Turns):
                bounds = (names for e in node.loop.range for names in (e.variables,))
                if any(self.variable in names for names in bounds) or self._depends(node.body):
                    return True
            elif isinstance(node, _Copy):
                if any(self.variable in part.first.variables for part in (node.source, node.to)):
                    return True
            elif isinstance(node, _Branch) and (
                self.variable in names_in(node.condition) or self._depends(node.body)
            ):
                return True
        return False


def _numbers_of(one: Function | Stages) -> Iterator[Expression]:
    """Yield the expressions that a launch depends on. A call is made anew each time."""
    if isinstance(one, Function):
        yield from (one.blocks, one.own_bytes)
    else:
        for call in one.calls:
            yield from (at for _, at in (call.out, *call.operands))
        for function in one.functions:
            yield from _numbers_of(function)
