"""Rules of operations that only move elements: casts, shapes, slices, parts of joined arrays."""

from __future__ import annotations

from typing import TypeGuard

from workbench.program.bodies import Body, Call
from workbench.program.operations.shapes import broadcast_shapes, is_static
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program
from workbench.transforms.rules.row import as_type_of, call, constant
from workbench.transforms.rules.row import operand as operand_of

_KEEPS = {
    "bool": ("bool", "int32", "int64", "float"),
    "int32": ("int32", "int64"),
    "int64": ("int64",),
    "float": ("float",),
}
"""The dtypes that hold all values of each dtype, in every precision."""


def same_cast(body: Call, program: Program) -> Body | None:
    """Drop a cast to the dtype of its operand."""
    return body.arguments[0] if body.arguments[0].dtype == body.dtype else None


def cast_of_cast(body: Call, program: Program) -> Body | None:
    """Drop the first of two casts where it loses nothing."""
    inner = operand_of(body.arguments[0], "cast")
    if inner is None or body.arguments[0].dtype not in _KEEPS[inner.dtype]:
        return None
    return inner if inner.dtype == body.dtype else call("cast", inner, dtype=body.dtype)


def same_shape(body: Call, program: Program) -> Body | None:
    """Drop a reshape or broadcast to the shape of its operand."""
    return body.arguments[0] if body.arguments[0].shape == body.shape else None


def reshape_of_reshape(body: Call, program: Program) -> Body | None:
    """Drop the first of two reshapes: only the last shape counts."""
    inner = operand_of(body.arguments[0], "reshape")
    return None if inner is None else call("reshape", inner, shape=body.shape)


def broadcast_of_broadcast(body: Call, program: Program) -> Body | None:
    """Drop the first of two broadcasts: only the last shape counts."""
    inner = operand_of(body.arguments[0], "broadcast")
    return None if inner is None else call("broadcast", inner, shape=body.shape)


def repeated_operand(body: Call, program: Program) -> Body | None:
    """Drop broadcasts of operands: elementwise operations repeat them themselves."""
    if not OPERATIONS[body.operation].elementwise or len(body.arguments) < 2:
        return None
    for position, argument in enumerate(body.arguments):
        inner = operand_of(argument, "broadcast")
        if inner is None:
            continue
        others = [a.shape for k, a in enumerate(body.arguments) if k != position]
        if broadcast_shapes([*others, inner.shape]) == body.shape:
            arguments = [*body.arguments]
            arguments[position] = inner
            return call(body.operation, *arguments, **body.options)
    return None


def same_order(body: Call, program: Program) -> Body | None:
    """Drop a transpose that exchanges nothing."""
    axes = tuple(body.options["axes"])
    return body.arguments[0] if axes == tuple(range(len(axes))) else None


def transpose_of_transpose(body: Call, program: Program) -> Body | None:
    """Replace two transposes by one."""
    first = body.arguments[0]
    inner = operand_of(first, "transpose")
    if inner is None:
        return None
    assert isinstance(first, Call)
    axes = tuple(first.options["axes"][a] for a in body.options["axes"])
    return call("transpose", inner, axes=axes)


def whole_slice(body: Call, program: Program) -> Body | None:
    """Drop a slice of all of an axis, in its order."""
    width = body.arguments[0].shape[body.options["axis"]]
    chosen = _chosen(body)
    return body.arguments[0] if is_static((width,)) and chosen == range(int(width)) else None


def slice_of_slice(body: Call, program: Program) -> Body | None:
    """Join two slices of one axis."""
    first = body.arguments[0]
    inner = operand_of(first, "slice")
    if inner is None:
        return None
    assert isinstance(first, Call)
    if first.options["axis"] != body.options["axis"]:
        return None
    chosen = _chosen(first)[_positions(body)]
    if not chosen:
        return None
    return _slice(inner, body.options["axis"], chosen)


def slice_of_stack(body: Call, program: Program) -> Body | None:
    """Replace a slice of a stack by the stacked operand."""
    stack, chosen = body.arguments[0], _chosen(body)
    if not _is(stack, "stack") or stack.options["axis"] != body.options["axis"]:
        return None
    if len(chosen) != 1:
        return None
    return call("reshape", stack.arguments[chosen[0]], shape=body.shape)


def slice_of_concatenation(body: Call, program: Program) -> Body | None:
    """Slice one operand of a concatenation instead of the whole."""
    joined, chosen = body.arguments[0], _chosen(body)
    axis = body.options["axis"]
    if not _is(joined, "concatenate") or joined.options["axis"] != axis or not chosen:
        return None
    start = 0
    for part in joined.arguments:
        width = part.shape[axis]
        if start <= min(chosen) and max(chosen) < start + width:
            inside = range(chosen.start - start, chosen.stop - start, chosen.step)
            return _slice(part, axis, inside)
        start += width
    return None


def slice_of_broadcast(body: Call, program: Program) -> Body | None:
    """Replace a slice along an axis of equal entries by a shorter broadcast."""
    wide = body.arguments[0]
    inner = operand_of(wide, "broadcast")
    if inner is None:
        return None
    position = body.options["axis"] - (len(wide.shape) - len(inner.shape))
    if position >= 0 and inner.shape[position] != 1:
        return None
    return call("broadcast", inner, shape=body.shape)


def entry_of_table(body: Call, program: Program) -> Body | None:
    """Replace `take` at a known entry by a slice."""
    table, *indices = body.arguments
    part = table
    for axis, (index, rows) in enumerate(zip(indices, table.shape, strict=False)):
        row = constant(index)
        if row is None or index.shape or not is_static((rows,)) or not 0 <= row < int(rows):
            return None
        part = _slice(part, axis, range(int(row), int(row) + 1))
    return call("reshape", part, shape=body.shape)


def no_padding(body: Call, program: Program) -> Body | None:
    """Drop padding of nothing before and nothing behind."""
    none = body.options["before"] == body.options["after"] == 0
    return body.arguments[0] if none else None


def reduced_single(body: Call, program: Program) -> Body | None:
    """Drop a maximum or minimum over an axis of length 1, or a sum of integers."""
    floats = body.operation == "sum" and body.dtype == "float"
    return None if floats else _dropped_axis(body)


def summed_single(body: Call, program: Program) -> Body | None:
    """Drop a sum of one number, which makes 0.0 of -0.0."""
    return _dropped_axis(body)


def _dropped_axis(body: Call) -> Body | None:
    if body.arguments[0].shape[body.options["axis"]] != 1:
        return None
    return as_type_of(call("reshape", body.arguments[0], shape=body.shape), body)


def _is(body: Body, operation: str) -> TypeGuard[Call]:
    return isinstance(body, Call) and body.operation == operation


def _chosen(body: Call) -> range:
    o = body.options
    return range(o["start"], o["stop"], o["step"])


def _positions(body: Call) -> slice:
    o = body.options
    return slice(o["start"], o["stop"] if o["stop"] >= 0 else None, o["step"])


def _slice(x: Body, axis: int, chosen: range) -> Call:
    stop = max(chosen.stop, -1)
    return call("slice", x, axis=axis, start=chosen.start, stop=stop, step=chosen.step)
