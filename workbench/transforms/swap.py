"""Swap: an array lives in host memory, and slices of it come to the device for their use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.lowering.intervals import greatest_length
from workbench.lowering.program import LoopProgram, lower
from workbench.lowering.records import ITEM_BYTES, Allocate, Buffer, walk
from workbench.lowering.swapping import copies
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.tree import axis_dims
from workbench.program.identity import Itself
from workbench.program.sizes import numbers, resolve
from workbench.program.values import Program
from workbench.transforms.base import Rewritten, Transform
from workbench.transforms.named import array_called, unknown_array
from workbench.transforms.refusal import Refusal
from workbench.transforms.storage import fixed

DTYPE = "float32"
"""What bytes are counted in."""

MOST, LEAST = 3, 0.1
"""Candidates at a time, and the share of the device's peak that each is at least."""


@dataclass(frozen=True, repr=False)
class Swap(Transform):
    """An array lives in host memory. The device holds slices of it, as long as they are in use.

    A slice is what a statement touches of the array at one iteration of the loops around it (of a
    loop over blocks, a block). What a statement writes is copied to the host behind it; what it
    reads is fetched in front of the first statement of the loop's body that reads it, for all of
    them.

    Example::

        @wb.program
        def example(B=4, T=30):
            b, t = wb.dims(b=B, t=T)
            x = wb.normal(over=(b, t))
            s = wb.recurrent("s", (), over=(b, t))
            s[b, T] = 0.0
            s[b, t] = 0.5 * s[b, t + 1] + x
            return {"first": s[b, 0]}

    Before::

        first over b (B)
        s over b (B), t (T + 1)
        x over b (B), t (T)

    After Swap("x")::

        first over b (B)
        s over b (B), t (T + 1)
        x over b (B), t (T), on the host

    Legal when the device then holds less at its peak, at default sizes: the array must be held
    there, and its slices must be less than all of it. An array that shares memory with another by
    Donate stays where that is.
    """

    array: str

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Swap]:
        """The largest arrays where the device holds most, if they are much of it."""
        loops = lower(program)
        names = {where.buffer.name: name for name, where in loops.stored.items()}
        held = _fullest(loops, resolve(program))
        least = LEAST * sum(held.values())
        large = [names[b] for b, taken in held.items() if b in names and taken >= least]
        for name in [name for name in large if program.array[name].dims][:MOST]:
            yield cls(name)

    def check(self, program: Program) -> Refusal | None:
        """The stated conditions, cheapest first."""
        refusal = unknown_array(self, program, self.array)
        if refusal is not None:
            return refusal
        array = array_called(program, self.array)
        line = program.writers[array][0].line
        if array in program.storage.swapped:
            return Refusal("no effect", f"{self}: {array} lives in host memory already", line=line)
        for pair in program.storage.donated:
            if array in pair and pair[0] != pair[1]:
                other = pair[pair[0] == array]
                sentence = (
                    f"{self}: {array} and {other} are in one piece of memory since "
                    f"Donate({pair[0]!r}, {pair[1]!r}), and {other} lives on the device"
                )
                return Refusal("capability", sentence, line=line)
        before, after = relief(program, array, resolve(program))
        if after < before:
            return None
        sentence = f"{self}: {_no_effect(program, array, before, after)}"
        return Refusal("no effect", sentence, line=line)

    def rewrite(self, program: Program) -> Rewritten:
        """The same equations in the same order, with one more array on the host."""
        array = array_called(program, self.array)
        after = _swapped(Itself(program), array)
        loops = lower(after)
        host = loops.stored[array].buffer
        copied, sizes = _copied(loops, host.name) * _item(host), resolve(program)
        note = (
            f"{array} takes {_bytes(host)} of the host; a run copies up to {copied} bytes "
            f"({copied.evaluate(sizes)} at {numbers(sizes)}, {DTYPE})"
        )
        return Rewritten(after, (note,))


def relief(program: Program, array: str, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The device's peak in bytes, as the program is and with an array on the host."""
    before, after = lower(program), lower(_swapped(Itself(program), array))
    return before.peak(sizes, DTYPE), after.peak(sizes, DTYPE)


@lru_cache(maxsize=16)
def _swapped(key: Itself, array: str) -> Program:
    storage = key.program.storage
    return replace(key.program, storage=replace(storage, swapped=(*storage.swapped, array)))


# -- why nothing would be saved --------------------------------------------------------------------


def _fullest(loops: LoopProgram, sizes: Mapping[str, int]) -> dict[str, int]:
    """The buffers where the device holds most, and their bytes, the largest first."""
    fullest = max(loops.timeline(sizes, DTYPE), key=lambda point: point.bytes)
    return dict(sorted(fullest.live, key=lambda item: -item[1]))


def _no_effect(program: Program, array: str, before: int, after: int) -> str:
    sizes = resolve(program)
    loops, then = lower(program), lower(_swapped(Itself(program), array))
    own = loops.stored[array].buffer
    parts = " + ".join(_bytes(b) for b in _slices(then, own.name).values())
    peaks = (
        f"the device's peak would be {after} bytes instead of {before} ({numbers(sizes)}, {DTYPE})"
    )
    if own.name not in _fullest(loops, sizes):
        return f"{peaks}: {array} ({_bytes(own)}) is not held where the device holds most"
    reason = _why_whole(program, array)
    return f"{peaks}: {array} takes {_bytes(own)}, its slices {parts}{reason}"


def _why_whole(program: Program, array: str) -> str:
    """What brings so much of the array to the device at one time, as far as its accesses say."""
    whole = fixed(replace(program, outputs=()))
    dims = [d for d in program.array[array].dims if (array, d) in whole]
    for d in dims:
        if "depends on data" in whole[array, d].reason:
            return f"; {whole[array, d].sentence}, and all of them have to come"
    assert program.schedule is not None
    axes = axis_dims(program.schedule)
    looped = {d for s in program.writers[array] for d in s.dims if d not in axes[s.name]}
    for d in sorted(dims, key=lambda d: d not in looped):
        return f"; {whole[array, d].sentence}"
    return ""


def _slices(loops: LoopProgram, host: str) -> dict[str, Buffer]:
    """The device's buffers for slices of what is in one of the host's; some serve several."""
    names = {copy.device for copy in copies(loops.body) if copy.host == host}
    return {
        record.buffer.name: record.buffer
        for record in walk(loops.body)
        if isinstance(record, Allocate) and record.buffer.name in names
    }


def _copied(loops: LoopProgram, host: str) -> Expression:
    """The elements of an array that a run copies between the spaces, at most."""
    buffers = _slices(loops, host)
    total = expression(0)
    for copy in copies(loops.body):
        if copy.host == host:
            elements = buffers[copy.device].elements
            ranges: dict[str, tuple[Expression, Expression]] = {}
            for loop in copy.loops:
                elements = elements * greatest_length(loop.upper - loop.lower, ranges)
                ranges[loop.variable] = (loop.lower, loop.upper - 1)
            total = total + elements
    return total


def _bytes(buffer: Buffer) -> str:
    return f"{buffer.elements * _item(buffer)} bytes"


def _item(buffer: Buffer) -> int:
    return ITEM_BYTES.get(buffer.dtype) or 4
