"""Slices on the device of an array that lives on the host: how much of it a run copies, why so much
comes at a time, and why not earlier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.errors import SourceLine
from workbench.lowering.instances.swapping import Copy, copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import ITEM_BYTES, Allocate, Buffer, walk
from workbench.lowering.lower import lower
from workbench.lowering.memory.prefetching import Late, too_new
from workbench.lowering.values.intervals import greatest_length
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.tree import axis_dims
from workbench.program.values import Program
from workbench.transforms.step.refusal import Refusal, element_text, instance_texts, sizes_text
from workbench.transforms.step.storage_holds import touched_whole


def why_whole(program: Program, array: str) -> str:
    """Explain why so much of the array is on the device at one time, as far as its accesses say."""
    whole = touched_whole(program)
    dims = [d for d in program.array[array].dims if (array, d) in whole]
    for d in dims:
        if "depends on data" in whole[array, d].reason:
            return f"; {whole[array, d].sentence}, and all of them have to come"
    axes = axis_dims(program.schedule)
    looped = {d for s in program.writers[array] for d in s.dims if d not in axes[s.name]}
    for d in sorted(dims, key=lambda d: d not in looped):
        return f"; {whole[array, d].sentence}"
    return ""


def copies_of(loops: LoopProgram, array: str) -> list[Copy]:
    """Return the copies of an array's slices, in text order."""
    host = loops.stored[array].buffer.name
    return [copy for copy in copies(loops.body) if copy.host == host]


def comes_early(after: Program, array: str) -> bool:
    """Tell whether a slice of an array comes to the device before it is needed."""
    return any(copy.ahead for copy in copies_of(lower(after), array))


def slices_of(loops: LoopProgram, array: str) -> dict[str, Buffer]:
    """Return the device's buffers for slices of an array; some serve several."""
    names = {copy.device for copy in copies_of(loops, array)}
    return {
        record.buffer.name: record.buffer
        for record in walk(loops.body)
        if isinstance(record, Allocate) and record.buffer.name in names
    }


def copied_elements(loops: LoopProgram, array: str) -> Expression:
    """Count the elements of an array that a run copies between the spaces, at most.

    A loop with early copies makes as many as it has iterations, the first in front of it.
    """
    buffers, copies = slices_of(loops, array), copies_of(loops, array)
    rings = {copy.device for copy in copies if copy.ahead}
    total = expression(0)
    for copy in copies:
        buffer = buffers[copy.device]
        if copy.ahead:
            buffer = replace(buffer, shape=buffer.shape[1:])
        elif copy.device in rings:
            continue
        elements = buffer.elements
        ranges: dict[str, tuple[Expression, Expression]] = {}
        for loop in copy.loops:
            elements = elements * greatest_length(loop.upper - loop.lower, ranges)
            ranges[loop.variable] = (loop.lower, loop.upper - 1)
        total = total + elements
    return total


def bytes_text(buffer: Buffer) -> str:
    """Print the bytes of a buffer over sizes."""
    return f"{buffer.elements * item_bytes(buffer)} bytes"


def item_bytes(buffer: Buffer) -> int:
    """Return the bytes of an element, in float32."""
    return ITEM_BYTES.get(buffer.dtype) or 4


# -- reasons against early copies ------------------------------------------------------------------


def not_early(step: str, after: Program, array: str, prefetch: int) -> Iterator[Refusal]:
    """Explain for each late slice of an array why it cannot come so many iterations early."""
    if not prefetch:
        return
    loops = lower(after)
    for late in loops.late:
        if late.array == array:
            yield _too_late(step, after, late, iterations(prefetch))
    if not any(copy.loops for copy in copies_of(loops, array) if copy.to_device):
        sentence = f"{step}: no loop brings one slice of {array} after the other to the device"
        yield Refusal("no effect", sentence, line=line_of(after, array))


def _too_late(step: str, after: Program, late: Late, early: str) -> Refusal:
    reader = after.statement[late.reader]
    if late.why == "new":
        witness = too_new(after, late)
        assert witness is not None
        source, sink = instance_texts(witness)
        sentence = (
            f"{step}: {sink} reads {element_text(witness)}, which {source} writes only after the "
            f"copy {early} of {late.loop} earlier (smallest case: {sizes_text(witness)})"
        )
        return Refusal("dependence", sentence, witness, reader.line, attempted=after)
    if late.why == "written":
        sentence = (
            f"{step}: {late.reader} writes a part of each slice of {late.array} that it brings; "
            f"what other iterations of {late.loop} write into it is not there {early} earlier"
        )
        return Refusal("capability", sentence, line=reader.line)
    if late.why == "order":
        sentence = (
            f"{step}: the blocks of {late.loop} run in any order; which of them needs a slice of "
            f"{late.array} next is not known"
        )
        return Refusal("capability", sentence, line=reader.line)
    for access in reader.instances.reads:
        if access.array == late.array and access.depends_on_data:
            index = zip(after.array[late.array].dims, access.index, strict=True)
            dim = next(d for d, e in index if not isinstance(e, Expression))
            sentence = (
                f"{step}: {late.reader} reads {late.array} at an index along {dim} that depends on "
                f"data: what it needs is not known {early} of {late.loop} earlier"
            )
            return Refusal("capability", sentence, line=reader.line)
    sentence = f"{step}: {late.reader} needs one slice of {late.array} in all of {late.loop}"
    return Refusal("no effect", sentence, line=reader.line)


def iterations(n: int) -> str:
    """Print a number of iterations in words."""
    return f"{n} iteration{'s' * (n > 1)}"


def line_of(program: Program, array: str) -> SourceLine | None:
    """Return the user's line that first writes an array."""
    return program.writers[array][0].line
