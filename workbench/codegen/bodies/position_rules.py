"""A rule for each operation whose value at a position comes from other positions of operands.

Movement costs nothing: another position is asked for. Reductions along inner axes and rows of
tables write records. A rule gets the bodies of a statement, the call and the position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from workbench.codegen.bodies.kept_bodies import fits_in_locals
from workbench.codegen.bodies.position_visits import products
from workbench.codegen.emitter import Index, both, cast, flat, unflat
from workbench.codegen.kernel_records import (
    Compute,
    Let,
    Load,
    Local,
    Number,
    Position,
    Update,
    Value,
    Variable,
)
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.bodies import Body, Call, Read
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES

if TYPE_CHECKING:
    from workbench.codegen.bodies.body_values import Bodies

PositionRule = Callable[["Bodies", Call, Index], Value]


def _slice(bodies: Bodies, body: Call, index: Index) -> Value:
    axis = body.options["axis"]
    moved = index[axis] * body.options["step"] + body.options["start"]
    return bodies.value(body.arguments[0], (*index[:axis], moved, *index[axis + 1 :]))


def _transpose(bodies: Bodies, body: Call, index: Index) -> Value:
    back = dict(zip(body.options["axes"], index, strict=True))
    return bodies.value(body.arguments[0], tuple(back[k] for k in range(len(index))))


def _broadcast(bodies: Bodies, body: Call, index: Index) -> Value:
    return bodies.value(body.arguments[0], unrepeated_position(index, body.arguments[0]))


def unrepeated_position(index: Index, argument: Body) -> Index:
    """Return the position in an operand that is repeated along axes of length 1, or lacks them."""
    shape = symbolic(argument.shape)
    own = index[len(index) - len(shape) :]
    return tuple(expression(0) if n == 1 else i for i, n in zip(own, shape, strict=True))


def _reshape(bodies: Bodies, body: Call, index: Index) -> Value:
    argument = body.arguments[0]
    place = flat(index, symbolic(body.shape))
    number = bodies.numbering[argument]
    tile, kept = bodies.in_block.get(argument), bodies.kept.get(number)
    if tile is not None:
        return Load(tile.buffer, tile.address(place, bodies.place), argument.dtype)
    if kept is not None and kept.buffer:
        return Load(kept.buffer, place, kept.dtype)
    if kept is None and isinstance(argument, Read):
        return bodies.read(number, argument, place)
    old = symbolic(argument.shape)
    without_ones = _position_without_ones(index, symbolic(body.shape), old)
    return bodies.value(argument, unflat(place, old) if without_ones is None else without_ones)


def _position_without_ones(
    index: Index, new: Sequence[Expression], old: Sequence[Expression]
) -> Index | None:
    """Return the position in the old shape where only axes of length 1 came or went."""
    longer = [(i, n) for i, n in zip(index, new, strict=True) if n != 1]
    if [n for _, n in longer] != [n for n in old if n != 1]:
        return None
    rest = iter(i for i, _ in longer)
    return tuple(expression(0) if n == 1 else next(rest) for n in old)


def _one_hot(bodies: Bodies, body: Call, index: Index) -> Value:
    *front, last = index
    chosen = bodies.value(body.arguments[0], tuple(front))
    hot = Compute("equal", (chosen, Position(last, chosen.dtype)), "bool")
    return cast(hot, body.dtype)


def _take(bodies: Bodies, body: Call, index: Index) -> Value:
    table, rows, *_ = body.arguments
    at, rest = index[: len(rows.shape)], index[len(rows.shape) :]
    return bodies.value(table, (*named_entry(bodies, body, at), *rest))


def named_entry(bodies: Bodies, body: Call, at: Index) -> Index:
    """Return the indices of a lookup or an update at a position of these, as names."""
    entry: list[Expression] = []
    lengths = symbolic(body.arguments[0].shape)
    for row, length in zip(bodies.entry(body, at), lengths, strict=False):
        if isinstance(row, Position):
            entry.append(row.expression)
            continue
        if isinstance(row, Load):
            # lanes beyond the last row have what lies behind it in memory
            least, most = Position(expression(0), row.dtype), Position(length - 1, row.dtype)
            row = Compute("minimum", (Compute("maximum", (row, least), row.dtype), most), row.dtype)
        name = bodies.out.name("row")
        bodies.out.add(Let(name, row))
        entry.append(variable(name))
    return tuple(entry)


def _update(bodies: Bodies, body: Call, index: Index) -> Value:
    """Return another value at the entry that is changed, the table's elsewhere."""
    table, value, *indices = body.arguments
    old = bodies.value(table, index)
    new = bodies.value(value, index[len(indices) :])
    if body.operation == "add_at":
        new = Compute("add", (old, new), body.dtype)
    pairs = zip(index, named_entry(bodies, body, ()), strict=False)
    equal: list[Value] = [
        Compute("equal", (Position(i), Position(row)), "bool") for i, row in pairs
    ]
    return Compute("where", (reduce(both, equal), new, old), body.dtype)


