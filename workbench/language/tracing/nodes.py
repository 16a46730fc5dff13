"""Nodes of a trace: constants, and operations applied to tensors.

Dtypes are unified, range axes of equal length aligned, trivial cases folded. A repeated computation
is the same node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import ProgramError
from workbench.language.tracing import quoting
from workbench.language.tracing.given_shapes import index_of
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import Range, Trace, current, user_line
from workbench.language.unobserved import unobserved
from workbench.polyhedral.expression import Expression, ExpressionLike, variable, whole
from workbench.program.operations.dtypes import INTEGERS, promote
from workbench.program.operations.shapes import shape_text
from workbench.program.operations.table import APART, OPERATIONS, meaning
from workbench.program.wellformed.index_ranges import Intervals, fits_int32, intervals


@unobserved
def record(trace: Trace, **fields: Any) -> Tensor:
    """Record a node of the trace, read plainly; a repeated computation is the same node."""
    node = Node(
        trace=trace,
        number=trace.position(),
        scope=trace.scope,
        phase=trace.phase,
        line=user_line(),
        **fields,
    )
    if node.operation in APART:
        trace.nodes.append(node)
        return Tensor(node)
    known = trace.computed.setdefault(_key(node), node)
    if known is node:
        trace.nodes.append(node)
    return Tensor(known)


def _key(node: Node) -> tuple[object, ...]:
    """Return a key, equal for nodes that compute the same, wherever they are written."""
    return (
        node.operation,
        tuple(_operand_key(x) for x in node.operands),
        node.dims,
        node.shape,
        node.dtype,
        (repr(node.options["value"]), node.options.get("places"))
        if node.operation == "literal"
        else tuple(sorted(node.options.items())),
        node.combiner,
        node.over,
        node.equal,
        node.at_least,
        node.wider,
        node.everywhere,
        node.inline,
    )


def _operand_key(x: Tensor) -> tuple[object, ...]:
    index = (_operand_key(e) if isinstance(e, Tensor) else e for e in x.index)
    return (id(x.source), *index)


def literal(value: Any, dtype: str | None = None) -> Tensor:
    """Make a constant tensor from a number, nested sequence or NumPy array; whole numbers are
    int32, or int64 where one is larger.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        raise ProgramError(f"expected rows of one length, found {value!r}", user_line()) from None
    if dtype is None:
        whole = "int32" if _beyond(array, "int32") is None else "int64"
        kinds = {"b": "bool", "i": whole, "u": whole, "f": "float"}
        if array.dtype.kind not in kinds:
            raise ProgramError(_no_numbers(array, value), user_line())
        dtype = kinds[array.dtype.kind]
    beyond = _beyond(array, dtype)
    if beyond is not None:
        raise ProgramError(f"{beyond} does not fit into {dtype}", user_line())
    value = array.astype({"float": float, "bool": bool}.get(dtype, int)).tolist()
    return record(
        current(),
        operation="literal",
        operands=(),
        dims=(),
        shape=tuple(array.shape),
        dtype=dtype,
        options={"value": _nested(value)},
        inline=True,
    )


def repeated(x: Tensor, dims: tuple[str, ...], places: tuple[Expression, ...]) -> Tensor:
    """Mark a constant as varying over dims, along which it is the same; `places` are the indices at
    which it was read.
    """
    assert isinstance(x.source, Node)
    return record(
        current(),
        operation="literal",
        operands=(),
        dims=dims,
        shape=x.shape,
        dtype=x.dtype,
        options={**x.source.options, "places": places},
        inline=True,
    )


def _no_numbers(array: np.ndarray, value: Any) -> str:
    """Explain why an array is none of numbers, and how to write one of tensors."""
    said = f"expected numbers, found {value!r}"
    if array.dtype == object and any(isinstance(e, (Tensor, Expression)) for e in array.flat):
        said += "; wb.stack([…]) makes an inner axis of tensors"
    elif array.dtype == object and all(whole(e) is not None for e in array.flat):
        said += ", which does not fit into int64"
    return said


def _beyond(array: np.ndarray, dtype: str) -> Any:
    """Return the first number that an integer dtype cannot hold, where there is one."""
    if dtype not in INTEGERS or array.dtype.kind not in "iuf":
        return None
    range_ = np.iinfo(dtype)
    outside = array[~((array >= range_.min) & (array <= range_.max))]
    return outside.flat[0] if outside.size else None


def _nested(value: Any) -> Any:
    return tuple(_nested(v) for v in value) if isinstance(value, list) else value


