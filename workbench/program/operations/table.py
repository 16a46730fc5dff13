"""The closed table of operations that bodies are made of: one row each, everything known of it in
that row.

Shapes are inner shapes; array meanings act on trailing axes, so the same row serves one instance
and a whole array of instances. Where a derivative does not exist (ties of max, min, clip) the
*first* operand or position that attains the value receives all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from workbench.program.operations import arrays, dtypes, gradients, shapes
from workbench.program.operations.gradients import Rule
from workbench.program.operations.shapes import Options, Shape


@dataclass(frozen=True)
class Operation:
    """A row: shape and dtype rules, array meaning, gradient rule, and how it prints.

    `evaluate(*arrays, **options)` is the meaning on NumPy arrays with any (equal) leading axes.
    `ufunc` names the NumPy ufunc of an elementwise operation; only those may overwrite an operand.
    `gradient(do, inputs, output, adjoint, **options)` gives one adjoint per input (None: no
    dependence); None instead of a rule: the operation's result is constant to `gradient`. `random`
    rows draw words by statement and instance and have no `evaluate`; nor has `given`, whose values
    by instance come from outside under a name when the program is run, nor have `external` rows,
    which call an object outside the program (`values.External`) once per instance.
    """

    name: str
    shape: Callable[[Sequence[Shape], Options], Shape]
    dtype: Callable[[Sequence[str], Options], str]
    evaluate: Callable[..., Any] | None = None
    gradient: Rule | None = None
    ufunc: str | None = None
    text: str | None = None
    arity: int | None = None
    random: bool = False
    external: bool = False

    @property
    def elementwise(self) -> bool:
        """Whether element k of the result needs only element k of each (broadcast) operand."""
        return self.ufunc is not None or self.name in ("where", "cast")


def _elementwise(
    name: str,
    arity: int,
    dtype: Any,
    gradient: Rule | None = None,
    text: str | None = None,
    ufunc: str | None = None,
) -> Operation:
    ufunc = ufunc or name
    return Operation(
        name, shapes.broadcast, dtype, getattr(np, ufunc), gradient, ufunc, text, arity
    )


_ROWS = [
    _elementwise("negative", 1, dtypes.arithmetic, lambda do, xs, y, g: (-g,), "-{0}"),
    _elementwise(
        "absolute", 1, dtypes.arithmetic, lambda do, xs, y, g: (g * do("sign", xs[0]),), "|{0}|"
    ),
    _elementwise("sign", 1, dtypes.arithmetic),
    _elementwise("exp", 1, dtypes.floating, lambda do, xs, y, g: (g * y,)),
    _elementwise("log", 1, dtypes.floating, lambda do, xs, y, g: (g / xs[0],)),
    _elementwise("log1p", 1, dtypes.floating, lambda do, xs, y, g: (g / (xs[0] + 1.0),)),
    _elementwise("sqrt", 1, dtypes.floating, lambda do, xs, y, g: (g * 0.5 / y,)),
    _elementwise("tanh", 1, dtypes.floating, lambda do, xs, y, g: (g * (1.0 - y * y),)),
    _elementwise("sin", 1, dtypes.floating, lambda do, xs, y, g: (g * do("cos", xs[0]),)),
    _elementwise("cos", 1, dtypes.floating, lambda do, xs, y, g: (-g * do("sin", xs[0]),)),
    _elementwise("floor", 1, dtypes.floating),
    _elementwise("isfinite", 1, dtypes.boolean),
    _elementwise("logical_not", 1, dtypes.logical, text="not {0}"),
    _elementwise("add", 2, dtypes.arithmetic, lambda do, xs, y, g: (g, g), "{0} + {1}"),
    _elementwise("subtract", 2, dtypes.arithmetic, lambda do, xs, y, g: (g, -g), "{0} - {1}"),
    _elementwise("multiply", 2, dtypes.arithmetic, gradients.of_multiply, "{0} * {1}"),
    _elementwise("divide", 2, dtypes.floating, gradients.of_divide, "{0} / {1}"),
    _elementwise("floor_divide", 2, dtypes.integer, text="{0} // {1}"),
    _elementwise("remainder", 2, dtypes.integer, text="{0} % {1}"),
    _elementwise("power", 2, dtypes.floating, gradients.of_power, "{0} ** {1}"),
    _elementwise("minimum", 2, dtypes.arithmetic, gradients.of_extremum("less_equal")),
    _elementwise("maximum", 2, dtypes.arithmetic, gradients.of_extremum("greater_equal")),
    _elementwise("equal", 2, dtypes.boolean, text="{0} == {1}"),
    _elementwise("not_equal", 2, dtypes.boolean, text="{0} != {1}"),
    _elementwise("less", 2, dtypes.boolean, text="{0} < {1}"),
    _elementwise("less_equal", 2, dtypes.boolean, text="{0} <= {1}"),
    _elementwise("greater", 2, dtypes.boolean, text="{0} > {1}"),
    _elementwise("greater_equal", 2, dtypes.boolean, text="{0} >= {1}"),
    _elementwise("logical_and", 2, dtypes.logical, text="{0} and {1}"),
    _elementwise("logical_or", 2, dtypes.logical, text="{0} or {1}"),
    Operation("where", shapes.broadcast, dtypes.branches, np.where, gradients.of_where, arity=3),
    Operation(
        "cast",
        shapes.same,
        dtypes.as_asked,
        lambda x, dtype: x.astype(dtype),
        lambda do, xs, y, g, dtype: (g if dtype == "float" and xs[0].dtype == "float" else None,),
        text="{0}",
        arity=1,
    ),
    Operation("within", shapes.same, dtypes.within, lambda x, lower, upper: x, arity=3),
    Operation("possible", shapes.same, dtypes.of_first, lambda x: x, arity=1),
    Operation(
        "contract",
        shapes.contracted,
        dtypes.arithmetic,
        arrays.contract,
        gradients.of_contract,
        arity=2,
    ),
    Operation(
        "sum",
        shapes.reduced,
        dtypes.arithmetic,
        lambda x, axis, rank: x.sum(axis=axis - rank),
        gradients.of_sum,
        arity=1,
    ),
    Operation(
        "max",
        shapes.reduced,
        dtypes.of_first,
        lambda x, axis, rank: x.max(axis=axis - rank),
        gradients.of_max("argmax"),
        arity=1,
    ),
    Operation(
        "min",
        shapes.reduced,
        dtypes.of_first,
        lambda x, axis, rank: x.min(axis=axis - rank),
        gradients.of_max("argmin"),
        arity=1,
    ),
    Operation(
        "argmax",
        shapes.reduced,
        dtypes.index,
        lambda x, axis, rank: x.argmax(axis=axis - rank).astype(np.int32),
        arity=1,
    ),
    Operation(
        "argmin",
        shapes.reduced,
        dtypes.index,
        lambda x, axis, rank: x.argmin(axis=axis - rank).astype(np.int32),
        arity=1,
    ),
    Operation(
        "cumsum",
        shapes.same,
        dtypes.arithmetic,
        lambda x, axis, rank: x.cumsum(axis=axis - rank),
        gradients.of_cumsum,
        arity=1,
    ),
    Operation("slice", shapes.sliced, dtypes.of_first, arrays.sliced, gradients.of_slice, arity=1),
    Operation("pad", shapes.padded, dtypes.of_first, arrays.pad, gradients.of_pad, arity=1),
    Operation(
        "reshape",
        shapes.reshaped,
        dtypes.of_first,
        arrays.reshape,
        lambda do, xs, y, g, shape: (do("reshape", g, shape=xs[0].shape),),
        arity=1,
    ),
    Operation(
        "transpose",
        shapes.transposed,
        dtypes.of_first,
        arrays.transpose,
        gradients.of_transpose,
        arity=1,
    ),
    Operation(
        "broadcast",
        shapes.from_option,
        dtypes.of_first,
        lambda x, shape, rank: np.broadcast_to(
            x.reshape(
                x.shape[: x.ndim - rank] + (1,) * (len(shape) - rank) + x.shape[x.ndim - rank :]
            ),
            x.shape[: x.ndim - rank] + tuple(shape),
        ),
        gradients.of_broadcast,
        arity=1,
    ),
    Operation("stack", shapes.stacked, dtypes.of_first, None, gradients.of_stack),
    Operation("concatenate", shapes.concatenated, dtypes.of_first, None, gradients.of_concatenate),
    Operation("take", shapes.taken, dtypes.of_first, arrays.take, gradients.of_take, arity=2),
    Operation("one_hot", shapes.one_hot, dtypes.hot, arrays.one_hot, arity=1),
    Operation("orthogonalize", shapes.same, dtypes.floating, arrays.orthogonalize, arity=1),
    Operation("uniform", shapes.from_option, dtypes.floating, random=True, arity=0),
    Operation("normal", shapes.from_option, dtypes.floating, random=True, arity=0),
    Operation("permutation", shapes.from_option, dtypes.index, random=True, arity=0),
    Operation("given", shapes.from_option, dtypes.as_asked, arity=0),
    Operation("external", shapes.from_option, dtypes.as_asked, external=True),
]

OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}

APART = frozenset(row.name for row in _ROWS if row.random or row.external)
"""Rows of which every occurrence is a statement of its own: two draws, or two calls, are two."""

RANKED = frozenset(
    {
        "sum",
        "max",
        "min",
        "argmax",
        "argmin",
        "cumsum",
        "slice",
        "pad",
        "reshape",
        "transpose",
        "broadcast",
        "take",
        "stack",
        "concatenate",
    }
)
"""Rows whose meaning needs the operand's inner rank besides its options (leading axes come before
it).
"""


def meaning(name: str, ranks: Sequence[int], options: Options) -> Callable[..., Any]:
    """Give a row's function of NumPy arrays with equal leading axes and inner `ranks`."""
    if name == "stack":
        return lambda *operands: np.stack(operands, axis=options["axis"] - ranks[0] - 1)
    if name == "concatenate":
        return lambda *operands: np.concatenate(operands, axis=options["axis"] - ranks[0])
    function = OPERATIONS[name].evaluate
    assert function is not None, name
    extra = {"rank": ranks[0]} if name in RANKED else {}
    return partial(function, **options, **extra) if options or extra else function


_CONVERTING = frozenset({"contract", "sum", "cumsum", "stack", "concatenate"})


def operand_dtypes(name: str, given: Sequence[str], result: str) -> tuple[str, ...]:
    """What operands are converted to before a row's meaning applies: `True + 1` is integers."""
    if name == "where":
        return (given[0], result, result)
    arithmetic = OPERATIONS[name].ufunc is not None and result != "bool"
    if arithmetic or name in _CONVERTING:
        return (result,) * len(given)
    return tuple(given)
