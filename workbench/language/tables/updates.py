"""Updates of tables: one entry has another value, or has something added to it.

A table is the inner shape of one element: `q` over `(w, i)` with the inner shape (S, A) is a table
for each w and i, of which an update makes the next. So every element is still written once, and
where nothing reads the old table any more, the new one is made in its memory.
"""

from __future__ import annotations

from typing import Any

from workbench.errors import ProgramError
from workbench.language.tracing.functions import broadcast_to
from workbench.language.tracing.indexing import require_integers
from workbench.language.tracing.nodes import apply, as_tensor, cast
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import dim_names, user_line
from workbench.program.operations.shapes import broadcast_shapes, shape_text


def put(table: TensorLike, at: Any, value: TensorLike) -> Tensor:
    """Return the table with another value at one index: `q[w, i + 1] = wb.put(q, (s, a), target)`.

    `at` has an integer scalar for each of the first inner axes; the value has the shape of those
    behind. An index outside the table ends the run with the instance and the value. Under
    `Contract` and `Donate` only that entry is written, else the table is copied.
    """
    x, indices = _indexed("put", table, at)
    return apply("put", x, _entry("put", x, indices, value), *indices)


def add_at(table: TensorLike, at: Any, value: TensorLike, over: Any = None) -> Tensor:
    """Return the table with a value added at one index: `wb.add_at(visits, (s, a), 1)`; as `put`.

    `over`: with the values of a dim, or of several, added at their indices, to an entry in
    ascending order; these are summed up first, which passes once over the table.
    """
    x, indices = _indexed("add_at", table, at)
    if x.dtype == "bool":
        raise ProgramError(f"add_at: {x!r}; expected numbers", user_line())
    entry = _entry("add_at", x, indices, value)
    if over is None:
        return apply("add_at", x, entry, *indices)
    names = dim_names(over)
    shared = [d for d in names if d in x.dims]
    if shared:
        raise ProgramError(
            f"add_at: {x!r} varies over {', '.join(shared)}, over which the values are added; "
            "read it where they are added to",
            user_line(),
        )
    nothing = broadcast_to(as_tensor(cast(as_tensor(0), x.dtype)), x.shape)
    return apply("add", x, apply("add_at", nothing, entry, *indices).sum(over=over))


def _indexed(name: str, table: TensorLike, at: Any) -> tuple[Tensor, list[Tensor]]:
    """Return a table and the indices of an entry."""
    x = as_tensor(table)
    indices = [as_tensor(e) for e in (at if isinstance(at, (tuple, list)) else (at,))]
    if not indices or len(indices) > len(x.shape):
        raise ProgramError(_not_inner(name, x, len(indices)), user_line())
    for entry in indices:
        require_integers(x, entry)
        if entry.shape:
            raise ProgramError(
                f"{name}: the index {entry!r} of {x!r}; expected a scalar, one index an instance",
                user_line(),
            )
    return x, indices


def _not_inner(name: str, x: Tensor, indices: int) -> str:
    """Explain the error of more indices than there are inner axes."""
    most = f"expected 1 to {len(x.shape)}" if x.shape else "expected inner axes"
    said = f"{name}: {indices} indices of {x!r}, whose inner shape is {shape_text(x.shape)}; {most}"
    if x.dims:
        said += (
            f". Its dims ({', '.join(x.dims)}) cannot be indexed so; declare a table's indices as "
            'inner axes: wb.recurrent("q", (S, A), over=…)'
        )
    return said


def _entry(name: str, x: Tensor, indices: list[Tensor], value: TensorLike) -> Tensor:
    """Return a value in a table's dtype and the shape of an entry."""
    entry, shape = as_tensor(value), x.shape[len(indices) :]
    narrows = {"float": (), "int64": ("float",), "int32": ("float", "int64")}
    if entry.dtype in narrows.get(x.dtype, ("float", "int32", "int64")):
        raise ProgramError(
            f"{name}: {entry!r} for an entry of {x!r}; convert with wb.cast", user_line()
        )
    try:
        fits = broadcast_shapes([entry.shape, shape]) == shape
    except ProgramError:
        fits = False
    if not fits:
        raise ProgramError(
            f"{name}: {entry!r} for an entry of {x!r}, whose shape is {shape_text(shape)}",
            user_line(),
        )
    return broadcast_to(cast(entry, x.dtype), shape)
