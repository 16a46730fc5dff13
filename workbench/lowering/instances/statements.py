"""A statement's instance: its axes and their ranges, and the place of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from workbench.lowering.values.intervals import Ranges, at_least, length
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Prepared, Scope, Workspace
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.conditions import AffineComparison, Compound, Condition, negated
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.loops.axis_blocks import AxisBlock, with_blocks
from workbench.polyhedral.sets.as_conditions import conditions
from workbench.polyhedral.sets.as_text import is_empty
from workbench.polyhedral.sets.relations import (
    bounds,
    box,
    dims_of,
    domain_with,
    intersect,
    is_box,
    is_equal,
    project_out,
    with_dims,
)
from workbench.program.accumulating import Adding, Finish, Start, owner
from workbench.program.operations.table import COMBINES
from workbench.program.values import Statement

Axes = dict[str, tuple[Expression, Expression]]


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

    Loop dimensions are `values`, the dimensions `axes` array axes. An axis with `blocks` is the
    part in the block whose number is among the values too.
    """
    statement, points, axes = _combining(statement, _points(statement, blocks), axes)
    boxes, boxed = _axes(statement, points, axes, values, ranges, ranks, stored)
    loops = tuple((d, values[d]) for d in statement.dims if d in values)
    blocked = frozenset(block.dim for block in blocks)
    name = owner(statement)
    scope = Scope(workspace, statement.array, boxes, ranges, name, loops, blocked)
    at = Linearizer(scope, statement, stored, values, not boxed, swapping)
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
    _write(at, target, None if boxed else _mask(scope, statement, points, axes, at))
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
    statement: Statement, points: _Points, axes: Sequence[str]
) -> tuple[Statement, _Points, Sequence[str]]:
    """Return how a statement of a derived program combines in one array operation.

    Points that are added up along array axes are combined along these first. A result that may be
    of no points has its points beside it.
    """
    if isinstance(statement, Finish):
        over, reduction = statement.over, statement.points
        with_points = replace(statement, combiner=statement.by, reduction_dims=over)
        return replace(with_points, reduction=reduction), _Points(points.domain, reduction), axes
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
    along = _Points(project_out(points.domain, gone), points.domain)
    return combined, along, tuple(d for d in axes if d not in gone)


def _where_there_are_points(at: Linearizer, points: _Points, target: Value, begin: int) -> None:
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


def _has_points_here(at: Linearizer, points: _Points) -> list[Condition]:
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


@dataclass(frozen=True)
class _Points:
    """A statement's instances, and its reduction points, with the numbers of their blocks."""

    domain: str
    reduction: str


def _points(statement: Statement, blocks: tuple[AxisBlock, ...]) -> _Points:
    reduction = with_blocks(statement.reduction, blocks) if statement.reduction_dims else ""
    return _Points(with_blocks(statement.domain, blocks), reduction)


def _axes(
    statement: Statement,
    points: _Points,
    axes: Sequence[str],
    values: Mapping[str, Expression],
    ranges: Ranges,
    ranks: Mapping[str, int],
    stored: Mapping[str, Stored],
) -> tuple[Axes, bool]:
    """Return lower bound and length of every axis, in the global order.

    And whether the points fill that box.
    """
    own = [d for d in statement.dims if d in axes]
    if own and not is_box(points.domain, own):
        raise ProgramError(
            f"{statement.name}: its instances are not a box in {', '.join(own)}", statement.line
        )
    boxes = dict(zip(own, bounds(points.domain, own), strict=True)) if own else {}
    over = list(statement.reduction_dims)
    boxed = True
    if over:
        inner, boxed = _reduction_box(statement, points, own, over)
        boxes.update(inner)
    placed = {
        d: (low.substitute(dict(values)), high.substitute(dict(values)))
        for d, (low, high) in boxes.items()
    }
    order = sorted(placed, key=lambda d: _rank(statement, d, ranks, stored))
    return {d: (placed[d][0], length(*placed[d], ranges)) for d in order}, boxed


def _reduction_box(
    statement: Statement, points: _Points, own: list[str], over: list[str]
) -> tuple[dict[str, tuple[Expression, Expression]], bool]:
    """Return the ranges of the reduction dimensions (over sizes and loop dimensions).

    And whether they fill a box.
    """
    inner = {}
    for d in over:
        bounds_of = _range(points.reduction, tuple(x for x in (*own, *over) if x != d), d)
        if bounds_of is None:
            raise ProgramError(
                f"{statement.name}: the points of {d} have gaps, which array axes cannot have",
                statement.line,
            )
        inner[d] = bounds_of
    return inner, _is_box(points, tuple(inner.items()))


