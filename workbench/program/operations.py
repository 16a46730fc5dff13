"""The closed table of operations that bodies are made of: one row each, everything known of it in
that row.

Shapes are inner shapes; array meanings act on trailing axes, so the same row serves one instance
and a whole array of instances. Gradient rules are written with the operators of whatever values
they are given (the language's tensors) and a function `do(name, *arguments, **options)` that
applies a row; where the derivative does not exist (ties of max, min, clip) the *first* operand or
position that attains the value receives all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression

Shape = tuple[Any, ...]
Options = dict[str, Any]
Rule = Callable[..., tuple[Any, ...]]

FLOATS = ("float",)
INTEGERS = ("int32", "int64")
_RANK = {"bool": 0, "int32": 1, "int64": 2, "float": 3}


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


# -- shape rules --------------------------------------------------------------------------------


def shape_text(shape: Shape) -> str:
    """A shape as the user reads it."""
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """NumPy's broadcasting over inner shapes whose entries may be symbolic."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[Any] = []
    for position in range(rank):
        sizes = [s[position - rank + len(s)] for s in shapes if position - rank + len(s) >= 0]
        wide = [n for n in sizes if n != 1]
        if any(n != wide[0] for n in wide):
            listed = " and ".join(shape_text(s) for s in shapes)
            raise ProgramError(f"shapes {listed} do not fit together")
        result.append(wide[0] if wide else 1)
    return tuple(result)


def _broadcast(shapes: Sequence[Shape], options: Options) -> Shape:
    return broadcast_shapes(shapes)


def _same(shapes: Sequence[Shape], options: Options) -> Shape:
    return tuple(shapes[0])


def _from_option(shapes: Sequence[Shape], options: Options) -> Shape:
    return tuple(options["shape"])


def _reduced(shapes: Sequence[Shape], options: Options) -> Shape:
    axis = options["axis"]
    return tuple(n for k, n in enumerate(shapes[0]) if k != axis)


