"""What a launch touches of an array in host memory: a piece of it, or elements anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.cuda.slices.pieces import Piece, Run, together
from workbench.codegen.emitter import Emitter
from workbench.codegen.writing.instance_writer import InstanceWriter
from workbench.codegen.writing.kernel_statements import Statements
from workbench.lowering.loops.records import HOST, Launch
from workbench.lowering.values.intervals import Ranges, greatest_length, length
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import bounds, is_empty
from workbench.polyhedral.shortest import shortest
from workbench.program.accumulating import Adding

Axes = Mapping[str, tuple[Expression, Expression]]
"""The first and the last value of dimensions."""


@dataclass(frozen=True)
class Use:
    """The pieces of an array that a launch reads and writes. `filled`: it writes all of its piece,
    so that nothing of what was there is left.
    """

    read: Piece | None
    written: Piece | None
    filled: bool


def uses(statements: Statements, launch: Launch, ranges: Ranges) -> dict[str, Use | None]:
    """Return what a launch touches of each array in host memory, by name: None where that is not
    one piece read and one written. `ranges` are those of the loops around it.
    """
    read: dict[str, list[Piece | None]] = {}
    written: dict[str, list[Piece | None]] = {}
    filled: dict[str, bool] = {}
    launches = (launch, *launch.more)
    kernel = statements.of_kernel(launches)
    for one in launches:
        instance = kernel.writer(Emitter(set()), one)
        statement, axes = instance.statement, _axes(instance)
        for access in statement.reads:
            stored = statements.stored[access.array]
            if stored.buffer.space == HOST:
                piece = _piece(stored, access.index, instance.place, axes, ranges)
                read.setdefault(access.array, []).append(piece)
        stored = statements.stored[statement.array]
        if stored.buffer.space == HOST:
            piece = _piece(stored, statement.write, instance.place, axes, ranges)
            written.setdefault(statement.array, []).append(piece)
            fills = piece is not None and _fills(instance, piece, axes)
            filled[statement.array] = fills and statement.array not in filled
    found: dict[str, Use | None] = {}
    for array in dict.fromkeys((*read, *written)):
        ends = [_all(those.get(array, ()), ranges) for those in (read, written)]
        found[array] = Use(ends[0], ends[1], filled.get(array, False))
        missing = (array in read and ends[0] is None) or (array in written and ends[1] is None)
        if missing or (launch.more and _differ(ends[0], ends[1])):
            found[array] = None
    return found


def _differ(read: Piece | None, written: Piece | None) -> bool:
    """Tell whether what is read may be part of what is written, and more."""
    return read is not None and written is not None and not read.same(written)


def _all(pieces: Sequence[Piece | None], ranges: Ranges) -> Piece | None:
    """Return the piece that has the elements of all; None where there is none."""
    whole = pieces[0] if pieces else None
    for piece in pieces[1:]:
        whole = together(whole, piece, ranges) if whole and piece else None
    return whole


def _axes(instance: InstanceWriter) -> Axes:
    """Return the dimensions over which an instance runs, and those that it combines, as far as
    their ends do not depend on each other.
    """
    domain = instance.domain()
    if is_empty(domain):
        return {}
    own = instance.own
    limits = dict(zip(own, bounds(domain, own) if own else (), strict=True))
    if instance.summed:
        limits |= instance.ranges()[0]
    placed = {
        d: (lower.substitute(instance.place), upper.substitute(instance.place) - 1)
        for d, (lower, upper) in limits.items()
    }
    return {
        d: ends for d, ends in placed.items() if not any(e.variables & placed.keys() for e in ends)
    }


def _piece(
    stored: Stored,
    index: Sequence[object],
    place: Mapping[str, Expression],
    axes: Axes,
    ranges: Ranges,
) -> Piece | None:
    """Return the piece in which all elements of an access are, None where that is the array, or
    data say which these are.
    """
    if not all(isinstance(e, Expression) for e in index):
        return None
    positions: list[Expression] = []
    for p in stored.order[: stored.lead]:
        e = index[p]
        assert isinstance(e, Expression)
        if e.variables <= place.keys():
            positions.append(e.substitute(place))
            continue
        run = _run(e, place, axes, ranges) if stored.windows[p] is None else None
        lower, upper = stored.array.extent[p]
        if run is None or run.most == upper - lower:
            break
        return Piece(stored, tuple(positions), run)
    return Piece(stored, tuple(positions)) if positions else None


def _run(e: Expression, place: Mapping[str, Expression], axes: Axes, ranges: Ranges) -> Run | None:
    """Return the run of an index along axes, None where it is none whose ends are known."""
    own = e.variables - place.keys()
    first = last = e.substitute({d: value for d, value in place.items() if d in e.variables})
    if not own <= axes.keys() or any(value.variables & own for value in place.values()):
        return None
    for d in sorted(own):
        by, (low, high) = e.coefficient(d), axes[d]
        if d in (e - variable(d) * by).variables:
            return None
        ends = (low, high) if by > 0 else (high, low)
        first, last = (x.substitute({d: end}) for x, end in zip((first, last), ends, strict=True))
    count = length(first, last + 1, ranges)
    return Run(shortest(first), count, greatest_length(count, ranges))


def _fills(instance: InstanceWriter, piece: Piece, axes: Axes) -> bool:
    """Tell whether an instance writes every element of a piece: along each dimension that is no
    position there it has an axis of its own from end to end.
    """
    statement, stored = instance.statement, piece.stored
    if isinstance(statement, Adding):
        return False
    left = dict(axes)
    for p in stored.order[len(piece.positions) :]:
        over = [d for d in left if statement.write[p] == variable(d) and d in instance.own]
        if stored.windows[p] is not None or not over:
            return False
        first, last = left.pop(over[0])
        lower, upper = stored.array.extent[p]
        whole = first == lower and last + 1 == upper
        of_run = piece.run is not None and p == piece.dims[-1]
        if not whole and not of_run:
            return False
    return True
