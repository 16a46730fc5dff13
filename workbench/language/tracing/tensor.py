"""Tensors while tracing: a source (an operation's result or a recurrent array) read at an index.

A `Tensor` never copies: indexing returns another read of the same source. Operations make a `Node`
(nodes.py); its dimensions are those of its operands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Union

import numpy as np

from workbench.errors import ProgramError, SourceLine
from workbench.language.tracing import numpy_habits, quoting
from workbench.language.tracing.operators import Operators
from workbench.language.tracing.trace import Trace, user_line
from workbench.polyhedral.expression import Expression, variable
from workbench.program.bodies import Shape

if TYPE_CHECKING:
    from workbench.language.tracing.recurrent import Recurrent

Index = Union[Expression, "Tensor"]
Bound = tuple[str, Expression, Expression]
Axis = int | Sequence[int] | None
TensorLike = Union["Tensor", Expression, float, int, bool, np.ndarray, Sequence[Any]]

RANGE = "range"
"""The word for the range axes of a tensor, beside its dims."""


@dataclass(eq=False)
class Node:
    """One operation: over its dimensions, apply `operation` to the operands, or reduce the only
    operand.

    A reduction has a `combiner`, the dimensions it runs `over`, and further constraints on them:
    pairs that must be equal, and expressions that must be at least zero.
    """

    trace: Trace
    number: int
    operation: str
    operands: tuple[Tensor, ...]
    dims: tuple[str, ...]
    shape: Shape
    dtype: str
    options: dict[str, Any] = field(default_factory=dict)
    combiner: str | None = None
    over: tuple[Bound, ...] = ()
    equal: tuple[tuple[Expression, Expression], ...] = ()
    at_least: tuple[Expression, ...] = ()
    wider: tuple[Bound, ...] = ()
    """The ranges of those of its dims that it is defined for beyond their own."""
    everywhere: bool = False
    """True if it exists past the end of an episode too: a sum of what derivatives are made of."""
    name: str | None = None
    """The variable that holds it; a named value is a statement of its own."""
    hint: str | None = None
    """The name of a statement without a variable: the function that returned it."""
    kind: str | None = None
    """The kind of computation, where that is more than its operation (the mean, by a quotient)."""
    choices: int | None = None
    """The number of choices, where the value is known to be one of 0 … choices - 1."""
    aliases: list[str] = field(default_factory=list)
    """The user's names for it."""
    scope: tuple[str, ...] = ()
    phase: str = ""
    line: SourceLine | None = None
    inline: bool = False
    past_end: float = math.nan
    """The value, as an output, past the end of an episode."""

    @property
    def points(self) -> tuple[str, ...]:
        """The dims of its instances and reduction points."""
        return (*self.dims, *(name for name, _, _ in self.over))

    @property
    def ranges(self) -> tuple[Bound, ...]:
        """The ranges of its dims."""
        dims, wider = self.trace.dims, {bound[0]: bound for bound in self.wider}
        own = ((d, dims[d].lower, dims[d].upper) for d in self.dims)
        return tuple(wider.get(bound[0], bound) for bound in own)