@lru_cache(maxsize=16384)
def _range(
    reduction: str, others: tuple[str, ...], dim: str
) -> tuple[Expression, Expression] | None:
    """Return the range of one dimension for all values of the others; None where it has gaps."""
    if is_empty(reduction):  # at all sizes: nothing is combined
        return expression(0), expression(0)
    try:
        return bounds(project_out(reduction, others), [dim])[0]
    except ProgramError:
        return None


@lru_cache(maxsize=16384)
def _is_box(points: _Points, inner: tuple[tuple[str, tuple[Expression, Expression]], ...]) -> bool:
    return is_equal(_bounding_box(points, dict(inner)), points.reduction)


def is_masked(statement: Statement, axes: Sequence[str]) -> bool:
    """Tell whether the reduction set is not a box with the dimensions `axes` as array axes."""
    if not statement.reduction_dims:
        return False
    own = [d for d in statement.dims if d in axes]
    over = list(statement.reduction_dims)
    return not _reduction_box(statement, _points(statement, ()), own, over)[1]


def _bounding_box(points: _Points, inner: Mapping[str, tuple[Expression, Expression]]) -> str:
    dims = dims_of(points.reduction)
    wide = with_dims(points.domain, dims)
    filled = box([(d, *inner[d]) for d in inner]) if _free(inner) else None
    if filled is not None:
        return intersect(wide, with_dims(filled, dims))
    limits = [
        pair
        for d, (low, high) in inner.items()
        for pair in ((variable(d), low), (high - 1, variable(d)))
    ]
    return domain_with(wide, at_least=limits)


def _free(inner: Mapping[str, tuple[Expression, Expression]]) -> bool:
    return not any(e.variables for pair in inner.values() for e in pair)


def _mask(
    scope: Scope, statement: Statement, points: _Points, axes: Sequence[str], at: Linearizer
) -> Mask:
    """Return the mask of the reduction set within its box, over the axes on which it depends."""
    own = [d for d in statement.dims if d in axes]
    inner, _ = _reduction_box(statement, points, own, list(statement.reduction_dims))
    known = _bounding_box(points, inner)
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

    key = ("mask", statement.combiner == "sum", points, tuple(scope.axes.items()))
    return Mask(*scope.workspace.once(key, make))


def _mask_of(
    scope: Scope,
    statement: Statement,
    points: _Points,
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
def _has_points(points: _Points, over: tuple[str, ...]) -> bool:
    """Tell whether every instance has a reduction point."""
    return is_equal(project_out(points.reduction, over), points.domain)


def _empty(scope: Scope, inside: Value, over: Sequence[str]) -> Value:
    """Return where a mask holds for no point of the axes `over`."""
    kept = tuple(a for a in inside.axes if a not in over)
    empty = scope.temporary(kept, (), "bool")
    any_ = contractions.operand(empty, ())
    contractions.reduce(scope, "logical_or", contractions.operand(inside, ()), any_)
    return scope.apply("logical_not", [empty], empty)


def _rank(
    statement: Statement, d: str, ranks: Mapping[str, int], stored: Mapping[str, Stored]
) -> tuple[float, int]:
    """Return a dimension's place in the global order.

    A reduction dimension stands beside the dimension that it indexes, positions in a block behind
    the block.
    """
    block = _block_of(statement, d)
    if block in ranks:
        return ranks[block] + 0.5, 0
    if d in ranks:
        return ranks[d], 0
    for read in statement.reads:
        for e, name in zip(read.index, stored[read.array].array.dims, strict=True):
            if isinstance(e, Expression) and e.coefficient(d) and name in ranks:
                return ranks[name] + 0.5, 0
    return len(ranks), 0


def _block_of(statement: Statement, d: str) -> str:
    """Return the dimension of the blocks in which a reduction dimension is the position."""
    if d not in statement.reduction_dims:
        return ""
    entries = (e for read in statement.reads for e in read.index if isinstance(e, Expression))
    counts = (x for e in entries if e.coefficient(d) == 1 for x in e.variables - {d})
    return next((x for x in counts if x in statement.dims), "")
