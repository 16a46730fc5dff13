"""The device's memory at its peak, with an array there or in host memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from workbench.identity import remembered
from workbench.lowering.loops.bytes import FLOAT_BYTES
from workbench.lowering.loops.records import ITEM_BYTES
from workbench.lowering.lower import lower
from workbench.lowering.memory.lives import lives
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.tree import Loop, Tree, children
from workbench.program.accumulating import derived
from workbench.program.sizes import at_sizes, numbers, resolve
from workbench.program.text.units import amount
from workbench.program.values import Array, Program
from workbench.transforms.storage.host_slices import (
    bytes_text,
    copied_elements,
    item_bytes,
    slices_of,
    why_whole,
)

DTYPE = "float32"
"""The dtype for counting bytes."""


def on_host(program: Program, array: str, prefetch: int) -> Program:
    """Return the program with an array on the host, its slices so many iterations early."""
    return _stored(program, array, prefetch)


def on_device(program: Program, array: str) -> Program:
    """Return the program with an array on the device."""
    return _stored(program, array, None)


@remembered(16)
def _stored(program: Program, array: str, prefetch: int | None) -> Program:
    storage = program.storage
    if prefetch is None:
        if array not in storage.on_host:
            return program
        donated = tuple(p for p in storage.donated if array not in p or p[0] == p[1])
        storage = replace(storage, donated=donated)
    others = tuple(pair for pair in storage.swapped if pair[0] != array)
    own = ((array, prefetch),) if prefetch is not None else ()
    return replace(program, storage=replace(storage, swapped=(*others, *own)))


@remembered(16)
def fullest(program: Program) -> Mapping[str, int]:
    """Return the buffers where the device holds most, and their bytes, the largest first."""
    timeline = lower(program).timeline(resolve(program.equations), DTYPE)
    most = max(timeline, key=lambda point: point.bytes)
    return dict(sorted(most.live, key=lambda item: -item[1]))


@remembered(16)
def stored_bytes(program: Program) -> Mapping[str, int]:
    """Return the bytes that each array takes, whichever space it is in."""
    sizes, program = resolve(program.equations), derived(program)
    found = lives(program)
    return {a.name: _bytes(a, found[a.name].windows, sizes) for a in program.arrays}


def _bytes(array: Array, windows: Sequence[Expression | None], sizes: Mapping[str, int]) -> int:
    kept = (
        upper - lower if window is None else window
        for window, (lower, upper) in zip(windows, array.extent, strict=True)
    )
    lengths = (expression(n).evaluate(sizes) for n in (*kept, *array.shape))
    return prod(lengths) * (ITEM_BYTES.get(array.dtype) or FLOAT_BYTES[DTYPE])


def least_peak(program: Program) -> int:
    """Return bytes that the device surely holds at its peak, found without a loop program: of the
    arrays that live around an outermost loop in which they are used.
    """
    taken = stored_bytes(program)
    elsewhere = {to for array, to in program.storage.donated if array != to}
    elsewhere.update(program.storage.on_host)
    program = derived(program)
    found, most = lives(program), 0
    for loop in _outermost_loops(program.schedule):
        used = {array for name in loop.below for array in program.statement[name].touched}
        most = max(most, sum(taken[a] for a in used - elsewhere if not found[a].loops))
    return most


def _outermost_loops(tree: Tree) -> Iterator[Loop]:
    if isinstance(tree, Loop) and tree.kind == "loop":
        yield tree
    else:
        for child in children(tree):
            yield from _outermost_loops(child)


def relief(
    program: Program, array: str, sizes: Mapping[str, int], prefetch: int = 0
) -> tuple[int, int]:
    """Return the device's peak in bytes, with an array there and with it on the host."""
    there, away = lower(on_device(program, array)), lower(on_host(program, array, prefetch))
    return there.peak(sizes, DTYPE), away.peak(sizes, DTYPE)


def no_relief(program: Program, array: str, prefetch: int, before: int, after: int) -> str:
    """Explain why a peak of `before` bytes is not less, but `after`, with an array on the host."""
    loops = lower(on_host(program, array, prefetch))
    own = bytes_text(loops.stored[array].buffer)
    parts = " + ".join(bytes_text(b) for b in slices_of(loops, array).values())
    more = after - before
    peak = f"stay at {amount(after, 'B')}"
    if more:
        peak = f"grow by {amount(more, 'B')} to {amount(after, 'B')}"
    return (
        f"the device's peak would {peak} ({numbers(resolve(program.equations), DTYPE)}): "
        f"{array} takes {own}, its slices {parts}{why_whole(program, array)}"
    )


def not_at_peak(program: Program, array: str) -> str | None:
    """Explain why it is of no use to move an array that the device does not hold at its peak."""
    there = on_device(program, array)
    own, held = lower(there).stored[array].buffer, fullest(there)
    if own.name in held:
        return None
    return (
        f"the device's peak would stay at {amount(sum(held.values()), 'B')} "
        f"({numbers(resolve(program.equations), DTYPE)}): {array} ({bytes_text(own)}) is not "
        "held where the device holds most"
    )


def price(after: Program, array: str, before: int, less: int) -> str:
    """Return the note on an array's host memory, the bytes to copy, and the peaks with it on the
    device (`before`) and on the host (`less`).
    """
    loops, sizes = lower(after), resolve(after.equations)
    host = loops.stored[array].buffer
    copied = copied_elements(loops, array) * item_bytes(host)
    return (
        f"{array} takes {bytes_text(host)} of the host; a run copies up to {copied} bytes "
        f"({amount(copied.evaluate(sizes), 'B')}{at_sizes(sizes, DTYPE)}); the device's "
        f"peak is {amount(less, 'B')}, and with {array} there {amount(before, 'B')}"
    )
