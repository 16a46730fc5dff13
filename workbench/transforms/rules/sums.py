"""Rules of sums: factors that do not vary over the range move outside, and a sum with a one-hot
vector is a lookup.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.lowering.instances.operation_rules import UNROLLED
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.relations import (
    bounds,
    domain_with,
    extent_of,
    is_box,
    is_equal,
    project_out,
    with_dims,
)
from workbench.program.bodies import Body, Call, IndexValue, Read
from workbench.program.operations.dtypes import INTEGERS
from workbench.program.operations.shapes import is_static
from workbench.program.values import Array, Equations, Program, Statement
from workbench.transforms.rules.row import RuleResult, as_type_of, call, constant, is_pure, number
from workbench.transforms.rules.row import operand as operand_of
from workbench.transforms.rules.sharing import varies_over
from workbench.transforms.trees.insertion import Unplaced, fresh_name, with_array

_LETTERS = "abcdefgh"

# -- inner axes ------------------------------------------------------------------------------------


def repeated_sum(body: Call, program: Program) -> Body | None:
    """Replace the sum of n equal numbers by one times n."""
    wide, axis = body.arguments[0], body.options["axis"]
    inner = operand_of(wide, "broadcast")
    if inner is None or not is_static((wide.shape[axis],)):
        return None
    position = axis - (len(wide.shape) - len(inner.shape))
    if position >= 0:
        if inner.shape[position] != 1:
            return None
        shape = (*inner.shape[:position], *inner.shape[position + 1 :])
        inner = call("reshape", inner, shape=shape)
    return as_type_of(call("multiply", inner, number(int(wide.shape[axis]), body.dtype)), body)


def constant_factor_of_sum(body: Call, program: Program) -> Body | None:
    """Multiply the sum by a constant, instead of every summand."""
    product = body.arguments[0]
    if not isinstance(product, Call) or product.operation != "multiply":
        return None
    for factor, other in (product.arguments, product.arguments[::-1]):
        if constant(factor) is None or factor.shape or other.shape != product.shape:
            continue
        return as_type_of(call("multiply", factor, call("sum", other, **body.options)), body)
    return None


def sum_of_products(body: Call, program: Program) -> Body | None:
    """Replace a sum of products along an axis that is not unrolled by a contraction."""
    product, axis = body.arguments[0], body.options["axis"]
    if not isinstance(product, Call) or product.operation != "multiply" or body.dtype != "float":
        return None
    length = product.shape[axis]
    if is_static((length,)) and int(length) <= UNROLLED:
        return None
    letters = _LETTERS[: len(product.shape)]
    operands = [_indexed(a, product, letters) for a in product.arguments]
    if not all(letters[axis] in own for _, own in operands):
        return None  # a factor that does not vary along the axis
    (left, a), (right, b) = operands
    kept = letters[:axis] + letters[axis + 1 :]
    return as_type_of(call("contract", left, right, spec=f"{a},{b}->{kept}"), body)


def _indexed(x: Body, product: Call, letters: str) -> tuple[Body, str]:
    """Return a factor without its repeated axes of length 1, and the letters of the others."""
    own = letters[len(letters) - len(x.shape) :]
    wide = product.shape[len(letters) - len(x.shape) :]
    kept = [k for k, n in enumerate(x.shape) if n == wide[k]]
    if len(kept) < len(own):
        x = call("reshape", x, shape=tuple(x.shape[k] for k in kept))
    return x, "".join(own[k] for k in kept)


def sum_of_contraction(body: Call, program: Program) -> Body | None:
    """Sum one more letter of a contraction."""
    inner, axis = body.arguments[0], body.options["axis"]
    if not isinstance(inner, Call) or inner.operation != "contract" or body.dtype != "float":
        return None
    inputs, output = inner.options["spec"].split("->")
    spec = f"{inputs}->{output[:axis]}{output[axis + 1 :]}"
    return call("contract", *inner.arguments, spec=spec)


def contraction_of_broadcast(body: Call, program: Program) -> Body | None:
    """Replace sum(k) x * W[k, j] by x times the sum of W over k, for x the same at every k."""
    inputs, output = body.options["spec"].split("->")
    letters = inputs.split(",")
    for k, (wide, own) in enumerate(zip(body.arguments, letters, strict=True)):
        inner, other, theirs = operand_of(wide, "broadcast"), body.arguments[1 - k], letters[1 - k]
        if inner is None or len(set(own)) < len(own) or body.dtype != "float":
            continue
        lead = len(own) - len(inner.shape)
        same = [c for p, c in enumerate(own) if p < lead or inner.shape[p - lead] == 1]
        gone = [c for c in same if c in theirs and c not in output]
        if not gone:
            continue
        kept = tuple(n for n, c in zip(inner.shape, own[lead:], strict=True) if c not in gone)
        shape = tuple(n for n, c in zip(wide.shape, own, strict=True) if c not in gone)
        small = inner if inner.shape == kept else call("reshape", inner, shape=kept)
        small = as_type_of(small, replace(wide, shape=shape))
        for c in sorted(gone, key=theirs.index, reverse=True):
            other = call("sum", other, axis=theirs.index(c))
        short = ["".join(c for c in part if c not in gone) for part in letters]
        pair = (small, other) if k == 0 else (other, small)
        return call("contract", *pair, spec=f"{','.join(short)}->{output}")
    return None


def one_hot_sum(body: Call, program: Program) -> Body | None:
    """Replace the sum of x times a one-hot vector by the entry of x that is 1 there.

    Only where the position is certainly an entry of x, and x is so long that a lookup is faster
    than adding all.
    """
    product = body.arguments[0]
    if not isinstance(product, Call) or product.operation != "multiply" or len(product.shape) != 1:
        return None
    for x, hot in (product.arguments, product.arguments[::-1]):
        position = _one_hot_position(hot, program)
        length = product.shape[0]
        if position is None or x.shape != product.shape or not is_static((length,)):
            continue
        within = interval(position, program)
        if length > UNROLLED and within is not None and 0 <= within[0] <= within[1] < length:
            return as_type_of(call("take", x, position), body)
    return None


def _one_hot_position(body: Body, program: Program) -> Body | None:
    """Return the scalar whose one-hot vector a body is, also through another statement."""
    if isinstance(body, Read):
        writers = program.writers[body.array]
        plain = tuple(variable(d) for d in writers[0].dims)
        if len(writers) != 1 or writers[0].combiner or writers[0].write != plain:
            return None
        entries = [e if isinstance(e, Expression) else None for e in body.index]
        if entries != list(plain):
            return None
        return _one_hot_position(writers[0].body, program)
    inner = operand_of(body, "one_hot")
    return inner if inner is not None and not inner.shape and is_pure(inner) else None


def interval(
    body: Body, program: Program, seen: tuple[str, ...] = ()
) -> tuple[float, float] | None:
    """Return the least and greatest integer that a body can be; None where nothing is known."""
    value = constant(body)
    if value is not None:
        return value, value
    if body.dtype == "bool":
        return 0, 1
    if isinstance(body, Read):
        return _interval_of_array(body.array, program, seen)
    if not isinstance(body, Call):
        return None
    if body.operation in ("argmax", "argmin"):
        length = body.arguments[0].shape[body.options["axis"]]
        return (0, int(length) - 1) if is_static((length,)) else None
    if body.operation == "remainder":
        divisor = constant(body.arguments[1])
        return (0, divisor - 1) if divisor is not None and divisor > 0 else None
    if body.operation == "sum" and body.dtype in INTEGERS:
        inner = interval(body.arguments[0], program, seen)
        length = body.arguments[0].shape[body.options["axis"]]
        if inner is None or not is_static((length,)):
            return None
        return min(0, inner[0] * int(length)), max(0, inner[1] * int(length))
    if body.operation == "cast" and body.arguments[0].dtype != "float":
        return interval(body.arguments[0], program, seen)
    if body.operation in ("where", "minimum", "maximum"):
        parts = body.arguments[-2:]
        intervals = [interval(a, program, seen) for a in parts]
        if None not in intervals:
            return min(f[0] for f in intervals if f), max(f[1] for f in intervals if f)
    return None


def _interval_of_array(
    array: str, program: Program, seen: tuple[str, ...]
) -> tuple[float, float] | None:
    writers = program.writers[array]
    if array in seen or any(s.combiner not in (None, "max", "min") for s in writers):
        return None
    intervals = [interval(s.body, program, (*seen, array)) for s in writers]
    if None in intervals:
        return None
    return min(f[0] for f in intervals if f), max(f[1] for f in intervals if f)


# -- dimensions ------------------------------------------------------------------------------------


def factored_sums(program: Program) -> RuleResult:
    """Take factors that do not vary over the summed dims out of sums: the sum becomes a statement
    of its own, and a sum of one value is that times the number of points.
    """
    where = []
    for statement in program.statements:
        rewritten = _counted(program, statement) or _factored(program, statement)
        if rewritten is not None:
            program = rewritten
            where.append(statement.name)
    return RuleResult(program, tuple(where))


def _counted(program: Program, s: Statement) -> Program | None:
    """Replace sum(k) a by count * a, where the range is a box."""
    if s.combiner != "sum" or varies_over(s.body, s.reduction_dims) or not is_pure(s.body):
        return None
    count = _length(s)
    if count is None or program.array[s.array].dtype != "float":
        return None
    times = call("cast", IndexValue(count), dtype="float")
    body = call("multiply", s.body, times)
    changed = _without_range(program.equations, s, body)
    return None if changed is None else replace(program, equations=changed)


def _length(s: Statement) -> Expression | None:
    """Return the number of points of a range that is a box at every instance."""
    if not is_box(s.reduction, s.reduction_dims):
        return None
    ranges = bounds(s.reduction, s.reduction_dims)
    inside = [(variable(d), lower) for d, (lower, _) in zip(s.reduction_dims, ranges, strict=True)]
    inside += [
        (upper - 1, variable(d)) for d, (_, upper) in zip(s.reduction_dims, ranges, strict=True)
    ]
    everything = with_dims(s.domain, s.dims + s.reduction_dims)
    exact = is_equal(domain_with(everything, at_least=inside), s.reduction)
    if not exact or not _has_points(s):
        return None
    total = expression(1)
    for lower, upper in ranges:
        total = total * (upper - lower)
    return total


def _has_points(s: Statement) -> bool:
    """Tell whether no instance's range is empty: a sum over none is 0 times anything."""
    return is_equal(project_out(s.reduction, s.reduction_dims), s.domain)


