"""Sentences that refuse a program at an instance: place, sizes, the read, and what exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Read
from workbench.program.sizes import numbers
from workbench.program.text.infix import at_text, element_text, equation, point_text
from workbench.program.text.ranges import Ranges
from workbench.program.values import Array, Equations, Statement

Point = tuple[int, ...]
Reader = tuple[Read, Sequence[str], Point]
SHOWN = 6
"""The number of a cycle's members that are written out; longer ones show the first and the last."""


def outside(
    record: Array,
    element: Point,
    reader: Reader | None,
    sizes: Mapping[str, int],
    extent: Sequence[tuple[int, int]],
    ranges: Ranges | None = None,
) -> str:
    """Return the refusal of a read outside an array's elements.

    It reads `value[b, t + 1] is read at b=0, t=3 (T=4), but value has elements t=0..3 only`. Where
    the first slice lacks it says so: `; nothing defines value at t=0`.
    """
    wrong = [
        (dim, position, lower, upper)
        for dim, position, (lower, upper) in zip(record.dims, element, extent, strict=True)
        if not lower <= position < upper
    ]
    has = ", ".join(f"{dim}={lower}..{upper - 1}" for dim, _, lower, upper in wrong)
    if any(lower >= upper for _, _, lower, upper in wrong):
        has = "none"
    asked = ", ".join(f"{dim}={position}" for dim, position, _, _ in wrong)
    if reader is None:
        return f"{record.called} has elements {has} only, asked for {asked} ({_listed(sizes)})"
    gathered = any(not isinstance(e, Expression) for e in reader[0].index)
    asked_for = f" with {asked}" if gathered else ""
    has_only = f"{record.name} has" if not record.described else "there are"
    only = f"{_read(record, reader, sizes, ranges)}{asked_for}, but {has_only} elements {has} only"
    lacks = any(0 <= position < lower for _, position, lower, _ in wrong)  # a first slice
    return f"{only}; nothing defines {record.called} at {asked}" if lacks else only


def undefined(
    record: Array,
    element: Point,
    reader: Reader | None,
    sizes: Mapping[str, int],
    ranges: Ranges | None = None,
) -> str:
    """Return the refusal `x[t - 1] is read at t=0 (T=4), but nothing defines x at t=-1`."""
    where = f" at {point_text(record.dims, element)}" if element else ""
    if reader is None:
        return f"nothing defines {record.called}{where} ({_listed(sizes)})"
    return f"{_read(record, reader, sizes, ranges)}, but nothing defines {record.called}{where}"


def unexecuted(
    record: Array,
    element: Point,
    reader: Reader | None,
    sizes: Mapping[str, int],
    ranges: Ranges | None = None,
) -> str:
    """Return the refusal of an element that does not exist, as its episode ended before."""
    where = point_text(record.dims, element)
    if reader is None:
        return f"{record.called} at {where} does not exist: its episode ended before"
    return (
        f"{_read(record, reader, sizes, ranges)}, but {record.called} at {where} does not exist: "
        "its episode ended before"
    )


def impossible(where: str) -> str:
    """Return the refusal of a Categorical without a legal choice."""
    return f"all logits of a Categorical are -inf at {where}: it has no choice"


def too_low(name: str, where: str) -> str:
    """Return the refusal of a number that is not above 0."""
    return f"{name} at {where} is not above 0, as is expected of it"


def singular(name: str, where: str) -> str:
    """Return the refusal of equations without one solution."""
    return f"{name} at {where} solves with a singular matrix: a pivot of its elimination is 0"


def indefinite(name: str, where: str) -> str:
    """Return the refusal of a matrix without a Cholesky factor."""
    return f"{name} at {where} takes wb.cholesky of a matrix that is not positive definite"


def _read(record: Array, reader: Reader, sizes: Mapping[str, int], ranges: Ranges | None) -> str:
    """Return `x[t:t + 3] is read at t=2 (T=4)`: a read written as a range is shown as one."""
    read, dims, point = reader
    shown: set[str] = set()
    index: list[str] = []
    for e in read.index:
        text = element_text("", [e])[1:-1]
        for d, (lower, upper) in (ranges or {}).items():
            if isinstance(e, Expression) and e.coefficient(d) == 1:
                text = f"{e.substitute({d: lower})}:{e.substitute({d: upper})}"
                shown.add(d)
        index.append(text)
    at = {d: x for d, x in zip(dims, point, strict=True) if d not in shown}
    place = f"[{', '.join(index)}]" if index else ""
    written = f"{record.name}{place}"
    if record.described:
        written = f"{place} of {record.described}" if place else record.described
    return f"{written} is read at {at_text(list(at), list(at.values()), sizes)}"


def empty(
    statement: Statement, equations: Equations, instance: Point, sizes: Mapping[str, int]
) -> str:
    """Return the refusal of a maximum (minimum, position) over no points, which has no value."""
    return (
        f"{statement.combiner} over no points at {at_text(statement.dims, instance, sizes)}: "
        f"{equation(statement, equations)}"
    )


def cycle(
    statements: Sequence[Statement],
    equations: Equations,
    elements: Sequence[tuple[str, Point]],
    sizes: Mapping[str, int],
) -> str:
    """Return the refusal of a cycle: its elements, each of which needs the next, and equations."""
    names = [f"{array}[{', '.join(map(str, at))}]" if at else array for array, at in elements]
    chain = [*names, names[0]]
    if len(chain) > SHOWN + 1:
        chain = [*chain[: SHOWN // 2], "…", *chain[-SHOWN // 2 :]]
    lines = dict.fromkeys(f"  {equation(s, equations)}" for s in statements)
    return "\n".join(
        [f"{names[0]} needs itself ({_listed(sizes)}): {' → '.join(chain)}", *list(lines)[:SHOWN]]
    )


def arity(record: Array, name: str, element: Point) -> str:
    """Return the refusal of a wrong number of coordinates."""
    dims = ", ".join(record.dims) or "none"
    return f"{name} has the dimensions {dims}, asked for {len(element)} coordinates: {element}"


def _listed(sizes: Mapping[str, int]) -> str:
    return numbers(sizes) or "no sizes"
