"""Reductions over dimensions, range axes and inner axes."""

from __future__ import annotations

from typing import Any

from workbench.errors import ProgramError
from workbench.language.tracing.functions import reshape, sqrt
from workbench.language.tracing.given_shapes import axes_of
from workbench.language.tracing.nodes import apply, cast, index, record
from workbench.language.tracing.tensor import RANGE, Axis, Bound, Node, Tensor
from workbench.language.tracing.trace import current, dim_names, inline, user_line
from workbench.polyhedral.dependences.witness import smallest
from workbench.polyhedral.expression import Expression, expression, whole
from workbench.polyhedral.sets.relations import box, parse_set, possible
from workbench.program.sizes import known_of_sizes
from workbench.program.text.infix import at_text


def reduce(
    x: Tensor, kind: str, over: Any = None, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Combine by `kind` ("sum", "max", "min", "argmax") over dims, over inner axes, over the range
    axes alone (`over="range"`), or over all range and inner axes when nothing is given. With
    `keepdims` the combined inner axes stay, with one entry each.

    A value that never varied over a dim counts once for each point of it; raises ProgramError for
    one that was reduced over the dim already.
    """
    if over is not None and axis is not None:
        raise ProgramError(
            "a reduction takes over= (dims) or axis= (an inner axis), not both", user_line()
        )
    if axis is not None:
        axes = axes_of(x, axis)
        if kind == "argmax" and len(axes) != 1:
            raise ProgramError(f"argmax is over exactly one axis, found {axis!r}", user_line())
        return _axes(x, kind, axes, keepdims)
    names = _named(x, over) if over is not None else _ranges(x)
    if over is not None:
        return _dims(x, kind, names)
    if not names and not x.shape:
        raise ProgramError(
            f"{x!r} has no range axis and no inner axis; say over= which dims", user_line()
        )
    if kind == "argmax" and len(names) + len(x.shape) != 1:
        raise ProgramError("argmax needs exactly one axis; say axis= or over=", user_line())
    x = _axes(x, kind, tuple(range(len(x.shape))), keepdims)
    return _dims(x, kind, names) if names else x


def mean(x: Tensor, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the sum divided by the count."""
    number: Tensor | float | None = None
    if axis is None:
        names = _ranges(x) if over is None else _named(x, over)
        _refuse_twice(x, "mean", names)
        _refuse_empty(names)
        number = _executed(x, names)
        if number is not None and over is None:
            number = number * number_of_entries(x)
    total = reduce(cast(x, "float"), "sum", over, axis, keepdims)
    return _of_kind("mean", total / (count(x, over, axis) if number is None else number))


def _executed(x: Tensor, names: tuple[str, ...]) -> Tensor | None:
    """Count the points over dims whose values exist; None where that is all of them."""
    from workbench.language.episodes.ends import existing  # the circle tracing <-> episodes

    held = existing(x, "mean", names)[1]
    if held is None:
        return None
    with inline():
        one = cast(held, "float")
    return reduce_over(one, "sum", _bounds(names))


def std(x: Tensor, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the square root of the mean squared distance from the mean."""
    distance = x - mean(x, over, axis, keepdims=axis is not None)
    return _of_kind("std", sqrt(mean(distance * distance, over, axis, keepdims)))


def truth(
    x: Tensor, name: str, kind: str, over: Any = None, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Combine a boolean by "min" (all) or "max" (any)."""
    if x.dtype != "bool":
        raise ProgramError(f"{name} of {x!r}, which is {x.dtype}; expected bool", user_line())
    return apply("equal", reduce(cast(x, "int32"), kind, over, axis, keepdims), 1)


def _refuse_empty(ranges: tuple[str, ...]) -> None:
    """Refuse a mean over no points, which has no value, with the first such instance."""
    trace = current()
    for name in ranges:
        own = trace.range(name)
        outer = trace.ordered(set(own.lower.variables | own.upper.variables))
        bounds = [(d, trace.dims[d].lower, trace.dims[d].upper) for d in outer]
        known = known_of_sizes(tuple(trace.sizes.values()))
        empty = parse_set(box(bounds, at_least=[(own.lower, own.upper)]))
        sizes_where_empty = smallest(possible(empty, known))
        if sizes_where_empty is not None:
            sizes, instance = sizes_where_empty
            raise ProgramError(
                f"mean over no points of {own.lower}:{own.upper} "
                f"at {at_text(outer, instance, sizes)}",
                user_line(),
            )


def _refuse_twice(x: Tensor, kind: str, names: tuple[str, ...]) -> None:
    """Refuse to reduce a value over a dim twice: after the first time it is one value, not one for
    each point of the dim. (A value that never had the dim, a reward of 1.0, is as good as repeated
    along it.)
    """
    for name in names:
        before = None if name in x.dims else _reduction_over(x, name)
        if before is not None:
            raise ProgramError(
                f"{kind} over {name} of {x!r}, which is reduced over {name} already "
                f"({before.combiner} over {', '.join(n for n, _, _ in before.over)}) and varies "
                f"over {', '.join(x.dims) or 'no dim'}; leave {name} out",
                user_line(),
            )


def _reduction_over(x: Tensor, name: str) -> Node | None:
    """Return the reduction through which a value lost a dim."""
    todo, seen = [x.source], set[int]()
    while todo:
        source = todo.pop()
        if not isinstance(source, Node) or id(source) in seen or name in source.dims:
            continue
        seen.add(id(source))
        if any(name == n for n, _, _ in source.over):
            return source
        todo += [operand.source for operand in source.operands]
    return None


def _of_kind(kind: str, x: Tensor) -> Tensor:
    if isinstance(x.source, Node) and x.source.kind is None:
        x.source.kind = kind
    return x


def count(x: Tensor, over: Any, axis: Axis) -> Tensor | float:
    """Count the elements that a mean combines; for a range `t:T` it depends on the instance."""
    total = expression(1)
    if axis is not None:
        for k in axes_of(x, axis):
            total = total * x.shape[k]
    else:
        for name in _named(x, over) if over is not None else _ranges(x):
            total = total * current().range(name).length
        for n in x.shape if over is None else ():
            total = total * n
    return float(total.constant) if not total.terms else cast(index(total), "float")


def number_of_entries(x: Tensor) -> Tensor | float:
    """Return the number of entries of the inner shape."""
    total = expression(1)
    for n in x.shape:
        total = total * n
    return float(total.constant) if not total.terms else cast(index(total), "float")


def reduce_over(
    x: Tensor,
    kind: str,
    over: tuple[Bound, ...],
    equal: tuple[tuple[Expression, Expression], ...] = (),
    at_least: tuple[Expression, ...] = (),
    wider: tuple[Bound, ...] = (),
) -> Tensor:
    """Combine over dims with bounds and further constraints on them; where the result is defined
    beyond the ranges of its dims, these are `wider`.
    """
    trace = current()
    names = {name for name, _, _ in over}
    outer = {d for d in x.dims if d not in names}
    for _, lower, upper in over:
        outer |= (lower.variables | upper.variables) - names
    for e in (*(e for pair in equal for e in pair), *at_least):
        outer |= e.variables - names
    wider = tuple(bound for bound in wider if bound[0] in outer)
    return record(
        trace,
        operation=kind,
        operands=(x,),
        dims=trace.ordered(outer),
        shape=x.shape,
        dtype="int32" if kind == "argmax" else _sum_dtype(x) if kind == "sum" else x.dtype,
        combiner=kind,
        over=over,
        equal=equal,
        at_least=at_least,
        wider=wider,
        everywhere=trace.everywhere,
    )


def collect(x: Tensor, over: str) -> Tensor:
    """Return all values of `x` over a dim, along a leading inner axis as long as the dim."""
    from workbench.language.episodes.ends import existing  # the circle tracing <-> episodes

    existing(x, "collect", (over,))
    return collected(x, over)


def collected(x: Tensor, over: str) -> Tensor:
    """Return the same of values that exist wherever the result does."""
    trace = current()
    own = trace.range(over)
    length = own.length if own.length.terms else own.length.constant
    return record(
        trace,
        operation="collect",
        operands=(x,),
        dims=trace.ordered({d for d in x.dims if d != over}),
        shape=(length, *x.shape),
        dtype=x.dtype,
        combiner="collect",
        over=((over, own.lower, own.upper),),
    )


def _sum_dtype(x: Tensor) -> str:
    return "int32" if x.dtype == "bool" else x.dtype


def _named(x: Tensor, over: Any) -> tuple[str, ...]:
    """Return the names of dims, or of the range axes where these are asked for."""
    if whole(over) is not None:
        raise ProgramError(
            f"expected a dim, found {over}; an inner axis is given by its name, axis={over}",
            user_line(),
        )
    if not isinstance(over, str) or over != RANGE:
        return dim_names(over)
    names = _ranges(x)
    if not names:
        raise ProgramError(
            f'over="range" of {x!r}, which has no range axis; expected one read as x[b, t:T]',
            user_line(),
        )
    return names


def _ranges(x: Tensor) -> tuple[str, ...]:
    return tuple(d for d in x.dims if current().dims[d].axis is not None)


def _axes(x: Tensor, kind: str, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """Combine over inner axes, the last first."""
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    for axis in sorted(axes, reverse=True):
        if kind != "sum" and x.shape[axis] == 0:
            raise ProgramError(
                f"{kind} of {x!r} along axis {axis}, which has no elements", user_line()
            )
        x = apply(kind, x if x.dtype != "bool" else cast(x, "int32"), axis=axis)
    return reshape(x, kept) if keepdims and axes else x


def _dims(x: Tensor, kind: str, names: tuple[str, ...]) -> Tensor:
    trace = current()
    for name in names:
        trace.range(name)
    if kind == "argmax" and len(names) != 1:
        raise ProgramError("argmax is over exactly one dim", user_line())
    _refuse_twice(x, kind, names)
    for d in x.dims:
        bounds = trace.dims[d]
        if d not in names and (bounds.lower.variables | bounds.upper.variables) & set(names):
            raise ProgramError(
                f"{kind} over {', '.join(names)}: the range {bounds.lower}:{bounds.upper} "
                "depends on it; reduce the range first",
                user_line(),
            )
    if x.dtype == "bool":
        x = cast(x, "int32")
    from workbench.language.episodes.ends import existing  # the circle tracing <-> episodes

    return reduce_over(existing(x, kind, names)[0], kind, _bounds(names))


def _bounds(names: tuple[str, ...]) -> tuple[Bound, ...]:
    trace = current()
    return tuple((n, trace.dims[n].lower, trace.dims[n].upper) for n in names)
