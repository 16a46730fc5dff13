"""Sums over the points whose index is the element: all points are looked at once, each adds its
value to the element that its indices name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.codegen.kernel_records import Let
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import with_blocks
from workbench.polyhedral.sets.relations import bounds
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read, walk
from workbench.program.operations.table import COMBINES, OPERATIONS

if TYPE_CHECKING:
    from workbench.codegen.writing.instance_writer import InstanceWriter


@dataclass(frozen=True)
class ScatteredSum:
    """A sum `sum(where(index == element and ..., value, 0))`: its value, and the index that each
    axis of the result is compared with.
    """

    value: Body
    indices: dict[str, Body]


def scattered_sum(writer: InstanceWriter) -> ScatteredSum | None:
    """Return what an instance sums where it is a sum of that form; None for other statements."""
    body, own = writer.statement.body, frozenset(writer.own)
    if writer.statement.combiner != "sum" or not own or not isinstance(body, Call):
        return None
    if body.operation != "where" or not _has_the_same_points_everywhere(writer):
        return None
    condition, value, other = body.arguments
    nothing = isinstance(other, Literal) and not other.shape and not other.value
    if not nothing or value.shape != body.shape or _varies(value, own):
        return None
    indices: dict[str, Body] = {}
    for part in _conjuncts(condition):
        compared = _comparison(part, own)
        if compared is None or compared[0] in indices:
            return None
        axis, index = compared
        indices[axis] = index
    return ScatteredSum(value, indices) if set(indices) == own else None


def _has_the_same_points_everywhere(writer: InstanceWriter) -> bool:
    """Tell whether every element's points are the same."""
    ranges, mask = writer.ranges()
    limits = [e for pair in ranges.values() for e in pair]
    limits += [e for alternative in mask for e, _ in alternative]
    return not any(e.variables & set(writer.own) for e in limits)


def _varies(body: Body, own: frozenset[str]) -> bool:
    """Tell whether a body varies over the axes of the result."""
    for part in walk(body):
        if isinstance(part, IndexValue) and part.expression.variables & own:
            return True
        if isinstance(part, Read) and any(
            isinstance(e, Expression) and e.variables & own for e in part.index
        ):
            return True
        if isinstance(part, Call) and not OPERATIONS[part.operation].pure:
            return True
    return False


def _conjuncts(condition: Body) -> Iterator[Body]:
    if isinstance(condition, Call) and condition.operation == "logical_and":
        for argument in condition.arguments:
            yield from _conjuncts(argument)
    else:
        yield condition


def _comparison(part: Body, own: frozenset[str]) -> tuple[str, Body] | None:
    """Return the axis and the index that it is compared with."""
    if not (isinstance(part, Call) and part.operation == "equal") or part.shape:
        return None
    for element, index in (part.arguments, part.arguments[::-1]):
        if isinstance(element, IndexValue) and index.dtype in ("int32", "int64"):
            axis = next((d for d in own if element.expression == variable(d)), None)
            if axis is not None and not _varies(index, own):
                return axis, index
    return None


def write_scattered(writer: InstanceWriter, scattered: ScatteredSum) -> None:
    """Add each point's value to the element that its indices name, if there is one."""
    out, outside = writer.out, dict(writer.place)
    writer.over_axes("", lambda: writer.store_start(lanes=True))
    writer.place = outside
    domain = with_blocks(writer.statement.domain, writer.blocks)
    ranges = dict(zip(writer.own, bounds(domain, writer.own), strict=True))

    def point() -> None:
        for d in writer.own:
            writer.place[d] = expression(0)  # not asked for: no body reads it
        bodies = writer.bodies("")
        bodies.prepare()
        inside: list[Condition] = []
        for d, index in scattered.indices.items():
            name = out.name("index")
            out.add(Let(name, bodies.value(index, ())))
            low, high = (e.substitute(outside) for e in ranges[d])
            inside += [
                AffineComparison(low, "<=", variable(name)),
                AffineComparison(variable(name), "<", high),
            ]
            writer.place[d] = variable(name)
        with out.where(Compound("and", tuple(inside))):
            bodies.positions(scattered.value, lambda i, v: writer.store(i, v, COMBINES["sum"]))

    writer.over_points("", point)
    writer.place = outside
