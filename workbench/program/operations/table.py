"""The closed table of operations that bodies are made of: one row holds all about one operation.

Shapes are inner shapes. Array meanings act on trailing axes, so one row serves one instance and a
whole array of instances. Where a derivative does not exist (ties of max, min, clip), the *first*
operand or position with the value receives all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from workbench.program.operations import arrays, dtypes, gamma, gradients, matrices, shapes
from workbench.program.operations.gradients import GradientRule
from workbench.program.operations.operation import Level, Operation
from workbench.program.operations.shapes import Options


def _elementwise(
    name: str,
    arity: int,
    dtype: Any,
    gradient: GradientRule | None = None,
    text: str | None = None,
    **more: Any,
) -> Operation:
    """Make a row that NumPy has as one ufunc."""
    least = {dtypes.floating: "float", dtypes.logical: None}.get(dtype, "int32")
    fields = {"least": least, "converts": dtype not in (dtypes.boolean, dtypes.logical)} | more
    evaluate = getattr(np, name)
    return Operation(
        name,
        shapes.broadcast,
        dtype,
        evaluate,
        gradient,
        arity,
        text,
        elementwise=True,
        ufunc=name,
        **fields,
    )


def _positive(name: str, evaluate: Callable[[Any], Any], gradient: GradientRule) -> Operation:
    """Make a row of positive numbers that NumPy does not have."""
    return Operation(
        name,
        shapes.same,
        dtypes.floating,
        evaluate,
        gradient,
        arity=1,
        elementwise=True,
        least="float",
        converts=True,
    )


def _comparison(name: str, text: str, compares: str) -> Operation:
    """Make a row that compares two numbers; equality also compares booleans."""
    least = "bool" if compares == "equality" else "int32"
    return _elementwise(
        name, 2, dtypes.boolean, None, text, level=Level.COMPARISON, least=least, compares=compares
    )


def _view(name: str, shape: Any, evaluate: Callable[..., Any], gradient: GradientRule) -> Operation:
    """Make a row whose result is (mostly) its operand seen in another order."""
    return Operation(
        name,
        shape,
        dtypes.of_first,
        evaluate,
        gradient,
        1,
        ranked=True,
        linear=True,
        result="view",
        free=True,
    )


def _ranked(
    name: str,
    shape: Any,
    dtype: Any,
    evaluate: Any,
    gradient: GradientRule | None = None,
    **more: Any,
) -> Operation:
    """Make a row of one operand whose meaning depends on the number of its inner axes."""
    return Operation(name, shape, dtype, evaluate, gradient, 1, ranked=True, **more)


def _update(name: str, evaluate: Callable[..., Any], gradient: GradientRule) -> Operation:
    """Make a row that changes one element of a table."""
    return Operation(
        name,
        shapes.updated,
        dtypes.updated,
        evaluate,
        gradient,
        noun="update",
        ranked=True,
        foldable=False,
        onto=0,
        updates=True,
        result="parts",
    )


_ROWS = [
    _elementwise(
        "negative", 1, dtypes.arithmetic, lambda do, xs, y, g: (-g,), "-{0}", level=Level.NEGATIVE
    ),
    _elementwise(
        "absolute", 1, dtypes.arithmetic, lambda do, xs, y, g: (g * do("sign", xs[0]),), "|{0}|"
    ),
    _elementwise("sign", 1, dtypes.arithmetic),
    _elementwise("exp", 1, dtypes.floating, lambda do, xs, y, g: (g * y,)),
    _elementwise("log", 1, dtypes.floating, lambda do, xs, y, g: (g / xs[0],)),
    _elementwise("log1p", 1, dtypes.floating, lambda do, xs, y, g: (g / (xs[0] + 1.0),)),
    _elementwise("sqrt", 1, dtypes.floating, lambda do, xs, y, g: (g * 0.5 / y,)),
    _elementwise("tanh", 1, dtypes.floating, lambda do, xs, y, g: (g * (1.0 - y * y),)),
    _positive("lgamma", gamma.lgamma, lambda do, xs, y, g: (g * do("digamma", xs[0]),)),
    _positive("digamma", gamma.digamma, lambda do, xs, y, g: (g * do("trigamma", xs[0]),)),
    _positive("trigamma", gamma.trigamma, gradients.of_trigamma),
    _elementwise("sin", 1, dtypes.floating, lambda do, xs, y, g: (g * do("cos", xs[0]),)),
    _elementwise("cos", 1, dtypes.floating, lambda do, xs, y, g: (-g * do("sin", xs[0]),)),
    _elementwise("floor", 1, dtypes.floating),
    _elementwise("isfinite", 1, dtypes.boolean, least="float"),
    _elementwise("logical_not", 1, dtypes.logical, text="not {0}", level=Level.NOT),
    _elementwise(
        "add",
        2,
        dtypes.arithmetic,
        lambda do, xs, y, g: (g, g),
        "{0} + {1}",
        level=Level.SUM,
        associative=True,
        noun="sum",
    ),
    _elementwise(
        "subtract",
        2,
        dtypes.arithmetic,
        lambda do, xs, y, g: (g, -g),
        "{0} - {1}",
        level=Level.SUM,
        noun="difference",
    ),
    _elementwise(
        "multiply",
        2,
        dtypes.arithmetic,
        gradients.of_multiply,
        "{0} * {1}",
        level=Level.PRODUCT,
        associative=True,
        noun="product",
    ),
    _elementwise(
        "divide",
        2,
        dtypes.floating,
        gradients.of_divide,
        "{0} / {1}",
        level=Level.PRODUCT,
        noun="quotient",
    ),
    _elementwise(
        "floor_divide", 2, dtypes.integer, text="{0} // {1}", level=Level.PRODUCT, noun="quotient"
    ),
    _elementwise("remainder", 2, dtypes.integer, text="{0} % {1}", level=Level.PRODUCT),
    _elementwise("power", 2, dtypes.floating, gradients.of_power, "{0} ** {1}", level=Level.POWER),
    _elementwise("minimum", 2, dtypes.arithmetic, gradients.of_extremum("less_equal")),
    _elementwise("maximum", 2, dtypes.arithmetic, gradients.of_extremum("greater_equal")),
    _comparison("equal", "{0} == {1}", "equality"),
    _comparison("not_equal", "{0} != {1}", "equality"),
    _comparison("less", "{0} < {1}", "order"),
    _comparison("less_equal", "{0} <= {1}", "order"),
    _comparison("greater", "{0} > {1}", "order"),
    _comparison("greater_equal", "{0} >= {1}", "order"),
    _elementwise(
        "logical_and", 2, dtypes.logical, text="{0} and {1}", level=Level.AND, associative=True
    ),
    _elementwise(
        "logical_or", 2, dtypes.logical, text="{0} or {1}", level=Level.OR, associative=True
    ),
    Operation(
        "where",
        shapes.broadcast,
        dtypes.branches,
        np.where,
        gradients.of_where,
        arity=3,
        elementwise=True,
        least="bool",
        converts=True,
        conditional=True,
        onto=2,
    ),
    Operation(
        "cast",
        shapes.same,
        dtypes.as_asked,
        lambda x, dtype: x.astype(dtype),
        lambda do, xs, y, g, dtype: (g if dtype == "float" and xs[0].dtype == "float" else None,),
        arity=1,
        text="{0}",
        elementwise=True,
        result="either",
        free=True,
    ),
    Operation(
        "within", shapes.same, dtypes.within, lambda x, lower, upper: x, arity=3, result="operand"
    ),
    Operation("possible", shapes.same, dtypes.of_first, lambda x: x, arity=1, result="operand"),
    Operation("positive", shapes.same, dtypes.floating, lambda x: x, arity=1, result="operand"),
    Operation(
        "existing",
        shapes.same,
        dtypes.of_first,
        lambda x, opened, step, dim: x,
        arity=3,
        text="existing({0}, {1})",
        result="operand",
    ),
    Operation(
        "contract",
        shapes.contracted,
        dtypes.arithmetic,
        arrays.contract,
        gradients.of_contract,
        arity=2,
        noun="product",
        converts=True,
    ),
    _ranked(
        "sum",
        shapes.reduced,
        dtypes.arithmetic,
        lambda x, axis, rank: x.sum(axis=axis - rank),
        gradients.of_sum,
        converts=True,
        combines="add",
        linear=True,
    ),
    _ranked(
        "max",
        shapes.reduced,
        dtypes.of_first,
        lambda x, axis, rank: x.max(axis=axis - rank),
        gradients.of_max("argmax"),
        combines="maximum",
    ),
    _ranked(
        "min",
        shapes.reduced,
        dtypes.of_first,
        lambda x, axis, rank: x.min(axis=axis - rank),
        gradients.of_max("argmin"),
        combines="minimum",
    ),
    _ranked(
        "argmax",
        shapes.reduced,
        dtypes.index,
        lambda x, axis, rank: x.argmax(axis=axis - rank).astype(np.int32),
    ),
    _ranked(
        "argmin",
        shapes.reduced,
        dtypes.index,
        lambda x, axis, rank: x.argmin(axis=axis - rank).astype(np.int32),
    ),
    _ranked(
        "cumsum",
        shapes.same,
        dtypes.arithmetic,
        lambda x, axis, rank: x.cumsum(axis=axis - rank),
        gradients.of_cumsum,
        converts=True,
    ),
    _view("slice", shapes.sliced, arrays.sliced, gradients.of_slice),
    _ranked("pad", shapes.padded, dtypes.of_first, arrays.pad, gradients.of_pad, result="parts"),
    _view(
        "reshape",
        shapes.reshaped,
        arrays.reshape,
        lambda do, xs, y, g, shape: (do("reshape", g, shape=xs[0].shape),),
    ),
    _view("transpose", shapes.transposed, arrays.transpose, gradients.of_transpose),
    _view("broadcast", shapes.from_option, arrays.broadcast, gradients.of_broadcast),
    Operation(
        "stack",
        shapes.stacked,
        dtypes.of_first,
        arrays.stack,
        gradients.of_stack,
        ranked=True,
        converts=True,
        result="parts",
    ),
    Operation(
        "concatenate",
        shapes.concatenated,
        dtypes.of_first,
        arrays.concatenate,
        gradients.of_concatenate,
        ranked=True,
        converts=True,
        result="parts",
    ),
    Operation(
        "take",
        shapes.taken,
        dtypes.of_first,
        arrays.take,
        gradients.of_take,
        ranked=True,
        foldable=False,
        result="either",
    ),
    _update("put", arrays.put, gradients.of_put),
    _update("add_at", arrays.add_at, gradients.of_add_at),
    Operation("one_hot", shapes.one_hot, dtypes.hot, arrays.one_hot, arity=1),
    Operation("orthogonalize", shapes.same, dtypes.floating, arrays.orthogonalize, arity=1),
    Operation(
        "solve",
        shapes.solved,
        dtypes.floating,
        matrices.solve,
        gradients.of_solve,
        arity=2,
        noun="solution",
        converts=True,
    ),
    Operation(
        "cholesky",
        shapes.of_square,
        dtypes.floating,
        matrices.cholesky,
        gradients.of_cholesky,
        arity=1,
        noun="factor",
        converts=True,
    ),
    Operation("uniform", shapes.from_option, dtypes.floating, random=True, arity=0),
    Operation("normal", shapes.from_option, dtypes.floating, random=True, arity=0),
    Operation("permutation", shapes.from_option, dtypes.index, random=True, arity=0),
    Operation("given", shapes.from_option, dtypes.as_asked, given=True, arity=0),
    Operation("external", shapes.from_option, dtypes.as_asked, external=True),
]

OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}

APART = frozenset(row.name for row in _ROWS if row.random or row.external)
"""Rows whose every occurrence is its own statement: two draws, or two calls, are two."""

COMBINES = {row.name: row.combines for row in _ROWS if row.combines}
"""Combiners with the row that adds one more element to their result."""


def meaning(name: str, ranks: Sequence[int], options: Options) -> Callable[..., Any]:
    """Give a row's function of NumPy arrays with equal leading axes and inner `ranks`."""
    row = OPERATIONS[name]
    assert row.evaluate is not None, name
    extra = {"rank": ranks[0]} if row.ranked else {}
    return partial(row.evaluate, **options, **extra) if options or extra else row.evaluate


def first_index(name: str) -> int:
    """Return the place of the first index among the operands of a lookup or an update."""
    return 2 if OPERATIONS[name].updates else 1


def operand_dtypes(name: str, operands: Sequence[str], result: str) -> tuple[str, ...]:
    """Return the dtypes of operands before a row's meaning applies: `True + 1` is integers."""
    row = OPERATIONS[name]
    if not row.converts:
        return tuple(operands)
    conditions = operands[:1] if row.conditional else ()
    return (*conditions, *[result] * (len(operands) - len(conditions)))