def index(value: ExpressionLike, dtype: Any = None) -> Tensor:
    """Return an integer expression over dims and sizes as a tensor: `wb.index(t)`.

    It is int32, or int64 where it could pass 2**31 at the sizes of the trace; `dtype="int64"` says
    so for all sizes. A run at sizes at which int32 is too small is refused.
    """
    expressed = index_of(value)
    if expressed is None:
        if isinstance(value, Tensor):
            raise ProgramError(f"wb.index of {value!r}, which is a number already", user_line())
        raise ProgramError(
            f"wb.index of {value!r}; expected an expression over dims and sizes", user_line()
        )
    if dtype is None:
        dtype = "int32" if fits_int32(expressed, _values_of_names(expressed)) else "int64"
    else:
        dtype = dtype_name(dtype, "wb.index: dtype")
        if dtype not in INTEGERS:
            raise ProgramError(f"wb.index: dtype {dtype}; expected int32 or int64", user_line())
    return record(
        current(),
        operation="index",
        operands=(),
        dims=current().ordered(set(expressed.variables)),
        shape=(),
        dtype=dtype,
        options={"expression": expressed},
        inline=True,
    )


def _values_of_names(e: Expression) -> Intervals:
    """Return the values of all names in an index expression at the sizes of the trace."""
    trace = current()
    ranges = ((d, trace.range(d)) for d in reversed(_inside_out(trace, e)))
    sizes = {p.name: p.default for p in trace.sizes.values()}
    return intervals(sizes, ((d, (r.lower, r.upper)) for d, r in ranges))


def _inside_out(trace: Trace, e: Expression) -> list[str]:
    """Return the dims of an expression, each before those that its bounds depend on."""
    order: dict[str, None] = {}
    todo = sorted(e.variables)
    while todo:
        d = todo.pop(0)
        order.pop(d, None)
        order[d] = None
        own = trace.range(d)
        todo += sorted(own.lower.variables | own.upper.variables)
    return list(order)


def as_tensor(value: object) -> Tensor:
    """Convert a tensor, an index expression, a number or an array to a tensor."""
    if isinstance(value, Tensor):
        if value.source.trace is not current():
            raise ProgramError(f"{value!r} belongs to another program", user_line())
        return value
    if isinstance(value, Expression):
        return index(value)
    if isinstance(value, (bool, int, float, np.ndarray, np.generic, list, tuple)):
        return literal(value)
    raise ProgramError(f"expected a tensor or a number, found {value!r}", user_line())


def is_literal(x: Tensor, value: float | None = None) -> bool:
    """Tell whether `x` is a scalar constant (equal to `value`, if given)."""
    source = x.source
    if not isinstance(source, Node) or source.operation != "literal" or source.shape or x.dims:
        return False
    return value is None or source.options["value"] == value


def dtype_name(dtype: object, what: str) -> str:
    """Return the dtype that float, int, bool or a dtype's name stands for."""
    if isinstance(dtype, str) and dtype in ("float", "int32", "int64", "bool"):
        return dtype
    for kind, name in ((float, "float"), (int, "int32"), (bool, "bool")):
        if dtype is kind:
            return name
    raise ProgramError(f"{what} {dtype!r}; expected float, int or bool", user_line())


def cast(x: Tensor, dtype: str) -> Tensor:
    """Convert `x` to another dtype."""
    if x.dtype == dtype:
        return x
    if isinstance(x.source, Node) and x.source.operation == "literal" and not x.dims:
        return literal(x.source.options["value"], dtype)
    return _make("cast", (x,), {"dtype": dtype})


@unobserved
def apply(name: str, *arguments: Any, **options: Any) -> Tensor:
    """Apply a row of the operation table, with dtypes unified, range axes aligned, trivial cases
    folded.
    """
    _refuse_comparisons(name, arguments)
    operands = [as_tensor(a) for a in arguments]
    if name in IDENTITIES:
        return _make(name, tuple(operands), options)
    operands = _aligned(_unified(name, operands))
    if name in ("floor_divide", "remainder") and is_literal(operands[1], 0):
        raise ProgramError(f"{quoting.call_text(name, operands)} divides by 0", user_line())
    folded = _folded(name, operands)
    if folded is not None and not is_literal(folded):
        folded = Tensor(folded.source, folded.index, folded.read_line)  # a read, not the array
    return folded if folded is not None else _make(name, tuple(operands), options)


