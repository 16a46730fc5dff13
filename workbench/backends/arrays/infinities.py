"""The origin of infinities in one statement's instance: an infinite operand, or finite ones.

A mask's -inf is such an operand. Infinities are kept by address, for the statement's temporaries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends.arrays.calls import ASSIGN
from workbench.lowering.functions import FUNCTIONS, ArrayFunction, Walk
from workbench.program.operations.table import OPERATIONS

Marks = Callable[[Sequence[Any]], Any]
"""A function from marks of each operand's elements to the result's elements that use a marked
one.
"""


@dataclass(frozen=True)
class Called:
    """A call of a function of the table: its result, its operands, and how marks pass."""

    out: Any
    operands: tuple[Any, ...]
    marks: Marks
    is_given: bool = False
    """True if its result is a constant, or comes with the run."""


InfinityRule = Callable[..., Called]
"""A function from a table's function and its arguments to the call."""


@dataclass
class Infinities:
    """The infinities made of finite operands among the temporaries of the current statement.

    Stored arrays have been checked before: an infinity there is an operand like a constant.
    """

    xp: Any
    made: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The addresses of these infinities."""

    def watching(self, functions: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table of functions, each followed."""
        rules = {name: rule for name, row in FUNCTIONS.items() if (rule := _rule_of(row))}
        table = {**functions, ASSIGN: _set}
        followed = {
            name: partial(self._call, rule, table[name])
            for name, rule in {**rules, ASSIGN: _assign}.items()
            if name in table
        }
        return {**table, **followed}

    def among(self, x: Any) -> Any:
        """Return the elements of `x` that are infinite and made of finite operands."""
        if not self.made.size:
            return self.xp.zeros(x.shape, bool)
        return self.xp.asarray(np.isin(_addresses(x), self.made)) & self.xp.isinf(x)

    def forget(self) -> None:
        """Forget the marks: the statement is done."""
        self.made = np.empty(0, np.int64)

    def _call(self, rule: InfinityRule, function: Any, *arguments: Any, **options: Any) -> None:
        called = rule(function, *arguments, **options)
        out = called.out
        if out.dtype.kind != "f":
            function(*arguments, **options)
            return
        before = [self._before(x, out) for x in called.operands]
        function(*arguments, **options)
        infinite = self.xp.isinf(out)
        if called.is_given:
            infinite = self.xp.zeros(out.shape, bool)
        elif bool(infinite.any()):
            unusual = called.marks([~self.xp.isfinite(x) for x in before])
            tainted = called.marks([self.among(x) for x in called.operands])
            infinite = infinite & (tainted | ~unusual)
        if self.made.size or bool(infinite.any()):
            self._remember(out, infinite)

    def _before(self, x: Any, out: Any) -> Any:
        """Return an operand as it is before the call, which may overwrite it."""
        return x.copy() if self.xp.may_share_memory(x, out) else x

    def _remember(self, out: Any, infinite: Any) -> None:
        places = _addresses(out)
        chosen = np.array(infinite.tolist(), bool).reshape(places.shape)
        self.made = np.union1d(np.setdiff1d(self.made, places), places[chosen])


def _addresses(x: Any) -> npt.NDArray[np.int64]:
    """Return the address of every element."""
    first = x.data.ptr if hasattr(x.data, "ptr") else x.ctypes.data
    addresses = np.array(first, np.int64)
    for length, stride in zip(x.shape, x.strides, strict=True):
        addresses = addresses[..., None] + np.arange(length) * stride
    return addresses


# -- what each function reads and writes -----------------------------------------------------------


def _set(out: Any, value: Any) -> None:
    out[...] = value


def _any(marks: Sequence[Any]) -> Any:
    """Mark each element of the result for which one operand's is marked."""
    result: Any = False
    for more in marks:
        result = more | result
    return result


def _elementwise(function: Any, *operands: Any, out: Any) -> Called:
    return Called(out, operands, _any)


