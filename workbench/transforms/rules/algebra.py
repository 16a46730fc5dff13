"""Rules of arithmetic, logic and choice. Each takes a call and returns its replacement, or None."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.program.bodies import Body, Call, IndexValue, Literal
from workbench.program.operations.dtypes import INTEGERS
from workbench.program.operations.shapes import is_static
from workbench.program.operations.table import OPERATIONS, meaning, operand_dtypes
from workbench.program.values import Program
from workbench.transforms.rules.row import as_type_of, call, constant, is_negative_zero, number
from workbench.transforms.rules.row import operand as operand_of


def constants(body: Call, program: Program) -> Body | None:
    """Compute an operation on numbers, unless the result is infinite, NaN or larger."""
    row = OPERATIONS[body.operation]
    if not row.pure or not row.foldable or not body.arguments:
        return None
    values = [_value(a) for a in body.arguments]
    if any(v is None for v in values) or not is_static(body.shape):
        return None
    if math.prod(int(n) for n in body.shape) > sum(np.size(v) for v in values):
        return None
    dtypes = operand_dtypes(body.operation, [a.dtype for a in body.arguments], body.dtype)
    arrays = [np.asarray(v, d) for v, d in zip(values, dtypes, strict=True)]
    with np.errstate(all="ignore"):
        ranks = [len(a.shape) for a in body.arguments]
        value = np.asarray(meaning(body.operation, ranks, body.options)(*arrays), body.dtype)
    if not np.isfinite(value).all():
        return None
    return Literal(_nested(value.tolist()), body.dtype, body.shape)


def _value(body: Body) -> Any:
    if isinstance(body, Literal):
        return body.value
    return constant(body) if isinstance(body, IndexValue) else None


def _nested(value: Any) -> Any:
    return tuple(_nested(v) for v in value) if isinstance(value, list) else value


# -- neutral numbers -------------------------------------------------------------------------------


def times_one(body: Call, program: Program) -> Body | None:
    """Drop a factor of 1."""
    left, right = body.arguments
    for one, other in ((left, right), (right, left)):
        if constant(one) == 1:
            return as_type_of(other, body)
    return None


def times_minus_one(body: Call, program: Program) -> Body | None:
    """Replace a factor of -1 by a sign."""
    left, right = body.arguments
    for one, other in ((left, right), (right, left)):
        if constant(one) == -1:
            return call("negative", as_type_of(other, body))
    return None


def times_zero(body: Call, program: Program) -> Body | None:
    """Replace a product with the integer 0; a float may be infinite or NaN."""
    if body.dtype not in INTEGERS or not any(constant(a) == 0 for a in body.arguments):
        return None
    return as_type_of(number(0, body.dtype), body)


def over_one(body: Call, program: Program) -> Body | None:
    """Drop a divisor of 1."""
    return as_type_of(body.arguments[0], body) if constant(body.arguments[1]) == 1 else None


def minus_zero(body: Call, program: Program) -> Body | None:
    """Drop what has no effect for every x, -0.0 included: x - 0.0, x + -0.0, and the integer 0."""
    left, right = body.arguments
    sides = ((left, right), (right, left)) if body.operation == "add" else ((left, right),)
    for other, one in sides:
        value = constant(one)
        if value != 0:
            continue
        neutral = is_negative_zero(value) == (body.operation == "add")
        if neutral or body.dtype in INTEGERS:
            return as_type_of(other, body)
    return None


def plus_zero(body: Call, program: Program) -> Body | None:
    """Drop the sum with 0.0, which changes only -0.0: -0.0 + 0.0 is 0.0."""
    left, right = body.arguments
    sides = ((left, right), (right, left)) if body.operation == "add" else ((left, right),)
    for other, one in sides:
        if constant(one) == 0:
            return as_type_of(other, body)
    return None


def minus_itself(body: Call, program: Program) -> Body | None:
    """Replace x - x of integers by 0; a float may be infinite or NaN."""
    left, right = body.arguments
    same = left == right and body.dtype in INTEGERS
    return as_type_of(number(0, body.dtype), body) if same else None


# -- signs -----------------------------------------------------------------------------------------


def double_negation(body: Call, program: Program) -> Body | None:
    """Drop both signs of -(-x), and both negations of not not x."""
    inner = operand_of(body.arguments[0], body.operation)
    return None if inner is None else as_type_of(inner, body)


def added_negation(body: Call, program: Program) -> Body | None:
    """Turn x + -y, -y + x and x - -y into sums and differences without the sign."""
    left, right = body.arguments
    y = operand_of(right, "negative")
    if y is not None and y.dtype == right.dtype:
        return call("subtract" if body.operation == "add" else "add", left, y)
    y = operand_of(left, "negative")
    if body.operation == "add" and y is not None and y.dtype == left.dtype:
        return call("subtract", right, y)
    return None


def negated_factors(body: Call, program: Program) -> Body | None:
    """Drop two signs in a product or quotient."""
    left, right = (operand_of(a, "negative") for a in body.arguments)
    if left is None or right is None or not left.dtype == right.dtype == body.dtype:
        return None
    return call(body.operation, left, right)


def negated_sum(body: Call, program: Program) -> Body | None:
    """Move the sign of all summands before the sum: 1 - 1 is 0.0, and its negative is not."""
    inner = operand_of(body.arguments[0], "negative")
    if inner is None or inner.dtype != body.dtype:
        return None
    return call("negative", call("sum", inner, **body.options))


# -- powers, quotients, constants ------------------------------------------------------------------


def power_one(body: Call, program: Program) -> Body | None:
    """Replace x ** 1 by x."""
    return as_type_of(body.arguments[0], body) if constant(body.arguments[1]) == 1 else None


def square(body: Call, program: Program) -> Body | None:
    """Replace a square by a product, which is faster; the power may round otherwise."""
    base, exponent = body.arguments
    if constant(exponent) != 2 or base.dtype != body.dtype:
        return None
    return as_type_of(call("multiply", base, base), body)


def over_power_of_two(body: Call, program: Program) -> Body | None:
    """Replace a quotient by a product with the reciprocal of a power of two, which is exact."""
    return _times_reciprocal(body, exact=True)


def reciprocal(body: Call, program: Program) -> Body | None:
    """Replace a quotient by a product, which is faster; the reciprocal of a constant is rounded."""
    return _times_reciprocal(body, exact=False)


def _times_reciprocal(body: Call, exact: bool) -> Body | None:
    value = constant(body.arguments[1])
    if value is None or value == 0 or not math.isfinite(value):
        return None
    mantissa, exponent = math.frexp(float(value))
    if abs(exponent) > 100 or (exact and abs(mantissa) != 0.5):
        return None
    inverse = number(1.0 / float(value), "float")
    return as_type_of(call("multiply", body.arguments[0], inverse), body)


def constants_together(body: Call, program: Program) -> Body | None:
    """Combine the scalar constants among the factors of a product."""
    if body.dtype != "float":
        return None
    factors = _factors(body)
    numbers = [f for f in factors if constant(f) is not None and not f.shape]
    others = [f for f in factors if f not in numbers]
    if len(numbers) < 2 or not others or any(f.dtype != "float" for f in factors):
        return None
    total = math.prod(float(constant(f) or 0.0) for f in numbers)
    if not math.isfinite(total) or total == 0.0:
        return None
    constant_factor: Body = number(total, "float")
    for factor in sorted(others, key=lambda f: len(f.shape)):
        constant_factor = call("multiply", constant_factor, factor)
    return as_type_of(constant_factor, body)


def _factors(body: Body) -> list[Body]:
    if isinstance(body, Call) and body.operation == "multiply":
        return [f for a in body.arguments for f in _factors(a)]
    return [body]


def log_of_exp(body: Call, program: Program) -> Body | None:
    """Cancel the logarithm of an exponential."""
    return _undone(body, "exp")


def exp_of_log(body: Call, program: Program) -> Body | None:
    """Cancel the exponential of a logarithm."""
    return _undone(body, "log")


def _undone(body: Call, inverse: str) -> Body | None:
    inner = operand_of(body.arguments[0], inverse)
    return None if inner is None else as_type_of(inner, body)


# -- choices ---------------------------------------------------------------------------------------


def same_branches(body: Call, program: Program) -> Body | None:
    """Replace a choice whose branches are one value."""
    _, then, otherwise = body.arguments
    return as_type_of(then, body) if _same(then, otherwise) else None


def known_condition(body: Call, program: Program) -> Body | None:
    """Replace a choice whose condition is a constant."""
    condition, then, otherwise = body.arguments
    value = constant(condition)
    return None if value is None else as_type_of(then if value else otherwise, body)


def negated_condition(body: Call, program: Program) -> Body | None:
    """Exchange the branches instead of negating the condition."""
    condition, then, otherwise = body.arguments
    inner = operand_of(condition, "logical_not")
    return None if inner is None else call("where", inner, otherwise, then)


def nested_condition(body: Call, program: Program) -> Body | None:
    """Resolve a nested choice by the same condition."""
    condition, then, otherwise = body.arguments
    inner = _where(then, condition)
    if inner is not None:
        return as_type_of(call("where", condition, inner.arguments[1], otherwise), body)
    inner = _where(otherwise, condition)
    if inner is not None:
        return as_type_of(call("where", condition, then, inner.arguments[2]), body)
    return None


def _where(body: Body, condition: Body) -> Call | None:
    if isinstance(body, Call) and body.operation == "where" and body.arguments[0] == condition:
        return body
    return None


def same_operands(body: Call, program: Program) -> Body | None:
    """Replace the minimum, maximum, conjunction or disjunction of a value and itself."""
    left, right = body.arguments
    return as_type_of(left, body) if _same(left, right) else None


def nested_extremes(body: Call, program: Program) -> Body | None:
    """Combine the two numbers of max(max(x, a), b)."""
    for outer, inner in (body.arguments, body.arguments[::-1]):
        bound = constant(outer)
        if bound is None or not isinstance(inner, Call) or inner.operation != body.operation:
            continue
        for one, other in (inner.arguments, inner.arguments[::-1]):
            value = constant(one)
            if value is None or {one.dtype, outer.dtype, other.dtype} != {body.dtype}:
                continue
            pick = max if body.operation == "maximum" else min
            if math.isnan(bound) or math.isnan(value) or bound == value == 0:
                return None
            return as_type_of(
                call(body.operation, other, number(pick(bound, value), body.dtype)), body
            )
    return None


def known_logic(body: Call, program: Program) -> Body | None:
    """Resolve a conjunction or disjunction with a constant."""
    for one, other in (body.arguments, body.arguments[::-1]):
        value = constant(one)
        if value is None:
            continue
        decides = bool(value) == (body.operation == "logical_or")
        return as_type_of(number(value, "bool") if decides else other, body)
    return None


def compared_to_itself(body: Call, program: Program) -> Body | None:
    """Resolve a comparison of integers or booleans with themselves; NaN is not equal to itself."""
    left, right = body.arguments
    if left != right or left.dtype == "float":
        return None
    holds = bool(meaning(body.operation, (0, 0), {})(0, 0))
    return as_type_of(number(holds, "bool"), body)


def _same(left: Body, right: Body) -> bool:
    """Tell whether two bodies are one; 0.0 and -0.0 are two."""
    return left == right and repr(left) == repr(right)
