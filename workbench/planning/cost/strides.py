"""The layout of every name in a loop program: dimensions, strides and dtype over sizes, found by
following views; and how an array module iterates over several operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from workbench.identity import Same
from workbench.lowering.loops.records import (
    NEW,
    REVERSED,
    WHOLE,
    Broadcast,
    Buffer,
    How,
    Index,
    Range,
    Reshape,
    Symbolic,
    Transpose,
)
from workbench.polyhedral.expression import Expression, expression

Stride = tuple[int, Symbolic] | None
"""Elements from one position to the next: a number times sizes, innermost first. None where the
same element is repeated.
"""

UNIT: Stride = (1, ())
NEAR = 16
"""The distance in elements below which neighbours share most of their cache lines."""
ONE = expression(1)


@dataclass(frozen=True)
class Operand:
    """An array as an operation sees it. `moving` are the loop variables that select its place in
    the buffer.
    """

    buffer: Buffer
    dims: Symbolic
    strides: tuple[Stride, ...]
    moving: frozenset[str] = frozenset()

    @cached_property
    def distinct(self) -> Symbolic:
        """The dimensions along which the elements differ."""
        return tuple(n for n, s in zip(self.dims, self.strides, strict=True) if s is not None)

    @property
    def dense(self) -> bool:
        """Tell whether it lies in one piece, in order."""
        return self.strides == strides_of(self.dims)


@lru_cache(maxsize=8192)
def whole(buffer: Buffer) -> Operand:
    """Return a whole buffer as an operand."""
    return Operand(buffer, buffer.shape, strides_of(buffer.shape))


def strides_of(dims: Symbolic) -> tuple[Stride, ...]:
    """Return the strides of an array that lies in one piece."""
    strides: list[Stride] = []
    stride: Stride = UNIT
    for n in reversed(dims):
        strides.append(stride)
        stride = _times(stride, n)
    return tuple(reversed(strides))


def viewed(source: Operand, how: How) -> Operand:
    """Return a view of `source`."""
    return _viewed(Same(source, how))


@lru_cache(maxsize=16384)
def _viewed(of: Same) -> Operand:
    source: Operand = of.objects[0]
    how: How = of.objects[1]
    if isinstance(how, Transpose):
        dims, strides = source.dims, source.strides
        return replace(
            source,
            dims=tuple(dims[a] for a in how.axes),
            strides=tuple(strides[a] for a in how.axes),
        )
    if isinstance(how, Broadcast):
        return _broadcast(source, how.shape)
    if isinstance(how, Reshape):
        return replace(source, dims=how.shape, strides=_reshaped(source, how.shape))
    return _indexed(source, how)


def _indexed(source: Operand, how: Index) -> Operand:
    dims: list[Expression] = []
    strides: list[Stride] = []
    moving = set(source.moving)
    axis = 0
    entries = list(how.entries)
    while entries and entries[-1] == WHOLE:  # at the end they need not be said
        entries.pop()
    for entry in entries:
        if entry == NEW:
            dims.append(ONE)
            strides.append(None)
            continue
        n, stride = source.dims[axis], source.strides[axis]
        axis += 1
        if isinstance(entry, Expression):
            moving |= entry.variables
        elif isinstance(entry, Range):
            moving |= entry.start.variables
            dims.append((entry.stop - entry.start + entry.step - 1) // entry.step)
            strides.append(_times(stride, expression(entry.step)))
        else:
            assert entry in (WHOLE, REVERSED)
            dims.append(n)
            strides.append(_times(stride, expression(-1)) if entry == REVERSED else stride)
    return Operand(
        source.buffer,
        (*dims, *source.dims[axis:]),
        (*strides, *source.strides[axis:]),
        frozenset(moving),
    )


def _broadcast(source: Operand, shape: Symbolic) -> Operand:
    missing = len(shape) - len(source.dims)
    kept = zip(shape[missing:], source.dims, source.strides, strict=True)
    strides = [None if n != m else stride for n, m, stride in kept]
    return replace(source, dims=shape, strides=(*[None] * missing, *strides))


def _reshaped(source: Operand, shape: Symbolic) -> tuple[Stride, ...]:
    """Return the strides after a reshape that copies nothing. Each new axis takes up whole axes,
    from the innermost on; an axis that is split lies in one piece.
    """
    if source.dense:
        return strides_of(shape)
    strides: list[Stride] = []
    left = [(n, s) for n, s in zip(source.dims, source.strides, strict=True) if n != ONE]
    for n in reversed(shape):
        if n == ONE or not left:
            strides.append(UNIT if not left else left[-1][1])
            continue
        total, stride = left.pop()
        while total != n and left:
            total = total * left.pop()[0]
        strides.append(stride)
    return tuple(reversed(strides))


def _times(stride: Stride, n: Expression) -> Stride:
    if stride is None:
        return None
    number, factors = stride
    return (number * n.constant, factors) if not n.terms else (number, (*factors, n))


@dataclass(frozen=True)
class Iteration:
    """An array module's loop over operands: `dims`, of which `inner` are one loop without overhead.
    `spread` says how an operand lies there: "" in one piece, "gaps" with a few elements between,
    "turned" with whole rows between.
    """

    dims: Symbolic
    inner: Symbolic
    spread: str = ""


def iteration(operands: Sequence[Operand], dims: Symbolic) -> Iteration:
    """Return the iteration over `dims` with operands that broadcast to them."""
    strides = [_spread(o, dims) for o in operands]
    axes = [k for k in range(len(dims)) if dims[k] != ONE]
    if not axes:
        return Iteration(dims, ())
    first = len(axes) - 1
    while first and all(_joined(s, axes[first - 1], axes[first], dims) for s in strides):
        first -= 1
    inner = tuple(dims[k] for k in axes[first:])
    apart = [s[axes[-1]] for s in strides]
    far = any(s is not None and (s[1] or abs(s[0]) > NEAR) for s in apart)
    near = any(s not in (None, UNIT) for s in apart)
    return Iteration(dims, inner, "turned" if far else "gaps" if near else "")


def _spread(one: Operand, dims: Symbolic) -> tuple[Stride, ...]:
    missing = len(dims) - len(one.dims)
    kept = zip(dims[missing:], one.dims, one.strides, strict=True)
    return (*[None] * missing, *(None if n != m else stride for n, m, stride in kept))


def _joined(strides: tuple[Stride, ...], outer: int, inner: int, dims: Symbolic) -> bool:
    return strides[outer] == _times(strides[inner], dims[inner])