def _each(function: Any, x: Any, out: Any) -> Called:
    return Called(out, (x,), _any)


def _reduce(function: Any, x: Any, axis: Any, out: Any) -> Called:
    return Called(out, (x,), lambda marks: marks[0].any(axis=axis))


def _accumulate(function: Any, x: Any, axis: int, out: Any) -> Called:
    return Called(out, (x,), lambda marks: marks[0].cumsum(axis=axis) > 0)


def _product(function: Any, x: Any, y: Any, out: Any) -> Called:
    def marks(found: Sequence[Any]) -> Any:
        left, right = (m.astype(out.dtype) for m in found)
        return ((left @ (right * 0 + 1)) + ((left * 0 + 1) @ right)) > 0

    return Called(out, (x, y), marks)


def _assign(function: Any, out: Any, x: Any) -> Called:
    """Make the call of an assignment: an array is copied, a number is a constant."""
    is_array = hasattr(x, "dtype")
    return Called(out, (x,) if is_array else (), _any, is_given=not is_array)


def _given(function: Any, name: str, out: Any, at: Any) -> Called:
    return Called(out, (), _any, is_given=True)


def _external(
    function: Any, name: str, method: str, statement: str, at: Any, out: Any, *operands: Any
) -> Called:
    """Make the call of an external object: infinities in its answers are its own."""
    return Called(out, (), lambda marks: out != out)


def _copy(function: Any, x: Any, out: Any) -> Called:
    return Called(out, (x,), _any)


def _copy_where(function: Any, out: Any, x: Any, where: Any) -> Called:
    """Make the call of a masked copy: other elements stay as they were."""
    return Called(out, (x, out), lambda marks: (where & marks[0]) | (~where & marks[1]))


def _take(function: Any, x: Any, index: Any, axis: int, out: Any, mode: str) -> Called:
    return Called(out, (x,), lambda marks: marks[0].take(index, axis, mode=mode))


def _segments(function: Any, out: Any, value: Any, indices: Any, lower: Any) -> Called:
    def marks(found: Sequence[Any]) -> Any:
        total = out.copy()
        function(total, found[0].astype(out.dtype), indices, lower)
        return total > 0

    return Called(out, (value,), marks)


def _inside(function: Any, spec: str, out: Any, mask: Any, *operands: Any) -> Called:
    """Make the call that computes sums again from masked points, where they are not finite."""

    def marks(found: Sequence[Any]) -> Any:
        total: Any = 0.0
        for k, own in enumerate(found):
            share = out.copy()
            share[...] = np.nan
            ones = [(m.astype(out.dtype) * 0 + 1) for m in found]
            function(spec, share, mask, *ones[:k], own.astype(out.dtype), *ones[k + 1 :])
            total = total + share
        return total > 0

    return Called(out, operands, marks)


def _whole(function: Any, *arguments: Any, **options: Any) -> Called:
    """Make the rule in which any element of the result may need all of each operand."""
    *operands, out = arguments
    return Called(out, tuple(operands), lambda marks: _any([mark.any() for mark in marks]))


_BY_NAME: Mapping[str, InfinityRule] = {
    "add.accumulate": _accumulate,
    "given": _given,
    "external": _external,
    "copyto": _copy_where,
    "to_device": _copy,
    "to_host": _copy,
    "sum_inside": _inside,
}
_BY_WALK: Mapping[Walk, InfinityRule] = {
    "reduction": _reduce,
    "product": _product,
    "rows": _take,
    "segments": _segments,
}


def _rule_of(row: ArrayFunction) -> InfinityRule | None:
    """Return a row's rule, or None if its result is finite or is none of its operands'."""
    if row.elementwise:
        return _elementwise
    if row.evaluated:
        return _each if OPERATIONS[row.name].elementwise else _whole
    return _BY_NAME.get(row.name) or _BY_WALK.get(row.cost.walk)