def _combine(combiner: str, operation: str) -> PositionRule:
    """Return the rule that combines all elements along an axis, one after the other."""

    def rule(bodies: Bodies, body: Call, index: Index) -> Value:
        out, argument, axis = bodies.out, body.arguments[0], body.options["axis"]

        def at(k: Expression) -> Value:
            return cast(bodies.value(argument, (*index[:axis], k, *index[axis:])), body.dtype)

        n = symbolic(argument.shape)[axis]
        if n == 0:
            return Number(identity(combiner, body.dtype), body.dtype)
        if fits_in_locals(n):
            result = at(expression(0))
            for number in range(1, n.constant):
                result = Compute(operation, (result, at(expression(number))), body.dtype)
            return out.let(body.operation, result)
        name = out.name(body.operation)
        out.add(Variable(name, at(expression(0))))
        with out.loop("k", expression(1), n) as k:
            out.add(Update(name, at(k), operation))
        return Local(name, body.dtype)

    return rule


def _cumsum(bodies: Bodies, body: Call, index: Index) -> Value:
    """Sum all up to a position, one after the other."""
    out, argument, axis = bodies.out, body.arguments[0], body.options["axis"]

    def at(k: Expression) -> Value:
        position = (*index[:axis], k, *index[axis + 1 :])
        return cast(bodies.value(argument, position), body.dtype)

    name = out.name("running")
    out.add(Variable(name, at(expression(0))))
    with out.loop("k", expression(1), index[axis] + 1) as k:
        out.add(Update(name, at(k), "add"))
    return Local(name, body.dtype)


def _position(comparison: str) -> PositionRule:
    """Return the rule for the first position of the best element; NaN counts as such."""

    def rule(bodies: Bodies, body: Call, index: Index) -> Value:
        out, argument, axis = bodies.out, body.arguments[0], body.options["axis"]

        def at(k: Expression) -> Value:
            return bodies.value(argument, (*index[:axis], k, *index[axis:]))

        best, where = out.name("best"), out.name(body.operation)
        out.add(Variable(best, at(expression(0))))
        out.add(Variable(where, Number(0, "int32")))
        n = symbolic(argument.shape)[axis]

        def visit(k: Index) -> None:
            value = out.let("value", at(k[0] + 1))
            held = Local(best, argument.dtype)
            better = out.let("better", is_better(value, held, comparison))
            here, old = Position(k[0] + 1), Local(where, "int32")
            out.add(Update(where, Compute("where", (better, here, old), "int32")))
            out.add(Update(best, Compute("where", (better, value, held), argument.dtype)))

        out.each((n - 1,), visit)
        return Local(where, "int32")

    return rule


def is_better(value: Value, held: Value, comparison: str) -> Value:
    """Tell whether a value is better than the best so far; the first NaN is better than all."""
    better = Compute(comparison, (value, held), "bool")
    if value.dtype != "float":
        return better
    first_nan = both(
        Compute("not_equal", (value, value), "bool"), Compute("equal", (held, held), "bool")
    )
    return Compute("logical_or", (better, first_nan), "bool")


def _contract(bodies: Bodies, body: Call, index: Index) -> Value:
    return products(bodies, body, [index])[0]


RULES: dict[str, PositionRule] = {
    "slice": _slice,
    "transpose": _transpose,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "one_hot": _one_hot,
    "take": _take,
    "put": _update,
    "add_at": _update,
    **{combiner: _combine(combiner, operation) for combiner, operation in COMBINES.items()},
    "cumsum": _cumsum,
    "argmax": _position("greater"),
    "argmin": _position("less"),
    "contract": _contract,
}