def _contracted(shapes: Sequence[Shape], options: Options) -> Shape:
    inputs, output = options["spec"].split("->")
    sizes: dict[str, Any] = {}
    for letters, shape in zip(inputs.split(","), shapes, strict=True):
        if len(letters) != len(shape):
            raise ProgramError(f"contraction {options['spec']} of shape {shape_text(shape)}")
        for letter, n in zip(letters, shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                left, right = (shape_text(s) for s in shapes)
                raise ProgramError(
                    f"shapes {left} and {right} do not contract: {sizes[letter]} against {n}"
                )
    return tuple(sizes[letter] for letter in output)


def _sliced(shapes: Sequence[Shape], options: Options) -> Shape:
    axis, start, stop, step = (options[k] for k in ("axis", "start", "stop", "step"))
    return (*shapes[0][:axis], len(range(start, stop, step)), *shapes[0][axis + 1 :])


def _stacked(shapes: Sequence[Shape], options: Options) -> Shape:
    if any(s != shapes[0] for s in shapes):
        raise ProgramError("stack of shapes " + ", ".join(shape_text(s) for s in shapes))
    axis = options["axis"]
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


def _concatenated(shapes: Sequence[Shape], options: Options) -> Shape:
    axis = options["axis"]
    rest = {(*s[:axis], *s[axis + 1 :]) for s in shapes}
    if len(rest) != 1:
        raise ProgramError("concatenation of shapes " + ", ".join(shape_text(s) for s in shapes))
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


def _padded(shapes: Sequence[Shape], options: Options) -> Shape:
    axis = options["axis"]
    n = options["before"] + shapes[0][axis] + options["after"]
    return (*shapes[0][:axis], n, *shapes[0][axis + 1 :])


def _reshaped(shapes: Sequence[Shape], options: Options) -> Shape:
    if _product(shapes[0]) != _product(options["shape"]):
        raise ProgramError(
            f"reshape of {shape_text(shapes[0])} to {shape_text(options['shape'])}: "
            "other number of elements"
        )
    return tuple(options["shape"])


def _product(shape: Shape) -> Any:
    total: Any = 1
    for n in shape:
        total = total * n
    return total


def _transposed(shapes: Sequence[Shape], options: Options) -> Shape:
    return tuple(shapes[0][a] for a in options["axes"])


def _taken(shapes: Sequence[Shape], options: Options) -> Shape:
    return (*shapes[1], *shapes[0][1:])


def _one_hot_shape(shapes: Sequence[Shape], options: Options) -> Shape:
    return (*shapes[0], options["size"])


# -- dtype rules --------------------------------------------------------------------------------


def promote(dtypes: Sequence[str]) -> str:
    """The widest dtype, booleans counting as int32 once they meet arithmetic."""
    return max(dtypes, key=_RANK.__getitem__)


def _arithmetic(dtypes: Sequence[str], options: Options) -> str:
    return promote(["int32", *dtypes])


def _float(dtypes: Sequence[str], options: Options) -> str:
    return "float"


def _boolean(dtypes: Sequence[str], options: Options) -> str:
    return "bool"


def _logical(dtypes: Sequence[str], options: Options) -> str:
    if any(d != "bool" for d in dtypes):
        raise ProgramError(f"expected booleans, found {' and '.join(dtypes)}")
    return "bool"


def _integer(dtypes: Sequence[str], options: Options) -> str:
    if any(d not in ("bool", *INTEGERS) for d in dtypes):
        raise ProgramError(f"expected integers, found {' and '.join(dtypes)}")
    return promote(["int32", *dtypes])


def _first(dtypes: Sequence[str], options: Options) -> str:
    return dtypes[0]


def _branches(dtypes: Sequence[str], options: Options) -> str:
    if dtypes[0] != "bool":
        raise ProgramError(f"where expects a boolean condition, found {dtypes[0]}")
    return promote(dtypes[1:])


def _option_dtype(dtypes: Sequence[str], options: Options) -> str:
    return str(options["dtype"])


def _within(dtypes: Sequence[str], options: Options) -> str:
    if any(d not in INTEGERS for d in dtypes):
        raise ProgramError(f"expected integers, found {', '.join(dtypes)}")
    return dtypes[0]


def _index(dtypes: Sequence[str], options: Options) -> str:
    return "int32"


def _named(dtypes: Sequence[str], options: Options) -> str:
    return str(options["dtype"])


# -- array meanings that are not a single NumPy function -----------------------------------------


def _inner(axis: int, rank: int) -> int:
    return axis - rank


def _contract(left: Any, right: Any, spec: str) -> Any:
    inputs, output = spec.split("->")
    a, b = inputs.split(",")
    return np.einsum(f"...{a},...{b}->...{output}", left, right)


def _slice(x: Any, axis: int, start: int, stop: int, step: int, rank: int) -> Any:
    bound = stop if stop >= 0 else None
    return x[(Ellipsis, slice(start, bound, step)) + (slice(None),) * (rank - axis - 1)]


def _pad(x: Any, axis: int, before: int, after: int, rank: int) -> Any:
    widths = [(0, 0)] * x.ndim
    widths[axis - rank] = (before, after)
    return np.pad(x, widths)


def _reshape(x: Any, shape: Shape, rank: int) -> Any:
    return x.reshape(x.shape[: x.ndim - rank] + tuple(shape))


def _transpose(x: Any, axes: tuple[int, ...], rank: int) -> Any:
    lead = x.ndim - rank
    return x.transpose(tuple(range(lead)) + tuple(lead + a for a in axes))


def _take(x: Any, index: Any, rank: int) -> Any:
    """Inner rows of `x` (axis 0 of the inner shape) at `index`; leading axes must agree."""
    lead = x.ndim - rank
    if lead == 0:
        return x[index]
    flat = index.reshape(index.shape[:lead] + (-1,) + (1,) * (rank - 1))
    rows = np.take_along_axis(x, flat, axis=lead)
    return rows.reshape(index.shape + x.shape[lead + 1 :])


def _one_hot(index: Any, size: int, dtype: Any = float) -> Any:
    return (index[..., None] == np.arange(size)).astype(dtype)


def _orthogonalize(x: Any) -> Any:
    """Rows or columns (whichever are fewer) of `x` made orthonormal by QR, signs fixed by R's
    diagonal.
    """
    tall = x.shape[-2] >= x.shape[-1]
    q, r = np.linalg.qr(x if tall else np.swapaxes(x, -1, -2))
    q = q * np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[..., None, :]
    return (q if tall else np.swapaxes(q, -1, -2)).astype(x.dtype)


# -- gradient rules -----------------------------------------------------------------------------


def _gradient_multiply(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    return g * xs[1], g * xs[0]


def _gradient_divide(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    share = g / xs[1]
    return share, -share * y


def _gradient_power(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    base, exponent = xs
    return g * exponent * do("power", base, exponent - 1.0), g * y * do("log", base)


def _gradient_extremum(comparison: str) -> Rule:
    def rule(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
        first = do(comparison, xs[0], xs[1])
        return do("where", first, g, 0.0), do("where", first, 0.0, g)

    return rule


def _gradient_where(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    return None, do("where", xs[0], g, 0.0), do("where", xs[0], 0.0, g)


def _gradient_contract(do: Any, xs: Any, y: Any, g: Any, spec: str) -> tuple[Any, ...]:
    inputs, output = spec.split("->")
    a, b = inputs.split(",")
    return (
        _contract_onto(do, g, output, xs[1], b, a),
        _contract_onto(do, g, output, xs[0], a, b),
    )


def _contract_onto(do: Any, g: Any, out: str, other: Any, letters: str, target: str) -> Any:
    """sum of g * other, over the letters that the target lacks. Every target letter is in g or
    other.
    """
    return do("contract", g, other, spec=f"{out},{letters}->{target}")


def _gradient_sum(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    return (do("broadcast", _with_axis(do, g, axis), shape=xs[0].shape),)


def _with_axis(do: Any, x: Any, axis: int) -> Any:
    return do("reshape", x, shape=(*x.shape[:axis], 1, *x.shape[axis:]))


def _gradient_max(position: str) -> Rule:
    def rule(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
        x = xs[0]
        hot = do("one_hot", do(position, x, axis=axis), size=x.shape[axis])
        order = list(range(len(x.shape) - 1))
        order.insert(axis, len(x.shape) - 1)
        return (do("transpose", hot, axes=tuple(order)) * _with_axis(do, g, axis),)

    return rule


def _gradient_cumsum(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    n = xs[0].shape[axis]
    back = {"axis": axis, "start": n - 1, "stop": -1, "step": -1}
    return (do("slice", do("cumsum", do("slice", g, **back), axis=axis), **back),)


def _gradient_slice(
    do: Any, xs: Any, y: Any, g: Any, axis: int, start: int, stop: int, step: int
) -> tuple[Any, ...]:
    n = xs[0].shape[axis]
    chosen = range(start, stop, step)
    if step == -1:
        g = do("slice", g, axis=axis, start=len(chosen) - 1, stop=-1, step=-1)
        chosen = chosen[::-1]
    elif step != 1:
        raise ProgramError("gradient of a slice with a step other than 1 or -1")
    return (do("pad", g, axis=axis, before=chosen.start, after=n - chosen.stop),)


def _gradient_pad(
    do: Any, xs: Any, y: Any, g: Any, axis: int, before: int, after: int
) -> tuple[Any, ...]:
    n = xs[0].shape[axis]
    return (do("slice", g, axis=axis, start=before, stop=before + n, step=1),)


def _gradient_stack(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    rows = (do("slice", g, axis=axis, start=k, stop=k + 1, step=1) for k in range(len(xs)))
    return tuple(do("reshape", row, shape=x.shape) for row, x in zip(rows, xs, strict=True))


def _gradient_concatenate(do: Any, xs: Any, y: Any, g: Any, axis: int) -> tuple[Any, ...]:
    found, start = [], 0
    for x in xs:
        stop = start + x.shape[axis]
        found.append(do("slice", g, axis=axis, start=start, stop=stop, step=1))
        start = stop
    return tuple(found)


def _gradient_transpose(do: Any, xs: Any, y: Any, g: Any, axes: tuple[int, ...]) -> tuple[Any, ...]:
    inverse = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return (do("transpose", g, axes=inverse),)


def _gradient_broadcast(do: Any, xs: Any, y: Any, g: Any, shape: Shape) -> tuple[Any, ...]:
    return (g,)  # the language sums an adjoint over broadcast axes for every row


def _gradient_take(do: Any, xs: Any, y: Any, g: Any) -> tuple[Any, ...]:
    x, index = xs
    hot = do("one_hot", index, size=x.shape[0])
    s = "abcdefgh"[: len(index.shape)]
    r = "ijklmnop"[: len(x.shape) - 1]
    return do("contract", hot, g, spec=f"{s}z,{s}{r}->z{r}"), None


# -- the table ----------------------------------------------------------------------------------


def _elementwise(
    name: str,
    arity: int,
    dtype: Any,
    gradient: Rule | None = None,
    text: str | None = None,
    ufunc: str | None = None,
) -> Operation:
    ufunc = ufunc or name
    return Operation(name, _broadcast, dtype, getattr(np, ufunc), gradient, ufunc, text, arity)


_ROWS = [
    _elementwise("negative", 1, _arithmetic, lambda do, xs, y, g: (-g,), "-{0}"),
    _elementwise(
        "absolute", 1, _arithmetic, lambda do, xs, y, g: (g * do("sign", xs[0]),), "|{0}|"
    ),
    _elementwise("sign", 1, _arithmetic),
    _elementwise("exp", 1, _float, lambda do, xs, y, g: (g * y,)),
    _elementwise("log", 1, _float, lambda do, xs, y, g: (g / xs[0],)),
    _elementwise("log1p", 1, _float, lambda do, xs, y, g: (g / (xs[0] + 1.0),)),
    _elementwise("sqrt", 1, _float, lambda do, xs, y, g: (g * 0.5 / y,)),
    _elementwise("tanh", 1, _float, lambda do, xs, y, g: (g * (1.0 - y * y),)),
    _elementwise("sin", 1, _float, lambda do, xs, y, g: (g * do("cos", xs[0]),)),
    _elementwise("cos", 1, _float, lambda do, xs, y, g: (-g * do("sin", xs[0]),)),
    _elementwise("floor", 1, _float),
    _elementwise("isfinite", 1, _boolean),
    _elementwise("logical_not", 1, _logical, text="not {0}"),
    _elementwise("add", 2, _arithmetic, lambda do, xs, y, g: (g, g), "{0} + {1}"),
    _elementwise("subtract", 2, _arithmetic, lambda do, xs, y, g: (g, -g), "{0} - {1}"),
    _elementwise("multiply", 2, _arithmetic, _gradient_multiply, "{0} * {1}"),
    _elementwise("divide", 2, _float, _gradient_divide, "{0} / {1}"),
    _elementwise("floor_divide", 2, _integer, text="{0} // {1}"),
    _elementwise("remainder", 2, _integer, text="{0} % {1}"),
    _elementwise("power", 2, _float, _gradient_power, "{0} ** {1}"),
    _elementwise("minimum", 2, _arithmetic, _gradient_extremum("less_equal")),
    _elementwise("maximum", 2, _arithmetic, _gradient_extremum("greater_equal")),
    _elementwise("equal", 2, _boolean, text="{0} == {1}"),
    _elementwise("not_equal", 2, _boolean, text="{0} != {1}"),
    _elementwise("less", 2, _boolean, text="{0} < {1}"),
    _elementwise("less_equal", 2, _boolean, text="{0} <= {1}"),
    _elementwise("greater", 2, _boolean, text="{0} > {1}"),
    _elementwise("greater_equal", 2, _boolean, text="{0} >= {1}"),
    _elementwise("logical_and", 2, _logical, text="{0} and {1}"),
    _elementwise("logical_or", 2, _logical, text="{0} or {1}"),
    Operation("where", _broadcast, _branches, np.where, _gradient_where, arity=3),
    Operation(
        "cast",
        _same,
        _option_dtype,
        lambda x, dtype: x.astype(dtype),
        lambda do, xs, y, g, dtype: (g if dtype == "float" and xs[0].dtype == "float" else None,),
        text="{0}",
        arity=1,
    ),
    Operation("within", _same, _within, lambda x, lower, upper: x, arity=3),
    Operation("contract", _contracted, _arithmetic, _contract, _gradient_contract, arity=2),
    Operation(
        "sum",
        _reduced,
        _arithmetic,
        lambda x, axis, rank: x.sum(axis=_inner(axis, rank)),
        _gradient_sum,
        arity=1,
    ),
    Operation(
        "max",
        _reduced,
        _first,
        lambda x, axis, rank: x.max(axis=_inner(axis, rank)),
        _gradient_max("argmax"),
        arity=1,
    ),
    Operation(
        "min",
        _reduced,
        _first,
        lambda x, axis, rank: x.min(axis=_inner(axis, rank)),
        _gradient_max("argmin"),
        arity=1,
    ),
    Operation(
        "argmax",
        _reduced,
        _index,
        lambda x, axis, rank: x.argmax(axis=_inner(axis, rank)).astype(np.int32),
        arity=1,
    ),
    Operation(
        "argmin",
        _reduced,
        _index,
        lambda x, axis, rank: x.argmin(axis=_inner(axis, rank)).astype(np.int32),
        arity=1,
    ),
    Operation(
        "cumsum",
        _same,
        _arithmetic,
        lambda x, axis, rank: x.cumsum(axis=_inner(axis, rank)),
        _gradient_cumsum,
        arity=1,
    ),
    Operation("slice", _sliced, _first, _slice, _gradient_slice, arity=1),
    Operation("pad", _padded, _first, _pad, _gradient_pad, arity=1),
    Operation(
        "reshape",
        _reshaped,
        _first,
        _reshape,
        lambda do, xs, y, g, shape: (do("reshape", g, shape=xs[0].shape),),
        arity=1,
    ),
    Operation("transpose", _transposed, _first, _transpose, _gradient_transpose, arity=1),
    Operation(
        "broadcast",
        _from_option,
        _first,
        lambda x, shape, rank: np.broadcast_to(
            x.reshape(
                x.shape[: x.ndim - rank] + (1,) * (len(shape) - rank) + x.shape[x.ndim - rank :]
            ),
            x.shape[: x.ndim - rank] + tuple(shape),
        ),
        _gradient_broadcast,
        arity=1,
    ),
    Operation("stack", _stacked, _first, None, _gradient_stack),
    Operation("concatenate", _concatenated, _first, None, _gradient_concatenate),
    Operation("take", _taken, _first, _take, _gradient_take, arity=2),
    Operation("one_hot", _one_hot_shape, _float, _one_hot, arity=1),
    Operation("orthogonalize", _same, _float, _orthogonalize, arity=1),
    Operation("uniform", _from_option, _float, random=True, arity=0),
    Operation("normal", _from_option, _float, random=True, arity=0),
    Operation("permutation", _from_option, _index, random=True, arity=0),
    Operation("given", _from_option, _named, arity=0),
    Operation("external", _from_option, _option_dtype, external=True),
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


def evaluate(name: str, arrays: Sequence[Any], ranks: Sequence[int], options: Options) -> Any:
    """The meaning of a row on NumPy arrays with equal leading axes; `ranks` are the inner ranks."""
    if name == "stack":
        return np.stack(arrays, axis=options["axis"] - ranks[0] - 1)
    if name == "concatenate":
        return np.concatenate(arrays, axis=options["axis"] - ranks[0])
    function = OPERATIONS[name].evaluate
    assert function is not None, name
    extra = {"rank": ranks[0]} if name in RANKED else {}
    return function(*arrays, **options, **extra)


_CONVERTING = frozenset({"contract", "sum", "cumsum", "stack", "concatenate"})


def operand_dtypes(name: str, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
    """What operands are converted to before a row's meaning applies: `True + 1` is integers."""
    if name == "where":
        return (dtypes[0], result, result)
    arithmetic = OPERATIONS[name].ufunc is not None and result != "bool"
    if arithmetic or name in _CONVERTING:
        return (result,) * len(dtypes)
    return tuple(dtypes)


def is_static(shape: Shape) -> bool:
    """Whether no entry is symbolic."""
    return not any(isinstance(n, Expression) for n in shape)
