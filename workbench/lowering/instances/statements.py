"""A statement's instance: its axes and their ranges, and the place of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from workbench.errors import ProgramError
from workbench.lowering.instances import contractions
from workbench.lowering.instances.contractions import Letters
from workbench.lowering.instances.linearize import Linearizer
from workbench.lowering.instances.operation_rules import add_entry
from workbench.lowering.instances.reductions import Mask, check_points, combine
from workbench.lowering.instances.segment_sums import entry_alone
from workbench.lowering.instances.swapping import Swapping
from workbench.lowering.loops.records import WHOLE, Apply, Enter, Entry, If, Record, RuntimeCheck
from workbench.lowering.reads import index_arrays, slices
from workbench.lowering.values.intervals import Ranges, at_least
from workbench.lowering.values.layout import Value
from workbench.lowering.values.point_boxes import (
    Bounds,
    Points,
    bounding_box,
    point_box,
    points_of,
    sole_positions,
)
from workbench.lowering.values.scope import Prepared, Scope, Workspace
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition, negated
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.polyhedral.sets.as_conditions import conditions
from workbench.polyhedral.sets.relations import dims_of, is_box, is_equal, project_out
from workbench.program.accumulating import Adding, Finish, Start, owner
from workbench.program.operations.table import COMBINES
from workbench.program.values import Statement


def linearize(
    statement: Statement,
    axes: Sequence[str],
    values: Mapping[str, Expression],
    ranges: Ranges,
    stored: Mapping[str, Stored],
    workspace: Workspace,
    ranks: Mapping[str, int],
    swapping: Swapping,
    blocks: tuple[AxisBlock, ...] = (),
) -> list[Record]:
    """Return the array operations of one instance.

    Loop dimensions are `values`, the dimensions `axes` array axes, but for those with one position.
    An axis with `blocks` is the part in the block whose number is among the values too.
    """
    statement, points, axes = _combining(statement, points_of(statement, blocks), axes)
    values = {**values, **sole_positions(statement, points, axes, values, ranges)}
    axes = [d for d in axes if d not in values]
    filled = point_box(statement, points, axes, values, ranges, ranks, stored)
    boxes, place = filled.axes, {**values, **filled.places}
    loops = tuple((d, values[d]) for d in statement.dims if d in values)
    blocked = frozenset(block.dim for block in blocks)
    name = owner(statement)
    scope = Scope(workspace, statement.array, boxes, ranges, name, loops, blocked)
    at = Linearizer(scope, statement, stored, place, not filled.exact, swapping)
    scope.records.append(Enter(name, _title(statement)))
    index = tuple(at.placed(e) for e in statement.write)
    written = swapping.writing(scope, stored[statement.array], index)
    target = slices.sliced(scope, written, index)
    own = scope.ordered(axes)
    if target is None or target.axes != own:
        raise ProgramError(
            f"{statement.name} cannot run with {', '.join(own)} as array axes: it writes "
            f"{statement.array}[{', '.join(str(e) for e in statement.write)}]",
            statement.line,
        )
    begin, known = len(scope.records), swapping.known()
    target = _of_its_run(scope, statement, target, values)
    mask = None if filled.exact else _mask(scope, statement, points, filled.inner, at)
    scope.inside = None if mask is None else mask.inside
    _write(at, target, mask)
    if at.needs_points or at.read_lengths:
        _where_there_are_points(at, points, target, begin)
        swapping.held = known
    lengths = tuple((a, boxes[a][0]) for a in own)
    scope.records.append(RuntimeCheck(name, target.name, loops, lengths, statement.line))
    swapping.written(scope, written)
    return scope.records


def _of_its_run(
    scope: Scope, statement: Statement, target: Value, values: Mapping[str, Expression]
) -> Value:
    """Return the part of an element that an instance writes: that of its run of blocks, if any."""
    if not isinstance(statement, Adding) or statement.chunks is None:
        return target
    rest: list[Entry] = [WHOLE] * (len(target.shape) - 1)
    return scope.inner(target, [statement.chunks.run_of(values), *rest], target.shape[1:])


def _write(at: Linearizer, target: Value, mask: Mask | None) -> None:
    """Write an instance's value to its place, or combine it with what is there."""
    scope, statement = at.scope, at.statement
    over: Letters = scope.ordered(statement.reduction_dims)
    if isinstance(statement, Adding):
        entry = entry_alone(statement.body)
        if not over and entry is not None and add_entry(at, entry, target):
            return
        if over:
            value = scope.temporary(target.axes, target.shape, target.dtype)
            combine(at, value, over, mask)
        else:
            value = at.value(statement.body, target.dtype)
        ready = scope.aligned(value, target.axes, len(target.shape))
        scope.apply(COMBINES[statement.by], [target, ready], target)
    elif isinstance(statement, Finish):
        check_points(scope, over, mask)
        at.into(statement.body, target)
    elif statement.combiner is None:
        at.into(statement.body, target)
    else:
        combine(at, target, over, mask)


def _combining(
    statement: Statement, points: Points, axes: Sequence[str]
) -> tuple[Statement, Points, Sequence[str]]:
    """Return how a statement of a derived program combines in one array operation.

    Points that are added up along array axes are combined along these first. A result that may be
    of no points has its points beside it.
    """
    if isinstance(statement, Finish):
        over, reduction = statement.over, statement.points
        with_points = replace(statement, combiner=statement.by, reduction_dims=over)
        return replace(with_points, reduction=reduction), Points(points.domain, reduction), axes
    gone = [d for d in axes if d in statement.over] if isinstance(statement, Adding) else []
    if not isinstance(statement, Adding) or not gone:
        return statement, points, axes
    if not is_box(points.domain, [d for d in statement.dims if d in axes]):
        listed = ", ".join(d for d in statement.dims if d in axes)
        sentence = f"{statement.name}: its points are not a box in {listed}"
        raise ProgramError(sentence, statement.line)
    combined = replace(
        statement,
        dims=tuple(d for d in statement.dims if d not in gone),
        domain=project_out(statement.domain, gone),
        reduction_dims=tuple(gone),
        reduction=statement.domain,
        combiner=statement.by,
    )
    along = Points(project_out(points.domain, gone), points.domain)
    return combined, along, tuple(d for d in axes if d not in gone)