class Tensor(Operators):
    """A source read at an index: per source dim an expression, or an integer tensor (gather).
    `read_line` is the user's that says so, None for the source as it is.
    """

    __slots__ = ("_dims", "index", "read_line", "source")

    def __init__(
        self,
        source: Node | Recurrent,
        index: tuple[Index, ...] | None = None,
        read_line: SourceLine | None = None,
    ) -> None:
        self.source, self.read_line = source, read_line
        self.index: tuple[Index, ...] = (
            tuple(variable(d) for d in source.dims) if index is None else index
        )
        self._dims: tuple[str, ...] | None = None

    @property
    def dims(self) -> tuple[str, ...]:
        """Dimensions that the value varies over, with range axes and the dims of their bounds."""
        if self._dims is None:
            if self.is_plain:
                self._dims = self.source.dims
            else:
                dims: set[str] = set()
                for e in self.index:
                    dims |= e.variables if isinstance(e, Expression) else set(e.dims)
                self._dims = self.source.trace.ordered(dims)
        return self._dims

    @property
    def is_plain(self) -> bool:
        """Tell whether the source is read at its own loop variables."""
        return all(
            isinstance(e, Expression) and e == variable(d)
            for e, d in zip(self.index, self.source.dims, strict=True)
        )

    @property
    def shape(self) -> Shape:
        """Inner shape."""
        return self.source.shape

    @property
    def dtype(self) -> str:
        """One of "float", "int32", "int64", "bool"."""
        return self.source.dtype

    def substitute(
        self, values: dict[str, Expression], read_line: SourceLine | None = None
    ) -> Tensor:
        """Return the same source read with dimensions replaced, on a line that says so."""
        index = tuple(e.substitute(values) for e in self.index)
        return Tensor(self.source, index, read_line or self.read_line)

    def __repr__(self) -> str:
        """Quote it as the user wrote it where known: numbers, their variable, ranges as ranges."""
        return quoting.tensor_text(self)

    def __getitem__(self, key: Any) -> Tensor:
        from workbench.language.tracing.indexing import read  # the circle tensor <-> indexing

        return read(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        name = quoting.name_text(self)
        raise ProgramError(
            f"{name} is a value, which cannot be assigned to; an array defined in pieces is a "
            f'wb.recurrent("{name}", over=…)',
            user_line(),
        )

    def __delitem__(self, key: Any) -> None:
        self[key] = None

    if not TYPE_CHECKING:  # the type checker is to find what is not there

        def __getattr__(self, name: str) -> NoReturn:
            from workbench.language.tracing.numpy_habits import unknown_attribute

            raise unknown_attribute(self, name)

    def __len__(self) -> int:
        raise ProgramError(
            f"{self!r} has no len(); its inner shape is x.shape, the number of entries of an inner "
            "axis x.shape[0]",
            user_line(),
        )

    def __format__(self, how: str) -> str:
        if how:
            raise self._no_number("float")
        return repr(self)

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise ProgramError(f"round of {self!r}; write wb.floor(x + 0.5)", user_line())

    def __trunc__(self) -> NoReturn:
        raise self._no_number("int")

    def __float__(self) -> float:
        raise self._no_number("float")

    def __int__(self) -> int:
        raise self._no_number("int")

    def __index__(self) -> int:
        raise ProgramError(
            f"{self!r} has no value before the program runs, and is no index of a list or array; "
            "wb.cast(table, float)[..., x] looks x up in a table, wb.cast(x, int) converts a "
            "tensor, wb.value(program, name) shows a value",
            user_line(),
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ProgramError(
            f"{self!r} is no array before the program runs, and no index of one; "
            "wb.cast(table, float)[..., x] looks x up in a table, wb.stack([…]) makes an inner "
            "axis of tensors, wb.value(program, name) shows a value",
            user_line(),
        )

    def _no_number(self, kind: str) -> ProgramError:
        return ProgramError(
            f"{self!r} has no value before the program runs; wb.cast(x, {kind}) converts a tensor, "
            "wb.value(program, name) shows a value",
            user_line(),
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Tensor:
        """Compute `array + tensor` as `tensor + array`; other functions of NumPy are refused."""
        from workbench.language.tracing import nodes

        written = numpy_habits.OPERATORS.get(ufunc.__name__)
        if written is None or method != "__call__" or options:
            called = "" if method == "__call__" else f".{method}"
            raise numpy_habits.refused(ufunc.__name__ + called)
        result: Tensor = written(nodes.as_tensor(inputs[0]), inputs[1])
        return result

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        package = f"np{function.__module__.removeprefix('numpy')}"
        raise numpy_habits.refused(function.__name__, package)

    def __iter__(self) -> Any:
        raise ProgramError("a tensor cannot be iterated; use wb.unstack(x)", user_line())

    def __bool__(self) -> bool:
        raise ProgramError(
            "a tensor has no truth value while tracing; use wb.where, &, |, ~", user_line()
        )

    __hash__ = object.__hash__

    # -- reductions ------------------------------------------------------------------------

    def sum(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Sum over dimensions (`over=t`, `over=(b, t)`), inner axes (`axis=-1`, `axis=(0, 1)`), the
        range of `x[b, t:T]` alone (`over="range"`), or every range and inner axis. With `keepdims`
        the inner axes stay, with one entry each.
        """
        from workbench.language.tracing import reductions

        return reductions.reduce(self, "sum", over, axis, keepdims)

    def mean(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the mean, as `sum`."""
        from workbench.language.tracing import reductions

        return reductions.mean(self, over, axis, keepdims)

    def std(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the standard deviation of the population (divided by the count), as `sum`."""
        from workbench.language.tracing import reductions

        return reductions.std(self, over, axis, keepdims)

    def max(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the maximum, as `sum`; over no elements it is an error."""
        from workbench.language.tracing import reductions

        return reductions.reduce(self, "max", over, axis, keepdims)

    def min(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the minimum, as `max`."""
        from workbench.language.tracing import reductions

        return reductions.reduce(self, "min", over, axis, keepdims)

    def all(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Tell whether a boolean is true everywhere, as `min`."""
        from workbench.language.tracing import reductions

        return reductions.truth(self, "all", "min", over, axis, keepdims)

    def any(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Tell whether a boolean is true anywhere, as `max`."""
        from workbench.language.tracing import reductions

        return reductions.truth(self, "any", "max", over, axis, keepdims)

    def argmax(self, over: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the position of the first maximum over one dimension or one inner axis."""
        from workbench.language.tracing import reductions

        return reductions.reduce(self, "argmax", over, axis, keepdims)