def _factored(program: Program, s: Statement) -> Program | None:
    """Replace sum(k) a * b[k] by a * sum(k) b[k]; so for quotients and contractions."""
    position = None if s.combiner != "sum" else _varying(s)
    if position is None or not _has_points(s):
        return None
    assert isinstance(s.body, Call)
    inside = s.body.arguments[position]
    name = fresh_name(program, f"{s.array}.sum")
    part = program.array[s.array].part_called
    array = Array(name, s.dims, extent_of(s.domain), inside.dtype, inside.shape, s.scope, part)
    write = tuple(variable(d) for d in s.dims)
    own = replace(s, name=name, array=name, write=write, body=inside, origin=name)
    arguments = list(s.body.arguments)
    arguments[position] = Read(name, write, array.dtype, array.shape)
    body = replace(s.body, arguments=tuple(arguments))
    reading = _without_range(program.equations, s, body)
    if reading is None:
        return None
    after = with_array(program, reading, array, (own,), (s.name,))
    return None if isinstance(after, Unplaced) else after


def _varying(s: Statement) -> int | None:
    """Return the operand that stays in the sum, where the other does not vary over the range."""
    body = s.body
    if not isinstance(body, Call) or body.operation not in ("multiply", "divide", "contract"):
        return None
    if any(a.dtype != "float" or not is_pure(a) for a in body.arguments):
        return None
    vary = [varies_over(a, s.reduction_dims) for a in body.arguments]
    if vary == [True, False]:
        return 0
    return 1 if vary == [False, True] and body.operation != "divide" else None


def _without_range(equations: Equations, s: Statement, body: Body) -> Equations | None:
    """Return the equations in which the statement is no reduction any more, but has this body."""
    array = equations.array[s.array]
    if (body.dtype, body.shape) != (array.dtype, array.shape):
        return None
    plain = replace(s, body=body, reduction_dims=(), reduction="", combiner=None)
    statements = tuple(plain if x.name == s.name else x for x in equations.statements)
    return replace(equations, statements=statements)
