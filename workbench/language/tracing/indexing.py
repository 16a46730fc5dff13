"""Reads of a tensor: affine indices and ranges on its dims, integers and slices on inner axes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import reduce
from itertools import takewhile
from operator import and_
from types import EllipsisType
from typing import Any

import numpy as np

from workbench.errors import ProgramError, SourceLine
from workbench.language.tracing import quoting
from workbench.language.tracing.functions import broadcast_to
from workbench.language.tracing.given_shapes import count_of, expect_own_indices, index_of
from workbench.language.tracing.nodes import apply, as_tensor, cast, index, literal, repeated
from workbench.language.tracing.tensor import Node, Tensor, TensorLike
from workbench.language.tracing.trace import Range, current, user_line
from workbench.polyhedral.expression import Expression, atom, expression, variable, whole
from workbench.polyhedral.expressions.atoms import Atom, Choice, Named, Variable
from workbench.program.operations.dtypes import INTEGERS
from workbench.program.operations.shapes import broadcast_shapes, shape_text


def read(x: Tensor, key: Any) -> Tensor:
    """Return `x[key]`: first the dims in order (an index, or a range `t:T`), then inner axes.

    Entries after `...` index the last inner axes, and None makes one of length 1, as in NumPy.
    """
    entries = list(key) if isinstance(key, tuple) else [key]
    dims = [d for d in x.dims if current().dims[d].axis is None]
    where = next((n for n, e in enumerate(entries) if isinstance(e, EllipsisType)), None)
    if where is None:
        outer, inner = entries[: len(dims)], entries[len(dims) :]
    else:
        outer, inner = entries[:where], entries[where + 1 :]
    if any(e is None for e in outer):
        raise ProgramError(
            f"[{_text(entries)}] of {x!r} makes a new axis among its dims ({', '.join(dims)}); "
            "expected it among the inner axes: [..., None]",
            user_line(),
        )
    indexed = sum(e is not None for e in inner)
    if not x.dims and outer == [] and _is_constant(x) and indexed > len(x.shape):
        outer, inner = inner[: indexed - len(x.shape)], inner[indexed - len(x.shape) :]
        indexed = len(x.shape)
    if not x.dims and outer and _is_constant(x):
        return _inner(_along(x, outer), inner, 0)
    if len(outer) > len(dims) or indexed > len(x.shape):
        most = len(dims) + len(x.shape)
        raise ProgramError(
            f"{x!r} has {len(dims)} dims ({', '.join(dims) or 'none'}) and inner shape "
            f"{shape_text(x.shape)}: [{_text(entries)}] has too many indices, expected at most "
            f"{most if where is None else f'{len(dims)} before and {len(x.shape)} behind the ...'}",
            user_line(),
        )
    first = where is None and dims and whole(entries[0]) is not None
    if first and not quoting.is_held(x, sys._getframe(2)):  # of who wrote x[…]
        raise ProgramError(_first_place(x, dims, entries), user_line())
    expect_own_indices(x, _text(outer), dims, outer)
    moved = _at(x, dims, outer) if outer else x
    return _inner(moved, inner, 0 if where is None else len(x.shape) - indexed)


def _at(x: Tensor, dims: list[str], entries: list[Any]) -> Tensor:
    """Return `x` at indices and ranges of its dims. The last step of an episode, plus a number,
    makes it a gather.
    """
    positions = {d: e for d, e in zip(dims, entries, strict=False) if _is_end(e)}
    if not positions:
        return x.substitute(_moves(x, dims, entries), user_line())
    plain = [variable(d) if d in positions else e for d, e in zip(dims, entries, strict=False)]
    moves = _moves(x, dims, plain)
    used = {v for d, e in moves.items() if d not in positions for v in e.variables}
    if used & set(positions):
        listed = ", ".join(sorted(used & set(positions)))
        raise ProgramError(
            f"[{_text(entries)}] of {x!r} has an index that depends on data for {listed}, and "
            f"{listed} in another index; use wb.gather",
            user_line(),
        )
    return gather(x.substitute(moves), **positions)


def _is_end(x: Any) -> bool:
    """Tell whether an index is the last step of an episode, plus a number."""
    if not isinstance(x, Tensor):
        return False
    source = x.source
    if not isinstance(source, Node) or source.operation not in ("add", "subtract"):
        return any(source is episodes.last.source for episodes in current().ends)
    return any(_is_end(y) for y in source.operands)


def _is_constant(x: Tensor) -> bool:
    return isinstance(x.source, Node) and x.source.operation == "literal"


def _along(x: Tensor, entries: list[Any]) -> Tensor:
    """Read a constant at indices (a reward of 1.0 at `[b, t:T]`): it is the same everywhere, and
    varies over the ranges so that they can be reduced.
    """
    dims: set[str] = set()
    places: list[Expression] = []
    axis = 0
    for entry in entries:
        if not isinstance(entry, slice):
            places.append(_affine(x, "it", entry))
            dims |= places[-1].variables
            continue
        if entry.start is None or entry.stop is None:
            raise ProgramError(
                f"[{_text([entry])}] of {x!r}, which varies over no dim; write both bounds of the "
                "range",
                user_line(),
            )
        places.append(_range("k", entry, axis))
        dims |= places[-1].variables
        axis += 1
    return repeated(x, current().ordered(dims), tuple(places))


def _first_place(x: Tensor, dims: list[str], entries: list[Any]) -> str:
    """Explain the error of an integer in first place, with the right spelling."""
    said = (
        f"[{_text(entries)}] of an expression that varies over {', '.join(dims)} would read it at "
    )
    said += f"{dims[0]} = {entries[0]}; write "
    if x.shape:
        said += f"[..., {_text(entries)}] for an inner axis, "
    return said + f"[{', '.join(dims)}] for each {dims[0]}, or give it a name first"


def gather(x: TensorLike, /, **indices: Any) -> Tensor:
    """Read `x` at data-dependent indices, one per named dim: `wb.gather(x, b=sample // T, t=sample
    % T)`.

    Each index is an integer tensor of scalars (or an index expression). The result varies over the
    indices' dims and the dims of `x` not named. A value that never varied over a dim is the same
    wherever it is read along it: a reward of 1.0 stays 1.0.
    """
    x = as_tensor(x)
    positions = {d: as_tensor(value) for d, value in indices.items()}
    for d, value in positions.items():
        current().range(d)
        if d not in x.dims and x.dims:
            raise ProgramError(
                f"{x!r} does not vary over {d}; its dims: {', '.join(x.dims)}", user_line()
            )
        if value.shape or value.dtype not in ("int32", "int64"):
            raise ProgramError(
                f"the index for {d} must be a scalar integer tensor, found {value!r}", user_line()
            )
    return _gathered(x, positions, user_line()) if x.dims else x


def _gathered(x: Tensor, positions: dict[str, Tensor], line: SourceLine | None) -> Tensor:
    """Push the data-dependent indices through values without an array, down to stored ones, read
    on a line.
    """
    source = x.source
    if isinstance(source, Node) and source.operands and (source.inline or _only_indices(source)):
        pairs = zip(source.dims, x.index, strict=True)
        own = {d: e for d, e in pairs if isinstance(e, Expression)}
        operands = (_gathered(y.substitute(own), positions, line) for y in source.operands)
        return apply(source.operation, *operands, **source.options)
    if isinstance(source, Node) and source.operation == "literal":
        return literal(source.options["value"], source.dtype)
    if isinstance(source, Node) and source.operation == "index":
        return cast(position_of(source.options["expression"], positions), source.dtype)
    return Tensor(
        source,
        tuple(
            _gathered(e, positions, line)
            if isinstance(e, Tensor)
            else position_of(e, positions)
            if e.variables & set(positions)
            else e
            for e in x.index
        ),
        line,
    )


def _only_indices(source: object) -> bool:
    """Tell whether a value needs no array: it has only literals and index expressions."""
    if not isinstance(source, Node) or source.combiner is not None:
        return False
    if not source.operands:
        return source.operation in ("literal", "index")
    return source.operation != "copy" and all(
        all(isinstance(e, Expression) for e in x.index) and _only_indices(x.source)
        for x in source.operands
    )


def position_of(e: Expression, positions: Mapping[str, Tensor]) -> Tensor:
    """Return the index expression `e` with tensors in place of some dims."""
    moved = [(a, factor) for a, factor in e.terms if atom(a).variables & set(positions)]
    total = index(Expression(e.constant, tuple(term for term in e.terms if term not in moved)))
    for a, factor in moved:
        value = _atom_at(a, positions)
        term = value if factor == 1 else value * factor
        total = term if is_literal_index(total) else term + total
    return total


def _atom_at(a: Atom, positions: Mapping[str, Tensor]) -> Tensor:
    """Return an atom of an index expression, computed from tensors."""

    def at(e: Expression) -> Tensor:
        return position_of(e, positions)

    if isinstance(a, Variable):
        return positions[a.name]
    assert not isinstance(a, Named), f"{a} is no dimension"
    if isinstance(a, Choice):
        holds = [apply("equal", at(e), 0) for e in a.conditions]
        return apply("where", reduce(and_, holds), at(a.then), at(a.otherwise))
    return apply(a.function, *map(at, a.parts))


def is_literal_index(x: Tensor) -> bool:
    """Tell whether `x` is the index expression 0."""
    return isinstance(x.source, Node) and x.source.options.get("expression") == 0


def _moves(x: Tensor, dims: list[str], entries: list[Any]) -> dict[str, Expression]:
    moves: dict[str, Expression] = {}
    axis = sum(current().dims[d].axis is not None for d in x.dims)
    for d, entry in zip(dims, entries, strict=False):
        if isinstance(entry, slice):
            moves[d] = _range(d, entry, axis)
            axis += 1
        else:
            moves[d] = _affine(x, d, entry)
    return moves


def _affine(x: Tensor, d: str, entry: Any) -> Expression:
    if isinstance(entry, Tensor):
        raise ProgramError(
            f"the index {entry!r} for {d} depends on data; use wb.gather(x, {d}=…), or for a table "
            "that is looked up and written at such indices inner axes: table[..., s, a]",
            user_line(),
        )
    value = index_of(entry)
    if value is None:
        raise ProgramError(
            f"the index {entry!r} for {d} of {x!r} is not an affine expression of dims", user_line()
        )
    if not value.is_affine:
        raise ProgramError(
            f"the index {value} for {d} is not affine (a product or quotient of sizes or dims); "
            f"use wb.size for sizes, or wb.gather",
            user_line(),
        )
    for name in value.variables:
        current().range(name)
    return value


def _range(d: str, entry: slice, axis: int) -> Expression:
    """Return the anonymous dimension of `lower:upper`; equal ranges on one axis share one."""
    trace = current()
    if entry.step is not None:
        raise ProgramError(
            f"the range {_text([entry])} has a step; expected lower:upper", user_line()
        )
    for bound in (entry.start, entry.stop):
        number = None if isinstance(bound, Expression) else whole(bound)
        if number is not None and number < 0:
            end = trace.range(d).upper
            raise ProgramError(
                f"the bound {number} of the range {_text([entry])} for {d} is before its first "
                f"element, 0; from the end it is {end + number}",
                user_line(),
            )
    lower = trace.range(d).lower if entry.start is None else entry.start
    upper = trace.range(d).upper if entry.stop is None else entry.stop
    for bound in (lower, upper):
        bound_index = index_of(bound)
        if bound_index is None or not bound_index.is_affine:
            raise ProgramError(
                f"the bound {bound!r} of the range for {d} is not affine", user_line()
            )
    lower, upper = expression(lower), expression(upper)
    for known in trace.dims.values():
        if known.axis == axis and known.lower == lower and known.upper == upper:
            return variable(known.name)
    name = trace.fresh(d)
    trace.dims[name] = Range(name, lower, upper, axis, user_line())
    return variable(name)


def _inner(x: Tensor, entries: list[Any], axis: int) -> Tensor:
    entries = [
        as_tensor(e) if isinstance(e, (np.ndarray, list, Expression)) else e for e in entries
    ]
    while entries:
        if isinstance(entries[0], Tensor):
            indices = list(takewhile(lambda e: isinstance(e, Tensor), entries))
            x, entries = _taken(x, axis, indices), entries[len(indices) :]
            axis += max(len(e.shape) for e in indices)
            continue
        entry = entries.pop(0)
        if entry is None:
            x, axis = apply("reshape", x, shape=(*x.shape[:axis], 1, *x.shape[axis:])), axis + 1
        elif isinstance(entry, slice):
            x, axis = _sliced(x, axis, entry), axis + 1
        else:
            number = whole(entry)
            if number is None:
                raise ProgramError(
                    f"index {entry!r} of an inner axis of {x!r}; expected an int, a slice, None or "
                    "an integer tensor",
                    user_line(),
                )
            x = _position(x, axis, number)
    return x


def _taken(x: Tensor, axis: int, indices: list[Tensor]) -> Tensor:
    """Take entries at integer tensors, one for each axis, which are repeated to one shape."""
    for entry in indices:
        require_integers(x, entry)
    if axis:
        raise ProgramError(
            f"integer tensors may index the first inner axes only, found one for axis {axis} of "
            f"{x!r}; behind an index a slice takes all of an axis: [..., k, :]",
            user_line(),
        )
    try:
        shape = broadcast_shapes([e.shape for e in indices])
    except ProgramError as error:
        raise ProgramError(
            f"the indices {', '.join(map(repr, indices))} of {x!r}: {error.message}", user_line()
        ) from None
    return apply("take", x, *(broadcast_to(e, shape) for e in indices))


def require_integers(x: Tensor, entry: Tensor) -> None:
    """Refuse an index of an inner axis that is no integer."""
    if entry.dtype not in INTEGERS:
        raise ProgramError(
            f"the index {entry!r} of an inner axis of {x!r}; expected integers "
            "(wb.cast(x, int) converts)",
            user_line(),
        )


def _position(x: Tensor, axis: int, entry: int) -> Tensor:
    n = count_of(x, axis)
    if not -n <= entry < n:
        raise ProgramError(
            f"index {entry} is outside inner axis {axis} of {x!r}, which has {n} entries",
            user_line(),
        )
    start = entry % n
    part = x if n == 1 else apply("slice", x, axis=axis, start=start, stop=start + 1, step=1)
    return apply("reshape", part, shape=(*x.shape[:axis], *x.shape[axis + 1 :]))


def _sliced(x: Tensor, axis: int, entry: slice) -> Tensor:
    parts = (entry.start, entry.stop, entry.step)
    numbers = [whole(part) for part in parts]
    for part, number in zip(parts, numbers, strict=True):
        if number is None and part is not None:
            raise ProgramError(
                f"the range {_text([entry])} of inner axis {axis} of {x!r}; expected whole "
                f"numbers, found {part!r}",
                user_line(),
            )
    if numbers[2] == 0:
        raise ProgramError(f"the range {_text([entry])} has the step 0", user_line())
    start, stop, step = slice(*numbers).indices(count_of(x, axis))
    if (start, stop, step) == (0, x.shape[axis], 1):
        return x
    return apply("slice", x, axis=axis, start=start, stop=stop, step=step)


def _text(entries: list[Any]) -> str:
    def one(entry: Any) -> str:
        if isinstance(entry, slice):
            parts = [entry.start, entry.stop, entry.step]
            return ":".join(
                "" if p is None else str(p) for p in parts[: 2 + (parts[2] is not None)]
            )
        return "..." if isinstance(entry, EllipsisType) else str(entry)

    return ", ".join(one(e) for e in entries)