def _refuse_comparisons(name: str, arguments: Sequence[Any]) -> None:
    """Refuse what Python made of a comparison of two names, `t == T`: False whatever t is."""
    row = OPERATIONS.get(name)
    if row is None:
        return
    computing = arguments if row.arity == 2 and row.compares != "equality" else ()
    numbers = arguments[:1] if row.conditional else computing
    booleans = [a for a in numbers if isinstance(a, (bool, np.bool_))]
    if booleans:
        raise ProgramError(
            f"{name} of the Python value {booleans[0]}; to compare a dim, write wb.index(t) == 0",
            user_line(),
        )


def _make(name: str, operands: tuple[Tensor, ...], options: dict[str, Any]) -> Tensor:
    trace = current()
    row = OPERATIONS.get(name)
    if row is None:
        shape, dtype, inline = operands[0].shape, operands[0].dtype, name == STOP_GRADIENT
    else:
        inline = row.result in ("view", "operand")
        try:
            shape = row.shape([x.shape for x in operands], options)
            dtype = row.dtype([x.dtype for x in operands], options)
        except ProgramError as error:
            raise ProgramError(
                f"{quoting.call_text(name, operands)}: {error.message}", user_line()
            ) from None
    dims = trace.ordered({d for x in operands for d in x.dims})
    return record(
        trace,
        operation=name,
        operands=operands,
        dims=dims,
        shape=shape,
        dtype=dtype,
        options=options,
        inline=inline or trace.inline,
        everywhere=trace.everywhere,
    )


STOP_GRADIENT = "stop_gradient"
IDENTITIES = frozenset({STOP_GRADIENT, "copy"})
"""Operations that return their operand: constant to `gradient`, or an array for an output."""


def _unified(name: str, operands: list[Tensor]) -> list[Tensor]:
    """Return arguments of one dtype: Python numbers adapt, mixed dtypes are widened."""
    row = OPERATIONS[name]
    if row.least is None:
        return operands
    first = 1 if row.conditional else 0
    target = promote([row.least, *(x.dtype for x in operands[first:])])
    return operands[:first] + [cast(x, target) for x in operands[first:]]


def _aligned(operands: list[Tensor]) -> list[Tensor]:
    """Make range axes of equal length and position one dimension; other lengths are an error."""
    trace = current()
    by_axis: dict[int, Range] = {}
    result = []
    for x in operands:
        moves: dict[str, Expression] = {}
        for d in x.dims:
            mine = trace.dims[d]
            if mine.axis is None:
                continue
            shared = by_axis.setdefault(mine.axis, mine)
            if shared.name == mine.name:
                continue
            if shared.length != mine.length:
                raise ProgramError(
                    f"range axes {shared.lower}:{shared.upper} and {mine.lower}:{mine.upper} "
                    f"differ in length: {shared.length} against {mine.length}",
                    user_line(),
                )
            moves[mine.name] = variable(shared.name) - shared.lower + mine.lower
        result.append(x.substitute(moves) if moves else x)
    return result


def _folded(name: str, xs: list[Tensor]) -> Tensor | None:
    """Simplify x * 1, x + 0, 0.5 * 2.0 and the like: gradients of plain sums stay readable."""
    if name in ("add", "subtract", "multiply") and all(is_literal(x) for x in xs):
        left, right = (x.source.options["value"] for x in xs)  # type: ignore[union-attr]
        if xs[0].dtype == "float":
            return literal(float(meaning(name, (0, 0), {})(left, right)), "float")
    if name == "multiply":
        for one, other in ((xs[0], xs[1]), (xs[1], xs[0])):
            if is_literal(one, 1):
                return other
            if is_literal(one, -1):
                return apply("negative", other)
    if name in ("add", "subtract") and is_literal(xs[1], 0) and not xs[1].shape:
        return xs[0]
    if name == "add" and is_literal(xs[0], 0):
        return xs[1]
    if name == "divide" and is_literal(xs[1], 1):
        return xs[0]
    if name == "negative":
        source = xs[0].source
        if is_literal(xs[0]):
            return literal(-source.options["value"], xs[0].dtype)  # type: ignore[union-attr]
        if isinstance(source, Node) and source.operation == "negative" and xs[0].is_plain:
            return source.operands[0]
    return None


def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Return the matrix product of inner shapes (vectors and matrices), as NumPy's `@`."""
    m, n = len(x.shape), len(y.shape)
    specs = {(1, 1): "k,k->", (1, 2): "k,kj->j", (2, 1): "ik,k->i", (2, 2): "ik,kj->ij"}
    if (m, n) not in specs:
        raise ProgramError(
            f"{x!r} @ {y!r}: expected vectors or matrices, found shapes "
            f"{shape_text(x.shape)} and {shape_text(y.shape)}",
            user_line(),
        )
    return apply("contract", cast(x, "float"), cast(y, "float"), spec=specs[m, n])
