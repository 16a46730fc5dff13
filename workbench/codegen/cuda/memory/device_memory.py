"""The memory of a run on a GPU: where everything is, and how much there is of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.cuda.memory.block_places import is_other
from workbench.codegen.cuda.small_kernels import small_in_a_row
from workbench.codegen.kernels import KernelRecords, ProgramKernels
from workbench.lowering.loops.arena import LINE, arena
from workbench.lowering.loops.bytes import FLOAT_BYTES, bytes_of
from workbench.lowering.loops.records import DEVICE, HOST, ITEM_BYTES, SPACES
from workbench.lowering.values.intervals import greatest, total
from workbench.polyhedral.expression import Expression

RUN_STATE_BYTES = 8 * (3 + 8 + 16)
"""The bytes of what a run tells its kernels, and they it (`device_run.h`)."""


@dataclass(frozen=True)
class DeviceMemory:
    """The memory of a run in a space, in one piece: the place of each buffer in bytes, that of the
    memory that each function or call has for itself, and the bytes of the whole.
    """

    places: Mapping[str, int]
    own: Sequence[int]
    bytes: int


def device_memory(
    made: ProgramKernels,
    launched: Sequence[Function | Stages],
    sizes: Mapping[str, int],
    dtype: str,
    space: str = DEVICE,
) -> DeviceMemory:
    """Lay out a space's memory of a run: arrays that live at one time beside each other, results
    behind all others. `made` are kernels as a GPU runs them (`gpu_kernels`).
    """
    numbers = [row[-1] for row in small_in_a_row(made)]
    needed = [0] * len(made.kernels)
    for number, one in zip(numbers, launched, strict=True):
        if space == DEVICE:
            needed[number] = own_bytes(one, made.kernels[number], sizes, dtype)
    laid = arena(made.loops.body, sizes, dtype, space, needed, made.loops.own)
    places, end = dict(laid.places), laid.bytes
    for name, buffer in made.buffers.items():
        if buffer.initial == "nan" and buffer.space == space:
            places[name] = end
            end += _rounded(bytes_of(buffer, sizes, dtype))
    return DeviceMemory(places, [laid.scratch[number] for number in numbers], end)


def run_bytes(
    made: ProgramKernels,
    launched: Sequence[Function | Stages],
    sizes: Mapping[str, int],
    dtype: str,
) -> dict[str, int]:
    """Return the bytes that a run asks for, by space: for all arrays and scratch memory, its
    state, and what external objects read and write. Values from outside come on top.
    """
    asked = {
        s: device_memory(made, launched, sizes, dtype, s).bytes + RUN_STATE_BYTES for s in SPACES
    }
    for one in launched:
        for call in one.calls if isinstance(one, Stages) else ():
            option = call.option
            for of, shape in (option["shape"], *option["shapes"]):
                asked[HOST] += _bytes(total(shape), of, sizes, dtype)
    return asked


def other_copies(
    made: ProgramKernels, launched: Sequence[Function | Stages], sizes: Mapping[str, int]
) -> dict[str, int]:
    """Return how many there are at a time of each buffer that a block has for itself: one for each
    block of a launch, none of what lies in shared memory.
    """
    copies = {}
    for one in launched:
        for function in one.functions if isinstance(one, Stages) else (one,):
            blocks = greatest(function.blocks, function.kernels[-1].ranges).evaluate(sizes)
            for kernel in function.kernels:
                for name, memory in kernel.own.items():
                    copies[name] = blocks if is_other(made.buffers[memory]) else 0
    return copies


def own_bytes(
    one: Function | Stages, kernel: KernelRecords, sizes: Mapping[str, int], dtype: str
) -> int:
    """Return the most bytes that a function's blocks have for themselves, or stages hand on and
    have.
    """
    if isinstance(one, Function):
        at_most = (greatest(e, kernel.ranges) for e in (one.own_bytes, one.blocks))
        each, blocks = (e.evaluate(sizes) for e in at_most)
        return each * blocks
    most = max((own_bytes(f, kernel, sizes, dtype) for f in one.functions), default=0)
    return handed_bytes(one, sizes, dtype) + most


def handed_bytes(one: Stages, sizes: Mapping[str, int], dtype: str) -> int:
    """Return the bytes that stages hand on to each other."""
    return sum(_rounded(count) for _, count in _handed_on(one, sizes, dtype))


def handed_places(one: Stages, sizes: Mapping[str, int], dtype: str) -> dict[str, int]:
    """Return the place of each array that stages hand on, in bytes from the first."""
    places, end = {}, 0
    for name, count in _handed_on(one, sizes, dtype):
        places[name] = end
        end += _rounded(count)
    return places


def _handed_on(one: Stages, sizes: Mapping[str, int], dtype: str) -> Iterator[tuple[str, int]]:
    for name, (of, elements) in one.memory.items():
        yield name, _bytes(elements, of, sizes, dtype)


def _bytes(elements: Expression, of: str, sizes: Mapping[str, int], dtype: str) -> int:
    return elements.evaluate(sizes) * ITEM_BYTES.get(of, FLOAT_BYTES[dtype])


def _rounded(count: int) -> int:
    return (count + LINE - 1) // LINE * LINE
