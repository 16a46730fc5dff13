"""Visits of all positions of a body whose operation computes several of them together.

A contraction sums several results side by side, a sum that runs has the one before, a draw gives
four words, and what has parts is visited part by part. A visit gets the bodies of a statement, the
call, what to do with a position and its value, and whether a loop may be that of lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from workbench.codegen.bodies.kept_bodies import (
    fits_in_locals,
    is_short,
    letter_lengths,
    summed_letters,
)
from workbench.codegen.emitter import Index, cast, total, unflat
from workbench.codegen.kernel_records import (
    Compute,
    Draw,
    Local,
    Number,
    Total,
    Update,
    Value,
    Variable,
)
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.conditions import AffineComparison
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.program.bodies import Body, Call
from workbench.program.operations.identities import identity
from workbench.program.operations.table import COMBINES

if TYPE_CHECKING:
    from workbench.codegen.bodies.body_values import Bodies

ValueVisit = Callable[[Index, Value], None]
PositionVisits = Callable[["Bodies", Call, ValueVisit, bool], None]

BLOCK = 8
"""The results of a sum of products that are summed at once, in a local each."""

WORDS = 4
"""The random words of one draw."""


def _each_block(
    bodies: Bodies, body: Call, whole: Expression, visit: Callable[[Expression], None]
) -> None:
    """Visit so many blocks of a body's positions by their numbers: one by one if the body's value
    is small enough for locals, else in a loop.
    """
    if fits_in_locals(total(symbolic(body.shape))):
        for k in range(whole.constant):
            visit(expression(k))
    elif whole != 0:
        with bodies.out.loop("block", expression(0), whole) as number:
            visit(number)


# -- contractions ----------------------------------------------------------------------------------


def products(bodies: Bodies, body: Call, indices: Sequence[Index]) -> list[Value]:
    """Return a contraction at several positions, summed side by side."""
    out = bodies.out
    inputs, output = body.options["spec"].split("->")
    left, right = inputs.split(",")
    summed = summed_letters(body)
    places = [dict(zip(output, index, strict=True)) for index in indices]

    def factors(place: Mapping[str, Expression]) -> tuple[Value, Value]:
        a, b = (
            cast(bodies.value(argument, tuple(place[c] for c in letters)), body.dtype)
            for argument, letters in zip(body.arguments, (left, right), strict=True)
        )
        return a, b

    if not summed:
        return [Compute("multiply", factors(place), body.dtype) for place in places]
    lengths = letter_lengths(body)
    if len(places) == 1 and is_short(body):
        value: Value = Number(0, body.dtype)
        for at in product(*(range(lengths[c].constant) for c in summed)):
            inside = dict(zip(summed, map(expression, at), strict=True))
            value = Compute("fma", (*factors({**places[0], **inside}), value), body.dtype)
        return [value]
    totals = [out.name("total") for _ in indices]
    for name in totals:
        out.add(Variable(name, Number(0, body.dtype)))

    def visit(at: Index) -> None:
        inside = dict(zip(summed, at, strict=True))
        pairs = [factors({**place, **inside}) for place in places]
        uses = Counter(factor for pair in pairs for factor in pair)
        shared = {f: out.let("factor", f) for f, n in uses.items() if n > 1}
        for name, (a, b) in zip(totals, pairs, strict=True):
            product = (shared.get(a, a), shared.get(b, b), Local(name, body.dtype))
            out.add(Update(name, Compute("fma", product, body.dtype)))

    out.each([lengths[c] for c in summed], visit, letters=[f"k{c}" for c in summed])
    return [Local(name, body.dtype) for name in totals]


def _contract(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
    """Visit a contraction, several positions at once that share an operand's element.

    Several results are summed at once along an axis of the result that is not that of lanes.
    """
    out = bodies.out
    if not summed_letters(body):
        out.each(symbolic(body.shape), lambda i: visit(i, bodies.value(body, i)), lanes)
        return
    lengths = [letter_lengths(body)[c] for c in body.options["spec"].split("->")[1]]
    by_lanes = lanes and bool(lengths) and not fits_in_locals(lengths[-1])
    rows = len(lengths) - 1 - by_lanes
    if rows < 0 or lengths[rows].terms:
        out.each(lengths, lambda i: visit(i, products(bodies, body, [i])[0]), lanes)
        return
    n = lengths[rows].constant
    outer = [*lengths[:rows], *lengths[rows + 1 :]]

    def block(index: Index, first: Expression, many: int) -> None:
        indices = [(*index[:rows], first + k, *index[rows:]) for k in range(many)]
        for at, value in zip(indices, products(bodies, body, indices), strict=True):
            visit(at, value)

    def visit_outer(index: Index) -> None:
        whole = n // BLOCK
        if whole == 1:
            block(index, expression(0), BLOCK)
        else:
            _each_block(bodies, body, expression(whole), lambda k: block(index, k * BLOCK, BLOCK))
        if n % BLOCK:
            block(index, expression(whole * BLOCK), n % BLOCK)

    out.each(outer, visit_outer, lanes and by_lanes)


# -- reductions along the last axis ----------------------------------------------------------------


def _combined(operation: str) -> PositionVisits:
    """Return the visit of a reduction along an axis. Along the last one it has parts, by lanes."""

    def visit_all(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
        out, argument, axis = bodies.out, body.arguments[0], body.options["axis"]
        n = symbolic(argument.shape)[axis]
        if not lanes or axis < len(body.shape) or fits_in_locals(n) or body.dtype == "bool":
            out.each(symbolic(body.shape), lambda i: visit(i, bodies.value(body, i)), lanes)
            return

        def row(index: Index) -> None:
            name, together = out.name(body.operation), out.name("together")
            start = Number(identity(body.operation, body.dtype), body.dtype)
            out.add(Variable(name, start, parts=True))
            with out.loop("k", expression(0), n, lanes=True) as k:
                value = cast(bodies.value(argument, (*index, k)), body.dtype)
                out.add(Update(name, value, operation))
            out.add(Total(together, Local(name, body.dtype), operation))
            visit(index, Local(together, body.dtype))

        out.each(symbolic(body.shape), row)

    return visit_all


# -- sums that run ---------------------------------------------------------------------------------


def _cumsum(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
    out, argument, axis = bodies.out, body.arguments[0], body.options["axis"]
    shape = symbolic(body.shape)

    def visit_outer(index: Index) -> None:
        name = out.name("running")
        out.add(Variable(name, Number(0, body.dtype)))

        def visit_inner(at: Index) -> None:
            full = (*index[:axis], *at, *index[axis:])
            out.add(Update(name, cast(bodies.value(argument, full), body.dtype), "add"))
            # a copy: the variable goes on
            so_far = Compute("copy", (Local(name, body.dtype),), body.dtype)
            visit(full, out.let("sum", so_far))

        out.each((shape[axis],), visit_inner)

    out.each((*shape[:axis], *shape[axis + 1 :]), visit_outer)


# -- parts -----------------------------------------------------------------------------------------


def _stack(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
    axis = body.options["axis"]
    for k, argument in enumerate(body.arguments):

        def visit_part(index: Index, value: Value, k: int = k) -> None:
            visit((*index[:axis], expression(k), *index[axis:]), cast(value, body.dtype))

        bodies.positions(argument, visit_part)


def _concatenate(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
    start = expression(0)
    for argument in body.arguments:
        _part_from(bodies, body, argument, visit, start)
        start = start + symbolic(argument.shape)[body.options["axis"]]


def _pad(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
    (argument,), axis = body.arguments, body.options["axis"]
    before, n = expression(body.options["before"]), symbolic(argument.shape)[axis]
    shape = symbolic(body.shape)
    for begin, end in ((expression(0), before), (before + n, shape[axis])):

        def visit_zero(index: Index, begin: Expression = begin) -> None:
            visit(_moved(index, axis, begin), Number(0, body.dtype))

        if end - begin != 0:
            bodies.out.each((*shape[:axis], end - begin, *shape[axis + 1 :]), visit_zero)
    _part_from(bodies, body, argument, visit, before)


def _part_from(
    bodies: Bodies, body: Call, argument: Body, visit: ValueVisit, start: Expression
) -> None:
    """Visit the part that is an operand, which begins at `start` along the axis."""
    axis = body.options["axis"]
    bodies.positions(
        argument,
        lambda index, value: visit(_moved(index, axis, start), cast(value, body.dtype)),
    )


def _moved(index: Index, axis: int, start: Expression) -> Index:
    return (*index[:axis], index[axis] + start, *index[axis + 1 :])


# -- draws -----------------------------------------------------------------------------------------


def _draw(bodies: Bodies, body: Call, visit: ValueVisit, lanes: bool) -> None:
    """Visit every position of a draw, four words at a time."""
    out, statement = bodies.out, bodies.statement
    shape = symbolic(body.shape)
    n = total(shape)
    shift = dict(body.options.get("shift", ()))
    coordinates = tuple(bodies.placed(variable(d)) + shift.get(d, 0) for d in statement.dims)

    def draw(block: Expression, many: int) -> None:
        first, second, third, fourth = words = [out.name("word") for _ in range(WORDS)]
        origin = statement.origin or statement.name
        out.add(Draw((first, second, third, fourth), origin, coordinates, block))
        for k in range(many):
            value = Compute(body.operation, (Local(words[k], "word"),), body.dtype)
            visit(unflat(block * WORDS + k, shape), value)

    whole = n // WORDS
    _each_block(bodies, body, whole, lambda block: draw(block, WORDS))
    rest = n % WORDS
    if not rest.terms:
        if rest != 0:
            draw(whole, rest.constant)
        return
    for many in range(1, WORDS):
        with out.where(AffineComparison(rest, "==", expression(many))):
            draw(whole, many)


VISITS: dict[str, PositionVisits] = {
    "contract": _contract,
    **{operation: _combined(combines) for operation, combines in COMBINES.items()},
    "cumsum": _cumsum,
    "stack": _stack,
    "concatenate": _concatenate,
    "pad": _pad,
    "uniform": _draw,
    "normal": _draw,
}
