"""A lowering rule for every operation: one for those that are one call, and one for each other.

The others are structure, choices, inner reductions and gathers in inner tensors. A rule gets the
linearizer, the call and the place wanted for the result (or None), and returns its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.lowering.functions import FUNCTIONS
from workbench.lowering.instances import contractions
from workbench.lowering.instances.draws import call, draw, given
from workbench.lowering.loops.records import NEW, WHOLE, Entry, Range, Symbolic
from workbench.lowering.reads import index_arrays, slices
from workbench.lowering.values.intervals import total
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import symbolic
from workbench.polyhedral.expression import Expression, expression
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.operations.table import (
    COMBINES,
    OPERATIONS,
    first_index,
    operand_dtypes,
)

if TYPE_CHECKING:
    from workbench.lowering.instances.linearize import Linearizer

LoweringRule = Callable[["Linearizer", Call, "Value | None"], Value]

UNROLLED = 4
"""Reductions over inner axes up to this length become binary operations on strided views."""


def unrepeated(body: Body) -> Body:
    """Strip from an operand the repetition that elementwise work does anyway."""
    while isinstance(body, Call) and body.operation == "broadcast":
        body = body.arguments[0]
    return body


def _where(at: Linearizer, body: Call, target: Value | None) -> Value:
    scope, rank = at.scope, len(body.shape)
    condition = at.value(body.arguments[0])
    chosen = at.value(unrepeated(body.arguments[1]), body.dtype)
    other = body.arguments[2]
    out = at.result(body, target)
    at.into(other, out, overwritten=True)
    ready = [scope.aligned(v, out.axes, rank) for v in (chosen, condition)]
    return scope.apply("copyto", ready, out)


def _cast(at: Linearizer, body: Call, target: Value | None) -> Value:
    argument = body.arguments[0]
    placed = at.placed(argument.expression) if isinstance(argument, IndexValue) else None
    if placed is not None and not placed.variables:
        value = index_arrays.index_value(at.scope, placed, body.dtype)
    else:
        value = at.value(argument, body.dtype if isinstance(argument, Literal) else None)
    if value.dtype == body.dtype and target is None:
        return value
    out = at.result(body, target)
    return at.scope.apply("copyto", [value], out)


def _slice(at: Linearizer, body: Call, target: Value | None) -> Value:
    value, o = at.value(body.arguments[0]), body.options
    entries: list[Entry] = [WHOLE] * len(value.shape)
    start, stop, step = o["start"], o["stop"], o["step"]
    chosen = range(start, stop, step)
    backwards = step < 0
    if backwards:
        chosen = chosen[::-1]
    last = chosen.stop if len(chosen) else chosen.start
    entries[o["axis"]] = Range(expression(chosen.start), expression(last), chosen.step)
    if chosen == range(int(value.shape[o["axis"]].constant)) and not value.shape[o["axis"]].terms:
        entries[o["axis"]] = WHOLE
    value = at.scope.inner(value, entries, symbolic(body.shape))
    if backwards:
        value = at.scope.reversed(value, len(value.axes) + o["axis"])
    return value


def _transpose(at: Linearizer, body: Call, target: Value | None) -> Value:
    value = at.value(body.arguments[0])
    lead = len(value.axes)
    order = [*range(lead), *(lead + a for a in body.options["axes"])]
    return at.scope.permuted(value, order, value.axes, symbolic(body.shape))


def _reshape(at: Linearizer, body: Call, target: Value | None) -> Value:
    value, shape = at.value(body.arguments[0]), symbolic(body.shape)
    entries = ones_only(value.shape, shape)
    if entries is not None:
        return at.scope.inner(value, entries, shape)
    value = at.scope.compact(value)
    return at.scope.reshaped(value, (*value.counts, *shape), value.axes, shape)


def ones_only(old: Symbolic, new: Symbolic) -> list[Entry] | None:
    """Return the index that inserts and drops axes of length 1, or None if a reshape does more."""
    entries: list[Entry] = []
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            entries.append(WHOLE)
            i, j = i + 1, j + 1
        elif j < len(new) and new[j] == 1:
            entries.append(NEW)
            j += 1
        elif i < len(old) and old[i] == 1:
            entries.append(expression(0))
            i += 1
        else:
            return None
    return entries


def _broadcast(at: Linearizer, body: Call, target: Value | None) -> Value:
    value = at.value(body.arguments[0])
    return at.scope.broadcast(value, value.axes, symbolic(body.shape))


def _stack(at: Linearizer, body: Call, target: Value | None) -> Value:
    out, axis = at.result(body, target), body.options["axis"]
    for k, argument in enumerate(body.arguments):
        entries: list[Entry] = [WHOLE] * len(out.shape)
        entries[axis] = expression(k)
        shape = (*out.shape[:axis], *out.shape[axis + 1 :])
        at.into(argument, at.scope.inner(out, entries, shape))
    return out


def _concatenate(at: Linearizer, body: Call, target: Value | None) -> Value:
    out, axis = at.result(body, target), body.options["axis"]
    start = expression(0)
    for argument in body.arguments:
        shape = symbolic(argument.shape)
        at.into(argument, _part(at, out, axis, start, shape))
        start = start + shape[axis]
    return out


def _part(at: Linearizer, out: Value, axis: int, start: Expression, shape: Symbolic) -> Value:
    entries: list[Entry] = [WHOLE] * len(out.shape)
    entries[axis] = Range(start, start + shape[axis])
    return at.scope.inner(out, entries, shape)


def _pad(at: Linearizer, body: Call, target: Value | None) -> Value:
    out, o = at.result(body, target), body.options
    at.scope.apply("fill", [], out, value=0)
    shape = symbolic(body.arguments[0].shape)
    at.into(body.arguments[0], _part(at, out, o["axis"], expression(o["before"]), shape))
    return out


def _reduce(function: str) -> LoweringRule:
    def rule(at: Linearizer, body: Call, target: Value | None) -> Value:
        scope, axis = at.scope, body.options["axis"]
        value = at.value(body.arguments[0], body.dtype)
        n = value.shape[axis]
        out = at.result(body, target)
        if value.axes != out.axes or n.terms or not 1 <= n.constant <= UNROLLED:
            return scope.apply(
                f"{function}.reduce",
                [scope.broadcast(value, out.axes, value.shape)],
                out,
                axis=len(out.axes) + axis,
            )
        parts = [_item(at, value, axis, k) for k in range(n.constant)]
        if len(parts) == 1:
            return scope.apply("copyto", parts, out)
        total = parts[0]
        for part in parts[1:]:
            total = scope.apply(function, [total, part], out)
        return out

    return rule


def _item(at: Linearizer, value: Value, axis: int, k: int) -> Value:
    entries: list[Entry] = [WHOLE] * len(value.shape)
    entries[axis] = expression(k)
    return at.scope.inner(value, entries, (*value.shape[:axis], *value.shape[axis + 1 :]))


def _position(function: str) -> LoweringRule:
    def rule(at: Linearizer, body: Call, target: Value | None) -> Value:
        scope = at.scope
        value = at.value(body.arguments[0])
        wide = scope.temporary(value.axes, symbolic(body.shape), "int64")
        scope.apply(function, [value], wide, axis=len(value.axes) + body.options["axis"])
        return scope.apply("copyto", [wide], at.result(body, target))

    return rule


def _cumsum(at: Linearizer, body: Call, target: Value | None) -> Value:
    scope, axis = at.scope, body.options["axis"]
    value = at.value(body.arguments[0], body.dtype)
    out = at.result(body, target)
    n = value.shape[axis]
    if n.terms or n.constant > UNROLLED:
        return scope.apply("add.accumulate", [value], out, axis=len(value.axes) + axis)
    for k in range(n.constant):
        part = _item(at, out, axis, k)
        if k == 0:
            scope.apply("copyto", [_item(at, value, axis, k)], part)
        else:
            scope.apply("add", [_item(at, out, axis, k - 1), _item(at, value, axis, k)], part)
    return out


def _contract(at: Linearizer, body: Call, target: Value | None) -> Value:
    inputs, output = body.options["spec"].split("->")
    letters = inputs.split(",")
    operands = [
        contractions.operand(at.value(a, body.dtype), tuple(f".{c}" for c in part))
        for a, part in zip(body.arguments, letters, strict=True)
    ]
    out = at.result(body, target)
    letters_out = (*out.axes, *(f".{c}" for c in output))
    contractions.contract(at.scope, operands[0], operands[1], letters_out, out)
    return out


def _take(at: Linearizer, body: Call, target: Value | None) -> Value:
    scope = at.scope
    read, *positions = body.arguments
    table = at.value(read)
    if isinstance(positions[0], IndexValue) and len(positions) == 1:
        row = slices.row(scope, table, at.placed(positions[0].expression))
        if row is not None:
            return row
    number = _entry_number(at, body, table)
    out = at.result(body, target)
    if table.axes or len(positions) > 1:
        table = _flattened(scope, scope.compact(table), len(positions))
    number = scope.compact(number)
    if out.layout.dense and number.axes == out.axes:
        return scope.apply("take", [table, number], out)
    taken = scope.temporary(number.axes, out.shape, out.dtype)
    if not taken.layout.dense:
        taken = scope.flat_copy(taken)
    scope.apply("take", [table, number], taken)
    if target is None:
        return taken
    return scope.apply("copyto", [scope.aligned(taken, out.axes, len(out.shape))], out)


def _entry_number(at: Linearizer, body: Call, table: Value) -> Value:
    """Return the number of the entry that a lookup or an update names, among all of the table's
    along its named axes and the inner ones that are indexed. The indices are checked.
    """
    scope = at.scope
    indices = [at.value(e) for e in body.arguments[first_index(body.operation) :]]
    key = ("entry", table.axes, table.shape[: len(indices)], *(index.name for index in indices))
    if key in scope.views:
        return scope.views[key]
    number: Value | None = None
    for k, (index, n) in enumerate(zip(indices, table.shape, strict=False)):
        check_entry(scope, body, k, index, n)
        own = scope.cast(index, "int64")
        if number is not None:
            many = index_arrays.index_value(scope, n, "int64")
            number = index_arrays.binary(scope, "multiply", number, many)
            own = index_arrays.binary(scope, "add", number, own)
        number = own
    assert number is not None, "an entry without indices"
    if table.axes:
        entries = total(table.shape[: len(indices)])
        number = _with_offsets(scope, number, table.axes, entries)
    scope.views[key] = number
    return number


def check_entry(scope: Scope, body: Call, axis: int, index: Value, n: Expression) -> None:
    """Write the check of an index of a table's axis, which has n entries."""
    array, dim = table_name(body), f"axis {axis}"
    scope.check_values("check_index", index, lower=expression(0), upper=n, array=array, dim=dim)


