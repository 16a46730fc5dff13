"""The buffers in which the arrays of a program are stored, and its results in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.lowering.loops.records import DEVICE, HOST, Record, ResultBuffer
from workbench.lowering.memory.allocate import place
from workbench.lowering.memory.lives import homes, masked
from workbench.lowering.values.scope import Workspace
from workbench.lowering.values.stored import Stored, axis_order, store
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.program.values import Output, Program


def stored_arrays(
    program: Program,
    lifetimes: Mapping[str, Lifetime],
    workspace: Workspace,
    exact: bool = False,
) -> dict[str, Stored]:
    """Return each array with a buffer of the slots that its lifetime needs, and its space.

    `exact`: what runs reads no element beyond those that are written, under a mask or not.
    """
    outputs = {o.array for o in program.outputs}
    on_host = set(program.storage.on_host)
    zero = frozenset() if exact else masked(program)
    result: dict[str, Stored] = {}
    for array in program.arrays:
        life = lifetimes[array.name]
        name = workspace.names.fresh(array.name)
        initial = "nan" if array.name in outputs else "zero" if array.name in zero else ""
        space = HOST if array.name in on_host else DEVICE
        order = axis_order(program, array)
        stored = store(array, order, life.windows, life.loops, name, initial, space)
        workspace.reserve(stored.buffer)
        result[array.name] = stored
    return result


def in_memory(
    program: Program,
    lifetimes: Mapping[str, Lifetime],
    stored: Mapping[str, Stored],
    workspace: Workspace,
    records: Sequence[Record],
) -> tuple[Record, ...]:
    """Return the records with allocations and frees: each array inside the loops of its lifetime,
    in the memory of what was donated to it.
    """
    inside = {
        stored[array].buffer.name: [loop.name for loop in around]
        for array, around in homes(program, lifetimes).items()
    }
    donated = [
        (stored[array].buffer.name, stored[to].buffer.name)
        for array, to in program.storage.donated
        if array != to
    ]
    return place(records, workspace, inside, donated)


def results(program: Program, stored: Mapping[str, Stored]) -> tuple[ResultBuffer, ...]:
    """Return the program's outputs, and their places when the loops are over."""
    return tuple(_result(program, stored, o) for o in program.outputs)


def _result(program: Program, stored: Mapping[str, Stored], output: Output) -> ResultBuffer:
    where, record = stored[output.array], program.array[output.array]
    dims, inner = where.axes[: len(record.dims)], where.axes[len(record.dims) :]
    axes = (*(dims[where.order.index(p)] for p in range(len(dims))), *inner)
    lower_bounds = tuple(lower for lower, _ in record.extent)
    return ResultBuffer(
        output.name,
        output.array,
        where.buffer.name,
        axes,
        record.dims,
        lower_bounds,
        output.past,
    )
