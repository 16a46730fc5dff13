"""Sizes, inner shapes and inner axes from a user: an object with `__index__` is a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import ProgramError
from workbench.language.tracing.trace import user_line
from workbench.polyhedral.expression import Expression, expression, whole
from workbench.program.bodies import Shape

if TYPE_CHECKING:
    from workbench.language.tracing.tensor import Tensor


def index_of(value: Any) -> Expression | None:
    """Return the index expression of a value; None where it is none."""
    if isinstance(value, Expression):
        return value
    number = whole(value)
    return None if number is None else expression(number)


def expect_own_indices(
    what: Tensor | str, written: str, dims: Sequence[str], given: Sequence[Any]
) -> None:
    """Refuse fewer indices than dims where one is made of a dim that has none of its own: `[t]` of
    what varies over b and t, which is b = t and not the t that was meant.
    """
    left = dims[len(given) :]
    for d, entry in zip(dims, given, strict=False):
        if any(x in _variables(entry) for x in left):
            place = f"a range of {d}" if isinstance(entry, slice) else f"at {d} = {entry}"
            meant = ", ".join([written, *left])
            raise ProgramError(
                f"[{written}] of {what} would be {place}, for each {' and '.join(left)}: "
                f"indices are in the order of its dims; write [{', '.join(dims)}], or [{meant}] "
                "where that is meant",
                user_line(),
            )


def _variables(entry: Any) -> frozenset[str]:
    """Return the dims that an index or the bounds of a range are made of."""
    parts = (entry.start, entry.stop) if isinstance(entry, slice) else (entry,)
    return frozenset().union(*(e.variables for e in parts if isinstance(e, Expression)))


def length_of(value: Any, what: str) -> int | Expression:
    """Return the length of an inner axis: a number from 0 on, or an expression over sizes."""
    length = value if isinstance(value, Expression) else whole(value)
    if isinstance(length, int) and length < 0:
        raise ProgramError(f"{what} is {length}; expected at least 0", user_line())
    if isinstance(length, Expression) and length.variables:
        raise ProgramError(
            f"{what} is {length}, which varies over {', '.join(sorted(length.variables))}; "
            "expected a whole number or a size",
            user_line(),
        )
    if length is None:
        raise ProgramError(f"{what} is {value!r}; expected a whole number or a size", user_line())
    return length


def shape_of(shape: Any, what: str = "shape") -> Shape:
    """Return an inner shape: a number means one axis."""
    if isinstance(shape, Expression) or whole(shape) is not None:
        return (length_of(shape, what),)
    if isinstance(shape, (str, bytes)) or not isinstance(shape, Iterable):
        raise ProgramError(
            f"{what} is {shape!r}; expected a number or a tuple of them", user_line()
        )
    return tuple(length_of(n, f"an entry of {what} {shape!r}") for n in shape)


def axis_of(x: Tensor, axis: Any, rank: int | None = None) -> int:
    """Return an inner axis counted from the front, one of `rank` (by default those of `x`)."""
    rank = len(x.shape) if rank is None else rank
    number = whole(axis)
    if number is None:
        instead = f"; of dims or a range it is over={axis!r}" if isinstance(axis, str) else ""
        raise ProgramError(f"axis {axis!r} of {x!r}; expected a whole number{instead}", user_line())
    if not -rank <= number < rank:
        raise ProgramError(f"{x!r} has no inner axis {number}", user_line())
    return number % rank


def count_of(x: Tensor, axis: int) -> int:
    """Return the number of entries of an inner axis, which may be no symbolic size."""
    n = x.shape[axis]
    if not isinstance(n, int):
        raise ProgramError(
            f"inner axis {axis} of {x!r} has the symbolic size {n}; expected a number: declare a "
            f"dim, k = wb.dim(k={n}), in the place of the axis, or give the axis a number",
            user_line(),
        )
    return n


def axes_of(x: Tensor, axis: Any) -> tuple[int, ...]:
    """Return one inner axis or a tuple of them, counted from the front."""
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_of(x, one) for one in given)
    if len(set(axes)) < len(axes):
        raise ProgramError(f"axis {axis!r} of {x!r} names an axis twice", user_line())
    return axes