def table_name(body: Call) -> str:
    """Return the name in messages of the table that a lookup or an update is of."""
    table = body.arguments[0]
    while isinstance(table, Call) and (
        OPERATIONS[table.operation].updates or table.operation == "existing"
    ):
        table = table.arguments[0]
    return table.array if isinstance(table, Read) else "a tensor"


def _flattened(scope: Scope, table: Value, indexed: int) -> Value:
    """Return a table with its entries along one axis: those of its named axes, one after the
    other.
    """
    entries = total((*table.counts, *table.shape[:indexed]))
    shape = (entries, *table.shape[indexed:])
    return scope.reshaped(table, shape, (), shape)


def _update(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Change an entry of the table, which is copied unless it is where the result is."""
    scope, out = at.scope, at.result(body, target)
    whole = scope.contiguous(out)
    change = _change(at, body, whole)
    at.into(body.arguments[0], whole, overwritten=True)
    change()
    return out if whole is out else scope.apply("copyto", [whole], out)


def add_entry(at: Linearizer, body: Call, target: Value) -> bool:
    """Add the value of an `add_at` to what is there at its entry; tell whether that can be done."""
    if not target.layout.dense:
        return False
    _change(at, body, target)()
    return True


def _change(at: Linearizer, body: Call, table: Value) -> Callable[[], Value]:
    """Return what writes the change of an entry. Its value and place are evaluated before."""
    scope, (_, value, *indices) = at.scope, body.arguments
    ready = scope.broadcast(at.value(value, body.dtype), table.axes, symbolic(value.shape))
    number = scope.broadcast(_entry_number(at, body, table), table.axes, ())
    flat = _flattened(scope, table, len(indices))
    return lambda: scope.apply(body.operation, [number, ready], flat)


def _with_offsets(scope: Scope, number: Value, axes: tuple[str, ...], rows: Expression) -> Value:
    """Return row numbers in the table flattened over `axes`.

    Each is the row within its point plus the point's first row.
    """
    step = rows
    for axis in reversed(axes):
        start, size = (
            index_arrays.positions(scope, axis),
            index_arrays.index_value(scope, step, "int64"),
        )
        offset = index_arrays.binary(scope, "multiply", start, size)
        number = index_arrays.binary(scope, "add", number, offset)
        step = step * scope.length(axis)
    return number


def _one_hot(at: Linearizer, body: Call, target: Value | None) -> Value:
    scope, size = at.scope, expression(body.options["size"])
    value = at.value(body.arguments[0])
    count = scope.workspace.count("", expression(0), size, 1, value.dtype)
    places = replace(count, axes=(), counts=(), shape=(size,))
    column = scope.inner(value, [*[WHOLE] * len(value.shape), NEW], (*value.shape, expression(1)))
    hot = scope.temporary(value.axes, (*value.shape, size), "bool")
    scope.apply("equal", [column, places], hot)
    return scope.apply("copyto", [hot], at.result(body, target))


def whole(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Return one call of the array function that has the operation's name, of whole operands."""
    scope, function = at.scope, FUNCTIONS[body.operation]
    dtypes = operand_dtypes(body.operation, [a.dtype for a in body.arguments], body.dtype)
    values = [at.value(a, dtype) for a, dtype in zip(body.arguments, dtypes, strict=True)]
    out = at.result(body, target)
    options = dict(body.options)
    if function.scratch:
        elements = expression(function.scratch)
        for n in (*out.counts, *out.shape):
            elements = elements * scope.longest(n)
        options["scratch"] = scope.scratch(body.dtype, (elements,))
    operands = [scope.compact(scope.broadcast(v, out.axes, v.shape)) for v in values]
    return scope.apply(body.operation, operands, out, **options)


def _solve(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Solve equations, and check that they have a solution."""
    matrix, out = _of_matrices(at, body, target)
    at.scope.check_values("check_regular", matrix, out)
    return out


def _cholesky(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Factorize matrices, and check that they were positive definite."""
    _, out = _of_matrices(at, body, target)
    at.scope.check_values("check_definite", out)
    return out


def _of_matrices(at: Linearizer, body: Call, target: Value | None) -> tuple[Value, Value]:
    """Apply a function of matrices; return its first operand and the result. Operands and result
    are doubles while it runs: that memory is counted as if the run were in doubles too.
    """
    scope, out = at.scope, at.result(body, target)
    operands = [at.value(a, body.dtype) for a in body.arguments]
    operands = [scope.compact(scope.broadcast(v, out.axes, v.shape)) for v in operands]
    elements = expression(0)
    for value in (*operands, out):
        elements = elements + total([scope.longest(n) for n in (*value.counts, *value.shape)])
    scratch = scope.scratch(body.dtype, (elements * 2,))
    return operands[0], scope.apply(body.operation, operands, out, scratch=scratch)


def _within(at: Linearizer, body: Call, target: Value | None) -> Value:
    index, lower, upper = (at.value(a) for a in body.arguments)
    at.scope.check_values("check_within", index, lower, upper)
    return index


def _possible(at: Linearizer, body: Call, target: Value | None) -> Value:
    highest = at.value(body.arguments[0])
    at.scope.check_values("check_possible", highest)
    return highest


def _positive(at: Linearizer, body: Call, target: Value | None) -> Value:
    value = at.value(body.arguments[0])
    at.scope.check_values("check_positive", value)
    return value


def _existing(at: Linearizer, body: Call, target: Value | None) -> Value:
    """Return a value of an episode, after a check that it exists. A failure names the instance, so
    the check is over all axes of the statement.
    """
    scope = at.scope
    value, *checked = (at.value(a) for a in body.arguments)
    opened, step = (scope.broadcast(one, tuple(scope.axes), ()) for one in checked)
    array, dim = table_name(body), body.options["dim"]
    scope.check_values("check_existing", opened, step, array=array, dim=dim)
    return value


RULES: dict[str, LoweringRule] = {
    "where": _where,
    "cast": _cast,
    "within": _within,
    "solve": _solve,
    "cholesky": _cholesky,
    "possible": _possible,
    "positive": _positive,
    "existing": _existing,
    "slice": _slice,
    "transpose": _transpose,
    "reshape": _reshape,
    "broadcast": _broadcast,
    "stack": _stack,
    "concatenate": _concatenate,
    "pad": _pad,
    **{name: _reduce(combines) for name, combines in COMBINES.items()},
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "cumsum": _cumsum,
    "contract": _contract,
    "take": _take,
    "put": _update,
    "add_at": _update,
    "one_hot": _one_hot,
    "uniform": draw,
    "normal": draw,
    "permutation": draw,
    "given": given,
    "external": call,
}