def _where_there_are_points(at: Linearizer, points: Points, target: Value, begin: int) -> None:
    """Make the records from `begin` on run only where there are points.

    Elsewhere an element that they read need not exist. A sum over nothing is 0; other combiners of
    nothing have been refused.
    """
    scope, statement = at.scope, at.statement
    empty = [a for a in scope.axes if not at_least(scope.length(a), 1, scope.ranges)]
    if statement.combiner not in (None, "sum"):
        empty = [a for a in empty if a not in statement.reduction_dims]
    none: list[Condition] = [AffineComparison(scope.length(a), "<=", expression(0)) for a in empty]
    is_of_points = any(a in statement.reduction_dims for a in empty)
    if statement.combiner == "sum":
        somewhere = _has_points_here(at, points)
        bare = [n for n in dict.fromkeys(at.read_lengths) if not at_least(n, 1, scope.ranges)]
        none += [AffineComparison(n, "<=", expression(0)) for n in bare]
        none += map(negated, somewhere)
        is_of_points = is_of_points or bool(somewhere or bare)
    if not none:
        return
    nothing = none[0] if len(none) == 1 else Compound("or", tuple(none))
    inside = tuple(scope.records[begin:])
    del scope.records[begin:]
    if is_of_points and not isinstance(statement, Adding):
        zero = Apply("fill", (), target.name, (("value", 0),))
        scope.records.append(If(nothing, (zero,)))
    scope.records.append(If(negated(nothing), inside))


def _has_points_here(at: Linearizer, points: Points) -> list[Condition]:
    """Return the conditions on the loops' values for a reduction to have any point on any axis.

    Empty where any values will do.
    """
    axes = at.scope.axes
    asked = project_out(points.domain, [d for d in dims_of(points.domain) if d in axes])
    held = project_out(points.reduction, [d for d in dims_of(points.reduction) if d in axes])
    if is_equal(asked, held):
        return []
    alternatives = []
    for each in conditions(held, asked):
        parts: list[Condition] = [
            AffineComparison(expression(0), "==" if equality else "<=", at.placed(e))
            for e, equality in each
        ]
        alternatives.append(parts[0] if len(parts) == 1 else Compound("and", tuple(parts)))
    return alternatives if len(alternatives) < 2 else [Compound("or", tuple(alternatives))]


def _title(statement: Statement) -> str:
    index = f"[{', '.join(str(e) for e in statement.write)}]" if statement.write else ""
    start = ", the start" if isinstance(statement, Start) else ""
    return statement.array + index + (", added up" if isinstance(statement, Adding) else start)


def _mask(
    scope: Scope, statement: Statement, points: Points, inner: Bounds, at: Linearizer
) -> Mask:
    """Return the mask of the reduction set within its box, over the axes on which it depends."""
    known = bounding_box(points, inner)
    alternatives = [
        [(at.placed(e), equality) for e, equality in each]
        for each in conditions(points.reduction, known)
    ]
    moving = {v for each in alternatives for e, _ in each for v in e.variables} | {
        v for pair in scope.axes.values() for e in pair for v in e.variables
    }
    still = not moving & set(scope.ranges)
    if not still:
        return Mask(*_mask_of(scope, statement, points, alternatives))

    def make() -> Prepared:
        front = Scope(scope.workspace, "mask", scope.axes, {})
        return _mask_of(front, statement, points, alternatives), front.records

    placed = tuple(at.placed(variable(d)) for d in statement.reduction_dims)
    key = ("mask", statement.combiner == "sum", points, tuple(scope.axes.items()), placed)
    return Mask(*scope.workspace.once(key, make))


def _mask_of(
    scope: Scope,
    statement: Statement,
    points: Points,
    alternatives: Sequence[list[tuple[Expression, bool]]],
) -> tuple[Value, ...]:
    """Return the values that a `Mask` is made of."""
    inside = None
    for each in alternatives:
        one = index_arrays.condition_value(scope, each)
        inside = (
            one if inside is None else index_arrays.binary(scope, "logical_or", inside, one, "bool")
        )
    if inside is None:
        inside = scope.workspace.constant(False, "bool")
    if statement.combiner != "sum":
        outside = scope.temporary(inside.axes, (), "bool")
        scope.apply("logical_not", [inside], outside)
        return inside, outside
    if _has_points(points, statement.reduction_dims):
        return inside, inside
    return inside, inside, _empty(scope, inside, statement.reduction_dims)


@lru_cache(maxsize=16384)
def _has_points(points: Points, over: tuple[str, ...]) -> bool:
    """Tell whether every instance has a reduction point."""
    return is_equal(project_out(points.reduction, over), points.domain)


def _empty(scope: Scope, inside: Value, over: Sequence[str]) -> Value:
    """Return where a mask holds for no point of the axes `over`."""
    kept = tuple(a for a in inside.axes if a not in over)
    empty = scope.temporary(kept, (), "bool")
    any_ = contractions.operand(empty, ())
    contractions.reduce(scope, "logical_or", contractions.operand(inside, ()), any_)
    return scope.apply("logical_not", [empty], empty)
