"""Windows as inner axes: the last values of a tensor along a dim, as one tensor a step."""

from __future__ import annotations

from typing import Any

from workbench.errors import ProgramError
from workbench.language.tracing.functions import broadcast_to
from workbench.language.tracing.given_shapes import index_of
from workbench.language.tracing.nodes import as_tensor, cast, literal
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.reductions import collected
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import Range, current, user_line
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.operations.shapes import broadcast_shapes, shape_text


def window(x: TensorLike, /, before: TensorLike | None = None, **widths: Any) -> Tensor:
    """Return the last values of `x` along a dim at each step: `wb.window(x, t=4)` of inner shape
    (4, *shape of x) has x at t - 3, t - 2, t - 1 and t.

    The width is a whole number or a size, at least 1. Where no step has been yet, ahead of the
    first, there is `before` (0 unless given): of the shape of x or one that is repeated to it, the
    same for all steps. The derivative goes back to each step, and to `before`.
    """
    x = as_tensor(x)
    outside = cast(literal(0), x.dtype) if before is None else as_tensor(before)
    dim, width = _dim_and_width(x, widths)
    _expect_one_for_all(x, outside, dim)
    trace = current()
    dims, first = x.dims, width - 1
    padded = Recurrent(_name(x), x.shape, dims, x.dtype, trace.scope)
    trace.recurrents.append(padded)
    if first != 0:
        ahead = _range(dim, first)
        padded.define(
            _at(dims, dim, variable(ahead)), broadcast_to(cast(outside, x.dtype), x.shape)
        )
    padded.define(_at(dims, dim, variable(dim) + first), x)
    along = _range(dim, width)
    read = Tensor(padded, _at(dims, dim, variable(dim) + variable(along)))
    return collected(read, along)


def _dim_and_width(x: Tensor, widths: dict[str, Any]) -> tuple[str, Expression]:
    """Return the one dim that is given, and its width."""
    line = user_line()
    if len(widths) != 1:
        listed = ", ".join(widths) or "none"
        raise ProgramError(
            f"a window of {x!r} along {listed}; expected one dim, as wb.window(x, t=4)", line
        )
    ((dim, given),) = widths.items()
    own = current().range(dim)
    if dim not in x.dims:
        listed = ", ".join(x.dims) or "none"
        raise ProgramError(f"{x!r} does not vary over {dim}; its dims: {listed}", line)
    ranges = [d for d in x.dims if current().dims[d].axis is not None]
    if ranges or not own.declared:
        raise ProgramError(
            f"a window of {x!r}, which varies over {current().dims[(*ranges, dim)[0]].text}", line
        )
    width = index_of(given)
    if width is None or width.variables or not width.is_affine:
        raise ProgramError(
            f"a window of {x!r} with {dim}={given!r}; expected its width, a whole number or a size",
            line,
        )
    if not width.terms and width.constant < 1:
        raise ProgramError(
            f"a window of {x!r} with {dim}={given!r}; expected a width of at least 1", line
        )
    return dim, width


def _expect_one_for_all(x: Tensor, before: Tensor, dim: str) -> None:
    """Refuse a value ahead of the first step that is of another shape, or differs with the step."""
    line = user_line()
    try:
        fits = broadcast_shapes([before.shape, x.shape]) == x.shape
    except ProgramError:
        fits = False
    if not fits:
        raise ProgramError(
            f"a window of {x!r} with before={before!r} of inner shape {shape_text(before.shape)}; "
            f"expected {shape_text(x.shape)}, or what is repeated to it",
            line,
        )
    if before.dtype != x.dtype and (before.dtype == "float" or "bool" in (before.dtype, x.dtype)):
        raise ProgramError(
            f"a window of {x!r}, which is {x.dtype}, with before={before!r}, which is "
            f"{before.dtype}",
            line,
        )
    other = [d for d in before.dims if d == dim or d not in x.dims]
    if other:
        raise ProgramError(
            f"a window of {x!r} with before={before!r}, which varies over {other[0]}; expected "
            "one value for all steps" + ("" if other[0] == dim else f", of the dims of {x!r}"),
            line,
        )


def _name(x: Tensor) -> str:
    return f"{x.source.name}_padded" if x.source.name else "padded"


def _range(dim: str, size: Expression) -> str:
    """Return a new dim beside `dim`, from 0 to a size."""
    trace = current()
    name = trace.fresh(dim)
    trace.dims[name] = Range(name, expression(0), size, line=user_line())
    return name


def _at(dims: tuple[str, ...], dim: str, place: Expression) -> tuple[Expression, ...]:
    return tuple(place if d == dim else variable(d) for d in dims)
